//! Tools that act in their own chat: what they do when all is well, and that the calls of one step run beside each other.

use figaro_offline::model::{ModelReply, ReplyPart};
use figaro_offline::telegram::{PlannedFailure, TelegramView};
use serde_json::{Value, json};

use crate::support::calls::find_and_call;
use crate::support::scene::text;
use crate::support::{ANN, World};

fn call(name: &str, arguments: Value) -> ReplyPart {
    ReplyPart::Call { name: name.to_owned(), arguments }
}

/// Has the model find a tool and call it in a turn of its own, and gives the result.
async fn result_of(world: &World, name: &str, arguments: Value) -> Value {
    let said = format!("{name}, step {}", world.asked().len());
    find_and_call(world, (ANN, ANN), &said, (name, arguments)).await
}

#[tokio::test]
async fn notes_are_removed_one_by_one_and_list_by_list() {
    let world = World::new().await;
    let bot = world.start().await;
    let mut ids = Vec::new();
    for (key, content) in [("shop", "salt"), ("shop", "bread"), ("films", "Alien"), ("trip", "tent")] {
        let added = result_of(&world, "add_note", json!({"key": key, "content": content})).await;
        ids.push(added["note_id"].as_str().unwrap().to_owned());
    }
    let removed = result_of(&world, "remove_note", json!({"note_id": ids[0]})).await;
    assert_eq!(removed["success"], true, "{removed}");
    assert!(removed.to_string().contains("salt"), "{removed}");
    let again = result_of(&world, "remove_note", json!({"note_id": ids[0]})).await;
    assert_eq!(again["success"], false, "{again}");
    let cleared = result_of(&world, "clear_notes", json!({"key": "Films"})).await;
    assert_eq!((&cleared["success"], &cleared["removed"]), (&json!(true), &json!(1)), "{cleared}");
    let left = result_of(&world, "list_notes", json!({})).await.to_string();
    assert!(left.contains("bread") && left.contains("tent"), "{left}");
    assert!(!left.contains("salt") && !left.contains("Alien"), "{left}");
    let cleared = result_of(&world, "clear_notes", json!({})).await;
    assert_eq!(cleared["removed"], 2, "{cleared}");
    // They are gone for people and over a restart too.
    bot.ends_well().await;
    let _again = world.start().await;
    let shown = world.ask("/notes").await;
    assert!(!text(&shown).contains("bread") && !text(&shown).contains("tent"), "{shown}");
}

#[tokio::test]
async fn settings_are_shown_and_reset() {
    let world = World::new().await;
    let _bot = world.start().await;
    let set = json!({"language": "Portuguese", "timezone": "Europe/Riga", "custom_prompt": "Rhyme."});
    assert_eq!(result_of(&world, "set_config", set).await["success"], true);
    let shown = result_of(&world, "get_config", json!({})).await;
    for words in ["Portuguese", "Europe/Riga", "Rhyme."] {
        assert!(shown.to_string().contains(words), "{shown}");
    }
    let reset = result_of(&world, "reset_config", json!({})).await;
    assert_eq!(reset["success"], true, "{reset}");
    let shown = result_of(&world, "get_config", json!({})).await;
    for words in ["Portuguese", "Europe/Riga", "Rhyme."] {
        assert!(!shown.to_string().contains(words), "{shown}");
    }
    let card = world.ask("/config").await;
    assert!(!text(&card).contains("Riga"), "{card}");
}

/// The first call never comes back; the second one acts all the same.
#[tokio::test]
async fn calls_of_one_step_run_beside_each_other() {
    let world = World::new().await;
    let bot = world.start().await;
    world.telegram.fail("sendPoll", PlannedFailure::Hang, 1);
    let options = json!([{"text": "Tea"}, {"text": "Coffee"}]);
    let slow = call("sendPoll", json!({"question": "What?", "options": options}));
    let quick = call("add_note", json!({"key": "drinks", "content": "tea"}));
    world.script.push(ModelReply::turn(vec![
        slow,
        quick,
        call("sendMessage", json!({"text": "Meanwhile."})),
    ]));
    world.say(ANN, ANN, "Ask them, and say something");
    let has_said = |view: &TelegramView<'_>| {
        view.bot_messages(ANN).iter().any(|m| m["text"] == "Meanwhile.").then_some(())
    };
    world.see("the message of the third call", has_said).await;
    let polls = world.telegram.view(|view| view.calls_of("sendPoll").iter().filter(|call| call.ok).count());
    assert_eq!(polls, 0, "the first call has not ended");
    bot.kill();
}
