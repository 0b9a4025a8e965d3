//! A call of another server's tool takes an owner's approval, which counts once, at the server that was asked about.

use std::fs;

use figaro_offline::model::{Gate, ModelReply, ModelRequest};
use serde_json::json;

use super::{server, with};
use crate::support::output::words;
use crate::support::scene::{number, text};
use crate::support::{ANN, BOB, TIMEOUT, World};

const READY: &str = "an MCP server is ready";

#[tokio::test]
async fn an_owner_approves_each_call_and_it_is_made_once_as_it_was_shown() {
    let world = World::new().await;
    let bot = world
        .helped(json!({"box": server("plain")}), "{name: echo, server: box}, {name: count, server: box}")
        .await;
    bot.logged(READY).await;
    world.calls(BOB, "echo this", "box__echo", json!({"text": "hello"}));
    let card = world.asks_to_approve(BOB).await;
    for words in ["Use the tool echo of box: hello", "An owner of this bot has to approve it"] {
        assert!(text(&card).contains(words), "{words} in {}", text(&card));
    }
    world.press(BOB, &card, "Details").await;
    let whole = world.shows(BOB, number(&card["message_id"]), "box__echo").await;
    assert!(text(&whole).contains("\"text\": \"hello\""), "{whole}");
    assert_eq!(world.press(BOB, &card, "✓ Once").await, "Only an owner of the bot can approve it.");
    // An owner sees it by /approve and presses there.
    let list = world.told(ANN, ANN, "/approve").await;
    world.press(ANN, &list, "Bob").await;
    let open = world.asks_to_approve(ANN).await;
    world.press(ANN, &open, "✓ Once").await;
    let result = world.result_of("echo this").await;
    assert_eq!((&result["result"], &result["server"]), (&json!("hello"), &json!("box")));
    assert!(result["about"].as_str().unwrap().contains("never instructions"), "{result}");
    let result = world.approved("count it", "box__count", json!({})).await;
    assert_eq!(result["result"], "called 1");
    // What the server needs is looked at before anybody is asked.
    world.calls(ANN, "echo nothing", "box__echo", json!({}));
    let result = world.result_of("echo nothing").await;
    assert_eq!(result["error"], "the arguments do not fit: text is missing");
    // The request told of each tool whose words these are, and offered no other tool of the server.
    let request = world.asks(1).await;
    let mut names = request.tool_names();
    names.retain(|name| name.starts_with("box__"));
    assert_eq!(names, ["box__count", "box__echo"]);
    bot.ends_well().await;
    let log = world.bot().arg("audit").arg("--json").run().await;
    let log = words(&log).0;
    for what in ["call_asked", "approval_given", "approval_used"] {
        let about = |line: &&str| {
            line.contains(what) && line.contains("box__echo") && line.contains("default/mcp_server")
        };
        assert_eq!(log.lines().filter(about).count(), 1, "{what}: {log}");
    }
}

#[tokio::test]
async fn what_was_approved_is_called_at_the_server_that_was_asked_about_and_at_no_other_of_its_name() {
    for is_changed in ["its arguments", "its variables"] {
        let world = World::new().await;
        let bot = world.helped(json!({"box": server("plain")}), "{name: echo, server: box}").await;
        bot.logged(READY).await;
        let hello = json!({"text": "hello"});
        // One is approved for an hour, another still waits.
        world.calls(ANN, "the first", "box__echo", hello.clone());
        let card = world.asks_to_approve(ANN).await;
        world.press(ANN, &card, "✓ For 1 h").await;
        assert_eq!(world.result_of("the first").await["result"], "hello");
        world.calls(BOB, "of Bob", "box__echo", hello.clone());
        world.asks_to_approve(BOB).await;
        let changed = match is_changed {
            "its arguments" => world.marked("plain"),
            _ => with("plain", json!({"env": {"DATABASE": "another"}})),
        };
        world.servers(json!({"box": changed}));
        world
            .see("a change", |view| {
                let all = view.bot_messages(ANN);
                all.into_iter().any(|m| text(m).contains("Other MCP servers from now on")).then_some(())
            })
            .await;
        bot.logged_times(READY, 2).await;
        // The hour was for the server of before.
        world.calls(ANN, "the second", "box__echo", hello);
        let card = world.asks_to_approve(ANN).await;
        world.press(ANN, &card, "✗ Deny").await;
        world.ends_for_ann("the second").await;
        let list = world.told(ANN, ANN, "/approve").await;
        world.press(ANN, &list, "Bob").await;
        let open = world.asks_to_approve(ANN).await;
        world.press(ANN, &open, "✓ Once").await;
        let error = world.result_of("of Bob").await["error"].as_str().unwrap().to_owned();
        assert!(error.contains("or mcp.json describes the server otherwise now"), "{error}");
    }
}

#[tokio::test]
async fn no_approval_is_used_up_while_its_server_is_being_started() {
    let world = World::new().await;
    let gate = world.folder.path().join("closed");
    let servers = json!({"box": with("plain", json!({"env": {"GATE": gate}}))});
    let bot = world.helped(servers, "{name: echo, server: box}").await;
    bot.logged(READY).await;
    world.calls(ANN, "the first", "box__echo", json!({"text": "one"}));
    let card = world.asks_to_approve(ANN).await;
    fs::write(&gate, "").unwrap();
    bot.ends_well().await;
    let bot = world.helped_as_before().await;
    let told = world.press(ANN, &card, "✓ Once").await;
    assert!(told.starts_with("The tool server is not ready yet"), "{told}");
    fs::remove_file(&gate).unwrap();
    // The log is that of both.
    bot.logged_times(READY, 2).await;
    world.press(ANN, &card, "✓ Once").await;
    assert_eq!(world.result_of("the first").await["result"], "one");
    world.ends_for_ann("the first").await;

    // What was approved and not called when the bot ended waits for the server, too.
    world.calls(ANN, "the second", "box__echo", json!({"text": "two"}));
    let card = world.asks_to_approve(ANN).await;
    let held = Gate::new();
    world.when("hold on", ModelReply::text("Held.").behind(&held));
    world.when("hold on", ModelReply::text("Held."));
    world.say(ANN, ANN, "hold on");
    let is_asked = |requests: &[ModelRequest]| {
        requests.iter().any(|request| request.user_text().contains("hold on")).then_some(())
    };
    world.model.wait_until(TIMEOUT, is_asked).await.unwrap();
    world.press(ANN, &card, "✓ Once").await;
    fs::write(&gate, "").unwrap();
    bot.kill();
    let bot = world.helped_as_before().await;
    let held = world.see("the turn before it", |view| {
        view.bot_messages(ANN).into_iter().any(|m| text(m) == "Held.").then_some(())
    });
    held.await;
    assert_eq!(bot.log().matches(READY).count(), 2);
    fs::remove_file(&gate).unwrap();
    assert_eq!(world.result_of("the second").await["result"], "two");
}
