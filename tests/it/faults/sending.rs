//! A Telegram that does not take what is sent.

use std::time::Duration;

use chrono::TimeDelta;
use figaro_offline::model::{Gate, ModelReply};
use figaro_offline::telegram::{ApiCall, PlannedFailure, TelegramView};
use serde_json::{Value, json};

use super::{Left, status};
use crate::support::scene::text;
use crate::support::{ANN, BOB, TIMEOUT, World};

/// The attempts to send a message to a chat.
pub fn attempts(world: &World, chat: i64) -> Vec<ApiCall> {
    let to = |call: &&ApiCall| call.args["chat_id"] == chat;
    world.telegram.view(|view| view.calls_of("sendMessage").into_iter().filter(to).cloned().collect())
}

/// Whether each of them succeeded.
pub fn outcomes(world: &World, chat: i64) -> Vec<bool> {
    attempts(world, chat).iter().map(|call| call.ok).collect()
}

async fn is_refused(world: &World) {
    let refused =
        |view: &TelegramView<'_>| view.calls_of("sendMessage").iter().any(|call| !call.ok).then_some(());
    world.see("a refusal", refused).await;
}

/// Meanwhile it counts as waiting, and other chats get their answers.
pub async fn telegram_asks_to_wait() -> Left {
    let world = World::new().await;
    world.telegram.fail("sendMessage", PlannedFailure::RetryAfter(3), 1);
    let bot = world.start_open().await;
    world.script.push(ModelReply::text("Worth the wait."));
    world.say(BOB, BOB, "Now?");
    is_refused(&world).await;
    world.ask("/status").await;
    world.script.push(ModelReply::text("At once."));
    world.ask("And I?").await;
    assert_eq!(world.bot_texts(BOB), Vec::<String>::new(), "it has to wait");
    world.answers(BOB, 1).await;
    let calls = attempts(&world, BOB);
    assert!(calls[1].at - calls[0].at >= TimeDelta::milliseconds(2900), "{calls:?}");
    assert_eq!(outcomes(&world, BOB), [false, true]);
    Left::stopped(&world, BOB, bot).await
}

pub async fn the_connection_of_a_send_breaks() -> Left {
    let world = World::new().await;
    world.telegram.fail("sendMessage", PlannedFailure::DropConnection, 1);
    world.script.push(ModelReply::text("Second time lucky."));
    let bot = world.start_open().await;
    world.told(BOB, BOB, "Try").await;
    let left = Left::stopped(&world, BOB, bot).await;
    assert_eq!(outcomes(&world, BOB), [false, true]);
    left
}

/// Each call of unknown outcome may leave a copy, so there are five repeats in all, however often the bot is killed.
pub async fn the_connections_of_all_sends_of_an_answer_break() -> Left {
    let world = World::new().await;
    world.telegram.fail("sendMessage", PlannedFailure::DropConnection, 6);
    world.script.push(ModelReply::text("Here?"));
    let bot = world.start_open().await;
    world.say(BOB, BOB, "Try");
    let tried = |view: &TelegramView<'_>| (view.calls_of("sendMessage").len() >= 3).then_some(());
    world.see("a second repeat", tried).await;
    // The repeat that follows is counted before it is waited for.
    tokio::time::sleep(Duration::from_millis(300)).await;
    bot.kill();
    let before = attempts(&world, BOB).len();
    let bot = world.start_open().await;
    bot.logged("giving it up").await;
    assert_eq!(attempts(&world, BOB).len(), 6, "{before} of them before the kill");
    world.script.push(ModelReply::text("Here."));
    world.told(BOB, BOB, "Again").await;
    bot.ends_well().await;
    let bot = world.start_open().await;
    world.script.push(ModelReply::text("Still here."));
    world.told(BOB, BOB, "And now").await;
    Left::stopped(&world, BOB, bot).await
}

/// While nothing can be sent, each chat keeps its order.
pub async fn the_connections_of_all_chats_break_for_a_while() -> Left {
    let world = World::new().await;
    let bot = world.start_open().await;
    let people: Vec<i64> = (101..=107).chain([BOB]).collect();
    for person in &people {
        world.person(*person, "Someone", "en");
        for at in 0..4 {
            world.when(&format!("number {at} of {person}."), ModelReply::text(&format!("answer {at}")));
        }
    }
    world.telegram.fail("sendMessage", PlannedFailure::DropConnection, people.len() * 3);
    for at in 0..4 {
        for person in &people {
            world.say(*person, *person, &format!("number {at} of {person}."));
        }
    }
    let failed =
        |view: &TelegramView<'_>| view.calls_of("sendMessage").iter().filter(|call| !call.ok).count();
    let many = people.len() * 2;
    world.see("answers that fail", |view| (failed(view) >= many).then_some(())).await;
    for person in &people {
        let answers = world.answers(*person, 4).await;
        let texts: Vec<&str> = answers.iter().map(text).collect();
        assert_eq!(texts, ["answer 0", "answer 1", "answer 2", "answer 3"]);
    }
    Left::stopped(&world, BOB, bot).await
}

pub async fn the_confirmation_of_a_send_is_lost() -> Left {
    let world = World::new().await;
    world.telegram.fail("sendMessage", PlannedFailure::AppliedButDropped, 1);
    world.script.push(ModelReply::text("Did you get it?"));
    world.script.push(ModelReply::text("Good."));
    let bot = world.start_open().await;
    world.say(BOB, BOB, "Say");
    world.say(BOB, BOB, "Yes");
    let said = |words: &'static str| {
        move |view: &TelegramView<'_>| {
            view.bot_messages(BOB).into_iter().any(|m| text(m) == words).then_some(())
        }
    };
    world.see("the last answer", said("Good.")).await;
    bot.ends_well().await;
    let bot = world.start_open().await;
    world.script.push(ModelReply::text("All."));
    world.say(BOB, BOB, "More?");
    world.see("the last answer", said("All.")).await;
    Left::stopped(&world, BOB, bot).await
}

/// Some of them, one after the other, are over within a second: the pauses begin at a tenth of one.
pub async fn the_server_fails_at_sends() -> Left {
    let world = World::new().await;
    let bot = world.start_open().await;
    let failures = [status(500, "Internal Server Error: restart"), status(503, "Service Unavailable")];
    for (failure, answer) in failures.into_iter().zip(["Back again.", "And again."]) {
        world.telegram.fail("sendMessage", failure, 3);
        world.script.push(ModelReply::text(answer));
        world.told(BOB, BOB, "Anyone?").await;
    }
    Left::stopped(&world, BOB, bot).await
}

pub async fn telegram_refuses_a_part() -> Left {
    let world = World::new().await;
    let bot = world.start_open().await;
    let entities = "Bad Request: can't parse entities: byte offset 3 is wrong";
    world.telegram.fail("sendMessage", status(400, entities), 1);
    world.script.push(ModelReply::text("A **bold** word."));
    let answer = world.told(BOB, BOB, "Format").await;
    assert_eq!((text(&answer), &answer["entities"]), ("A bold word.", &Value::Null));
    world.telegram.fail("sendMessage", status(400, "Bad Request: chat not found"), 1);
    world.script.push(ModelReply::text("Lost."));
    world.say(BOB, BOB, "And this?");
    world.script.push(ModelReply::text("A **bold** end."));
    world.say(BOB, BOB, "The end");
    let end = world.answers(BOB, 2).await[1].clone();
    assert_eq!((text(&end), &end["entities"][0]["type"]), ("A bold end.", &json!("bold")));
    assert_eq!(outcomes(&world, BOB), [false, true, false, true]);
    Left::stopped(&world, BOB, bot).await
}

/// It is not tried again, not even after a restart.
pub async fn the_person_has_blocked_the_bot() -> Left {
    let world = World::new().await;
    let gate = Gate::new();
    world.script.push(ModelReply::text("Too late.").behind(&gate));
    let bot = world.start_open().await;
    world.say(BOB, BOB, "Never mind");
    world.asks(1).await;
    world.telegram.bot_removed(BOB, BOB).unwrap();
    gate.open();
    let called = |view: &TelegramView<'_>| view.calls_of("sendMessage").first().map(|_| ());
    world.telegram.wait_until(TIMEOUT, called).await.expect("a refusal");
    for (said, answer) in [("Hello", "Hello Ann."), ("Bye", "Bye Ann.")] {
        world.script.push(ModelReply::text(answer));
        world.ask(said).await;
        // Time for another try, which must not come.
        tokio::time::sleep(Duration::from_millis(600)).await;
    }
    bot.ends_well().await;
    let bot = world.start_open().await;
    world.script.push(ModelReply::text("Good morning."));
    assert_eq!(text(&world.told(ANN, ANN, "Morning").await), "Good morning.");
    let left = Left::stopped(&world, BOB, bot).await;
    assert_eq!(outcomes(&world, BOB), [false]);
    left
}
