//! Presses that change nothing that is seen: each is answered in words, so that no button seems dead.

use figaro_offline::model::ModelReply;
use serde_json::Value;

use crate::support::scene::{TEAM, number, text};
use crate::support::{ANN, BOB, World};

const SAME: &str = "Nothing has changed.";

/// The message with this number as it is now.
fn now(world: &World, card: &Value) -> Value {
    let (chat, id) = (number(&card["chat"]["id"]), &card["message_id"]);
    world.telegram.messages(chat).into_iter().find(|message| message["message_id"] == *id).unwrap()
}

#[tokio::test]
async fn a_card_that_stays_as_it_is_says_so() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Hello."));
    let _bot = world.start().await;
    for (command, data) in [
        ("/start", "start:back"),
        ("/config", "config:show"),
        ("/timezone", "zone:show"),
        ("/model", "model:show"),
        ("/usage", "usage:days"),
        ("/tasks", "tasks:list:0"),
        ("/notes", "notes:list:0"),
        // There is no such page, so the last one is shown.
        ("/notes", "notes:list:7"),
    ] {
        let card = world.told(ANN, ANN, command).await;
        assert_eq!(world.forged(ANN, &card, data).await, SAME, "{command}");
        assert_eq!(now(&world, &card), card, "{command}");
        // Of a message that Telegram no longer shows the bot nothing is known but its number.
        let mut old = card.clone();
        old.as_object_mut().unwrap().retain(|key, _| ["message_id", "chat"].contains(&key.as_str()));
        old["date"] = 0.into();
        assert_eq!(world.forged(ANN, &old, data).await, "", "{command}");
    }
    world.told(ANN, ANN, "/config language português").await;
    let card = world.told(ANN, ANN, "/config").await;
    assert_eq!(world.forged(ANN, &card, "config:show").await, "Nada mudou.");
}

#[tokio::test]
async fn a_refreshed_status_is_another_or_says_that_it_is_not() {
    let world = World::new().await;
    let _bot = world.start().await;
    let card = world.told(ANN, ANN, "/status").await;
    for _ in 0..6 {
        let before = now(&world, &card);
        let toast = world.press(ANN, &card, "Refresh").await;
        world.caught_up().await;
        let is_same = text(&now(&world, &card)) == text(&before);
        assert!(toast == SAME || toast.is_empty() && !is_same, "{toast}: {before}");
    }
}

#[tokio::test]
async fn what_is_chosen_already_is_chosen_again_and_said_to_be() {
    let world = World::new().await;
    let bot = world.many().spawn();
    bot.ready().await;
    for (command, data) in [
        ("/config", "config:set:language:English"),
        ("/config", "config:set:tone:formal"),
        ("/config", "config:clear:instructions"),
        ("/model", "model:set:gemini:gemini-2.5-flash"),
        ("/model", "model:plain"),
        ("/timezone", "zone:set:Asia/Tokyo"),
    ] {
        let card = world.told(ANN, ANN, command).await;
        let first = world.forged(ANN, &card, data).await;
        let is_new = !["config:clear:instructions", "model:plain"].contains(&data);
        assert_eq!(first == "Saved.", is_new, "{data}: {first}");
        let again = world.forged(ANN, &card, data).await;
        assert_eq!(again, "It is set that way already.", "{data}");
    }
    let card = world.told(ANN, ANN, "/timezone").await;
    assert_eq!(world.forged(ANN, &card, "zone:clear").await, "Saved.");
    assert_eq!(world.forged(ANN, &card, "zone:clear").await, "It is set that way already.");
}

#[tokio::test]
async fn whoever_may_not_talk_is_told_so_by_each_button() {
    let world = World::new().await;
    world.team();
    let _bot = world.start().await;
    let card = world.told(ANN, TEAM, "/config@figaro_bot").await;
    for _ in 0..2 {
        let toast = world.press(BOB, &card, "Tone").await;
        assert_eq!(toast, "I talk only to people whom my owner has let in.");
    }
    assert_eq!(now(&world, &card), card);
}
