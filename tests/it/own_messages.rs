//! What Figaro says and what the model says: the model changes and deletes messages of its own, never a card, a notice or
//! an answer to a command, whoever asks for it and by whatever method.

use std::time::Duration;

use figaro_offline::model::{ModelReply, ReplyPart};
use serde_json::{Value, json};

use super::task_tools::{LEAP, recurring, scene};
use crate::support::calls::{calls, error, find_and_call, results, says};
use crate::support::scene::{TEAM, labels, text};
use crate::support::{ANN, BOB, World};

const REFUSED: &str = "not one that you sent";

/// In a turn of Bob's the model finds a method and calls it on a message; gives what the tool told it.
async fn tries(world: &World, method: &str, arguments: Value) -> Value {
    let said = format!("please try {method} number {}", world.model.requests().len());
    find_and_call(world, (BOB, TEAM), &said, (method, arguments)).await
}

/// Every call that could change or delete this message, with arguments that fit.
fn changes(id: &Value) -> Vec<(&'static str, Value)> {
    let media = json!({"type": "photo", "media": "AgACphoto"});
    vec![
        ("editMessageText", json!({"message_id": id, "text": "Cancelled."})),
        ("editMessageCaption", json!({"message_id": id, "caption": "Cancelled."})),
        ("editMessageMedia", json!({"message_id": id, "media": media})),
        ("editMessageReplyMarkup", json!({"message_id": id})),
        ("editMessageLiveLocation", json!({"message_id": id, "latitude": 1.0, "longitude": 2.0})),
        ("stopMessageLiveLocation", json!({"message_id": id})),
        ("stopPoll", json!({"message_id": id})),
        ("deleteMessage", json!({"message_id": id})),
        ("deleteMessages", json!({"message_ids": [id]})),
    ]
}

#[tokio::test]
async fn a_card_of_the_owner_is_neither_rewritten_nor_deleted_in_a_members_turn() {
    let (world, bot) = scene().await;
    calls(&world, (ANN, TEAM), "news daily", vec![("schedule_task", recurring("News.", LEAP))]).await;
    let card = says(&world, TEAM, "⏰ News.").await;
    for (method, arguments) in changes(&card["message_id"]) {
        let told = tries(&world, method, arguments).await;
        assert!(error(&told).contains(REFUSED), "{method}: {told}\n{}", bot.log());
        assert_eq!(world.telegram.view(|view| view.calls_of(method).len()), 0, "{method}");
    }
    // One of its own among them makes it no better.
    let poll = json!({"question": "Where?", "options": [{"text": "a"}, {"text": "b"}]});
    let sent = calls(&world, (BOB, TEAM), "a poll", vec![("sendPoll", poll)]).await.remove(0);
    let both = json!({"message_ids": [sent["result"]["message_id"], card["message_id"]]});
    let told = tries(&world, "deleteMessages", both).await;
    assert!(error(&told).contains(REFUSED), "{told}");
    let now = says(&world, TEAM, "⏰ News.").await;
    assert_eq!((text(&now), labels(&now)), (text(&card), labels(&card)));
}

#[tokio::test]
async fn whatever_figaro_says_by_itself_is_not_the_models_to_change() {
    let (world, bot) = scene().await;
    let config = world.told(ANN, TEAM, "/config@figaro_bot").await;
    let unknown = world.told(ANN, TEAM, "/timezone@figaro_bot Atlantis").await;
    calls(&world, (ANN, TEAM), "a bell", vec![("schedule_task", recurring("Ring.", LEAP))]).await;
    let zone = says(&world, TEAM, "Which time zone are you in?").await;
    // A failure is told in words of Figaro's own.
    world.when("fail here", ModelReply::status(400, "no"));
    let apology = world.told(BOB, BOB, "fail here").await;
    let change = |id: &Value| {
        vec![
            ("editMessageText", json!({"message_id": id, "text": "All is well."})),
            ("deleteMessage", json!({"message_id": id})),
        ]
    };
    for (chat, message) in [(TEAM, &config), (TEAM, &unknown), (TEAM, &zone), (BOB, &apology)] {
        let said = format!("rewrite {}", message["message_id"]);
        for told in calls(&world, (BOB, chat), &said, change(&message["message_id"])).await {
            assert!(error(&told).contains(REFUSED), "{message}: {told}\n{}", bot.log());
        }
    }
    // After a restart it is still known whose they are.
    bot.ends_well().await;
    let _bot = super::task_tools::start(&world, &[]).await;
    for told in calls(&world, (BOB, TEAM), "once more", change(&config["message_id"])).await {
        assert!(error(&told).contains(REFUSED), "{told}");
    }
    assert_eq!(world.telegram.view(|view| view.calls_of("deleteMessage").len()), 0);
}

#[tokio::test]
async fn what_the_model_said_it_may_change() {
    let (world, bot) = scene().await;
    let call = |name: &str, arguments: Value| ReplyPart::Call { name: name.to_owned(), arguments };
    // An answer that grew in the group; one with Figaro's buttons; one in a private chat; what a tool sent.
    let words = "word after word ".repeat(40);
    world.when("grow", ModelReply::text(&words).paced(8, Duration::from_millis(60)));
    world.say(BOB, TEAM, "@figaro_bot grow");
    world
        .see("the answer grown to its end", |view| {
            view.bot_messages(TEAM).iter().any(|m| text(m).trim() == words.trim()).then_some(())
        })
        .await;
    world.caught_up().await;
    assert!(world.telegram.view(|view| view.calls_of("editMessageText").len()) > 0, "it grew");
    let grown = says(&world, TEAM, "word after word").await;
    world.when("break off", ModelReply::text("So far").cut_by_length());
    let broken = world.told(BOB, TEAM, "@figaro_bot break off").await;
    assert_eq!(labels(&broken), ["Go on"]);
    world.when("in private", ModelReply::text("Just us."));
    let private = world.told(BOB, BOB, "in private").await;
    world.when("by tool", ModelReply::call("sendMessage", json!({"text": "Sent."})));
    world.when("by tool", ModelReply::text("Not sent besides."));
    let sent = world.told(BOB, TEAM, "@figaro_bot by tool").await;
    assert_eq!(text(&sent), "Sent.");
    for (chat, id) in [
        (TEAM, grown["message_id"].clone()),
        (TEAM, broken["message_id"].clone()),
        (BOB, private["message_id"].clone()),
        (TEAM, sent["message_id"].clone()),
    ] {
        let said = format!("better {id}");
        world.when(
            &said,
            ModelReply::turn(vec![call("editMessageText", json!({"message_id": id, "text": said}))]),
        );
        world.when(&said, ModelReply::turn(vec![call("deleteMessage", json!({"message_id": id}))]));
        world.when(&said, ModelReply::text(&format!("Dealt with {said}.")));
        world.say(BOB, chat, &format!("@figaro_bot {said}"));
        let end = format!("Dealt with {said}.");
        for told in results(&world, &said, 2, (chat, &end)).await {
            assert_eq!(told["success"], true, "{id}: {told}\n{}", bot.log());
        }
    }
}
