//! What opens a tool of another server: the owner's file and rules, and never the word of the server.

use std::fs;

use figaro_offline::model::Reply;
use figaro_offline::telegram::Standing;
use serde_json::json;

use super::{server, with};
use crate::parking::call;
use crate::support::scene::{TEAM, labels};
use crate::support::{ANN, BOB, World};

#[tokio::test]
async fn owners_open_tools_by_the_file_and_by_rules_and_a_servers_word_opens_none() {
    let world = World::new().await;
    fs::write(
        world.folder.path().join("policy.yaml"),
        "rules:\n  - {name: counting, server: \"b*\", method: count, role: owner, then: allow}\n  - {name: facts, server: box, method: facts, then: deny, reason: they are dull}\n",
    )
    .unwrap();
    let servers = json!({"box": with("plain", json!({"autoApprove": ["*"], "disabledTools": ["long"]}))});
    let bot = world.helped(servers, "{name: \"*\", server: box}").await;
    bot.logged("an MCP server is ready").await;
    let made = [("a", "box__echo", json!({"text": "x"}), "x"), ("b", "box__count", json!({}), "called 1")];
    for (said, name, arguments, wanted) in made {
        let said = format!("say {said}");
        world.calls(ANN, &said, name, arguments).await;
        assert_eq!(world.result_of(&said).await["result"], wanted);
    }
    world.calls(ANN, "the facts", "box__facts", json!({})).await;
    assert_eq!(world.result_of("the facts").await["error"], "not allowed: they are dull.");
    // The star leaves out what the server itself calls destructive.
    world.calls(ANN, "wipe it", "box__wipe", json!({})).await;
    let card = world.asks_to_approve(ANN).await;
    assert_eq!(labels(&card), ["✓ Once", "✗ Deny"], "what destroys is approved one by one");
    world.press(ANN, &card, "✗ Deny").await;
    // And what it says nothing of.
    world.calls(BOB, "Bob counts", "box__count", json!({})).await;
    assert_eq!(labels(&world.asks_to_approve(BOB).await), ["✓ Once", "✗ Deny"]);
    assert!(world.result_of("wipe it").await["error"].as_str().unwrap().contains("denied"));
    // All tools are offered where none can be found, but for the one that the file takes away.
    let request = world.asks(1).await;
    let of_box = request.tool_names().into_iter().filter(|name| name.starts_with("box__")).count();
    assert_eq!((of_box, request.tool_names().contains(&"box__long")), (12, false));
    drop(bot);

    // Reading is the server's word, and opens nothing.
    let world = World::new().await;
    let bot = world.helped(json!({"box": server("plain")}), "{name: echo, server: box}").await;
    bot.logged("an MCP server is ready").await;
    world.calls(ANN, "echo", "box__echo", json!({"text": "x"})).await;
    let card = world.asks_to_approve(ANN).await;
    assert_eq!(labels(&card), ["✓ Once", "✓ Such calls for 1 h", "✗ Deny"]);
}

#[tokio::test]
async fn nobody_is_an_admin_of_a_servers_tools_by_their_own_private_chat() {
    let world = World::new().await;
    let rules = "rules:\n  - {name: admins, server: box, role: admin, then: allow}\n";
    fs::write(world.folder.path().join("policy.yaml"), rules).unwrap();
    world.team();
    world.telegram.set_member(TEAM, BOB, Standing::Admin).unwrap();
    let bot = world.helped(json!({"box": server("plain")}), "{name: count, server: box}").await;
    bot.logged("an MCP server is ready").await;
    world.calls(BOB, "count for me", "box__count", json!({})).await;
    let card = world.asks_to_approve(BOB).await;
    world.press(BOB, &card, "✗ Deny").await;
    assert!(world.result_of("count for me").await["error"].as_str().unwrap().contains("denied"));
    // In a group he does administer.
    let said = "count for us";
    world.when(said, Reply::turn(vec![call("box__count", json!({}))]));
    world.when(said, Reply::text("Counted."));
    world.say(BOB, TEAM, &format!("@figaro_bot {said}"));
    assert_eq!(world.result_of(said).await["result"], "called 1");
}
