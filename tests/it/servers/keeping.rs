//! How owners keep other servers: the file while the bot runs, its mistakes, and `/mcp`.

use std::fs;

use figaro_offline::model::ModelReply;
use serde_json::json;

use super::{helper, server, variable, with};
use crate::support::bot::Recipe;
use crate::support::output::{refused, words};
use crate::support::scene::text;
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, World};

#[tokio::test]
async fn a_change_of_the_file_holds_at_once_and_a_broken_one_changes_nothing() {
    let world = World::new().await;
    let bot = world
        .helped(json!({"box": with("grows", json!({"autoApprove": ["*"]}))}), "{name: \"*\", server: box}")
        .await;
    bot.logged("an MCP server is ready").await;
    let file = world.folder.path().join("mcp.json");
    let before = fs::read_to_string(&file).unwrap();
    fs::write(&file, before.replace("command", "comand")).unwrap();
    let find = |words: &'static str| {
        move |view: &figaro_offline::telegram::TelegramView<'_>| {
            view.bot_messages(ANN).into_iter().find(|m| text(m).contains(words)).cloned()
        }
    };
    let told = world.see("a fault", find("so the earlier MCP servers stay")).await;
    assert!(text(&told).contains("box: unknown key comand: did you mean command?"), "{}", text(&told));
    // The one of before still works, and what it adds to its list is there in the next turn.
    world.calls(ANN, "still there", "box__echo", json!({"text": "here"}));
    assert_eq!(world.result_of("still there").await["result"], "here");
    let offered = async |name: &'static str, is_there: bool| {
        let mut at = 0;
        let asks = async || {
            at += 1;
            let said = format!("what have you {name} {is_there} {at}?");
            world.when(&said, ModelReply::text("This."));
            world.told(ANN, ANN, &said).await;
            let requests = world.asked();
            (requests.last().unwrap().tool_names().contains(&name) == is_there).then_some(())
        };
        eventually(|| format!("{name}: {is_there}"), asks).await;
    };
    offered("box__grown", true).await;
    let two = json!({"box": world.marked("plain"), "second": world.marked("plain")});
    let two = json!({"mcpServers": two}).to_string();
    fs::write(&file, two).unwrap();
    let told = world.see("a change", find("Other MCP servers from now on")).await;
    assert!(text(&told).contains("box, second"), "{}", text(&told));
    offered("box__count", true).await;
    fs::remove_file(&file).unwrap();
    offered("box__count", false).await;
    world.no_server_is_left().await;
    bot.ends_well().await;
}

#[tokio::test]
async fn an_owner_sees_a_server_and_starts_it_anew() {
    let world = World::new().await;
    let servers = json!({"box": server("plain"), "off": with("plain", json!({"disabled": true}))});
    let bot = world.helped(servers, "{name: echo, server: box}, {name: nothing, server: box}").await;
    bot.logged("an MCP server is ready").await;
    assert!(text(&world.told(BOB, BOB, "/mcp").await).contains("owner"));
    let card = world.told(ANN, ANN, "/mcp").await;
    assert!(text(&card).contains("✓ box: ready, tools: 13\n○ off: disabled"), "{}", text(&card));
    world.press(ANN, &card, "box").await;
    let id = card["message_id"].as_i64().unwrap();
    let one = world.shows(ANN, id, "stdio: python3").await;
    insta::assert_snapshot!(text(&one));
    assert_eq!(world.press(ANN, &one, "Restart").await, "It is being restarted.");
    bot.logged("an MCP server is started anew").await;
    let now = || world.telegram.messages(ANN).into_iter().find(|m| m["message_id"] == id).unwrap();
    let restarted = async || {
        world.press(ANN, &one, "Refresh").await;
        let now = now();
        (text(&now).contains("Restarts: 1") && text(&now).contains("ready")).then_some(())
    };
    eventually(|| format!("not restarted: {}", now()), restarted).await;
}

#[tokio::test]
async fn mistakes_are_told_before_the_start() {
    let world = World::new().await;
    let file = world.folder.path().join("mcp.json");
    fs::write(&file, "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"env\": {\"A\": \"${NO_SUCH}\"}}}}")
        .unwrap();
    let unset = "mcp.json:1:52: a: env.A: ${NO_SUCH} is not set: set NO_SUCH in the environment or in .env, and start the bot again";
    assert_eq!(refused(&world, &world.bot()).await.trim(), unset);
    let check = |arguments: &[&str]| {
        let recipe = Recipe::new(world.folder.path()).arg("mcp").arg("check");
        let output = arguments.iter().fold(recipe, |recipe, arg| recipe.arg(arg)).output();
        (output.status.code(), words(&output))
    };
    assert_eq!(check(&[]), (Some(2), (String::new(), format!("figaro: {unset}\n"))));
    fs::remove_file(&file).unwrap();
    let none = "✓ there is no mcp.json: no other MCP server is used\n";
    assert_eq!(check(&[]), (Some(0), (none.to_owned(), String::new())));
    let missing = world.bot().set("MCP_CONFIG", "servers.json");
    assert_eq!(
        refused(&world, &missing).await.trim(),
        "MCP_CONFIG names servers.json, and there is no such file"
    );
    // An agent names a server that there is not.
    world.agent("helper.yaml", &helper("{name: echo, server: bok}"));
    let told = refused(&world, &world.bot()).await;
    assert_eq!(
        told.trim(),
        "prompts/agents/helper.yaml:7:32: tools: there is no server `bok`: mcp.json describes none"
    );
    world.servers(json!({"box": server("plain"), "web": {"url": "http://127.0.0.1:1/mcp"}}));
    let told = refused(&world, &world.bot()).await;
    assert!(told.contains("tools: there is no server `bok`: did you mean box?"), "{told}");
    // A rule about one that is not there is told of.
    let rules = "rules: [{name: a, server: [box, wep, telegramm], then: allow}]";
    fs::write(world.folder.path().join("policy.yaml"), rules).unwrap();
    let output = Recipe::new(world.folder.path()).arg("policy").arg("check").output();
    let told = "✓ policy.yaml: 1 rule, before those built in
⚠ a rule names the MCP server wep, which mcp.json does not have: did you mean web?
⚠ a rule names the MCP server telegramm, which mcp.json does not have: did you mean telegram?
";
    assert_eq!(words(&output).0, told);
    // Each server is started where that is asked for.
    assert_eq!(check(&[]).1.0, "✓ box: stdio: python3\n✓ web: http: 127.0.0.1\n");
    let without = Recipe::new(world.folder.path()).arg("mcp").arg("check").set("PATH", "/nowhere").output();
    let missing =
        "✓ box: stdio: python3\n! box: there is no program python3 in the PATH\n✓ web: http: 127.0.0.1\n";
    assert_eq!(words(&without).0, missing);
    let recipe = Recipe::new(world.folder.path()).arg("mcp").arg("check").arg("--start");
    let output = recipe.set("PATH", &variable("PATH")).run().await;
    let (said, errors) = words(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.starts_with("✓ box: stdio: python3, 13 tools\n  echo: Gives back a text.\n"), "{said}");
    assert!(said.contains("✗ web: "), "{said}");
    assert_eq!(errors, "figaro: not every server answers; see the lines marked ✗\n");
}
