//! A Telegram that does not give updates as it should.

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{PlannedFailure, TelegramView};
use serde_json::{Value, json};

use super::{Left, status};
use crate::support::{BOB, Bot, World};

/// Bob's question is answered by a bot for which Telegram fails so, from its start on.
async fn answered(failures: &[(&str, PlannedFailure, usize)]) -> (World, Bot) {
    let world = World::new().await;
    for (method, failure, times) in failures {
        world.telegram.fail(method, failure.clone(), *times);
    }
    world.script.push(ModelReply::text("Back again."));
    let bot = world.start_open().await;
    world.told(BOB, BOB, "Anyone?").await;
    (world, bot)
}

pub async fn the_server_fails_at_the_start() -> Left {
    let (world, bot) = answered(&[("getMe", status(502, "Bad Gateway"), 2)]).await;
    Left::stopped(&world, BOB, bot).await
}

/// Some failures, one after the other, are over within seconds: the pauses begin at a tenth of one.
pub async fn the_server_fails_at_fetching() -> Left {
    let (world, bot) = answered(&[("getUpdates", status(500, "Internal Server Error"), 5)]).await;
    Left::stopped(&world, BOB, bot).await
}

pub async fn a_web_page_stands_in_for_updates() -> Left {
    let (world, bot) = answered(&[("getUpdates", PlannedFailure::Answer("<html>".to_owned()), 5)]).await;
    Left::stopped(&world, BOB, bot).await
}

pub async fn fetching_fails_in_every_way() -> Left {
    let conflict =
        "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
    let failures = [
        status(409, conflict),
        PlannedFailure::RetryAfter(1),
        status(401, "Unauthorized"),
        PlannedFailure::DropConnection,
        PlannedFailure::AppliedButDropped,
    ];
    let (world, bot) = answered(&failures.map(|failure| ("getUpdates", failure, 1))).await;
    // Its first copy came with a list that was lost.
    world.script.push(ModelReply::text("Two."));
    world.told(BOB, BOB, "Second").await;
    assert_eq!(world.model.requests().len(), 2);
    Left::stopped(&world, BOB, bot).await
}

pub async fn answers_are_no_lists_of_updates() -> Left {
    let answers = [
        r#"{"ok":true,"result":{"update_id":1}}"#,
        r#"{"ok":true,"result":7}"#,
        r#"{"ok":true,"result":[{"update_id":1}"#,
        "<html>captive portal</html>",
    ];
    let failures = answers.map(|answer| ("getUpdates", PlannedFailure::Answer(answer.to_owned()), 1));
    let (world, bot) = answered(&failures).await;
    assert_eq!(bot.log().matches("updates could not be fetched").count(), answers.len(), "{}", bot.log());
    Left::stopped(&world, BOB, bot).await
}

/// The update of a message as Telegram would repeat it.
fn copy_of(world: &World, message_id: i64, update_id: i64) -> Value {
    let message = world.telegram.messages(BOB).into_iter().find(|m| m["message_id"] == message_id).unwrap();
    json!({"update_id": update_id, "message": message})
}

/// Before the start, while the bot runs, and after a restart.
pub async fn an_update_comes_again() -> Left {
    let world = World::new().await;
    for answer in ["One.", "Two.", "Three."] {
        world.script.push(ModelReply::text(answer));
    }
    let first = world.say(BOB, BOB, "First");
    let copy = copy_of(&world, first.message_id, first.update_id.unwrap());
    world.telegram.push_raw(copy.clone());
    let bot = world.start_open().await;
    world.answers(BOB, 1).await;
    world.telegram.push_raw(copy.clone());
    world.told(BOB, BOB, "Second").await;
    bot.ends_well().await;
    let bot = world.start_open().await;
    world.telegram.push_raw(copy);
    world.told(BOB, BOB, "Third").await;
    let taken = |view: &TelegramView<'_>| (view.updates_pending() == 0).then_some(());
    world.see("that all is taken in", taken).await;
    assert_eq!(world.model.requests().len(), 3);
    Left::stopped(&world, BOB, bot).await
}
