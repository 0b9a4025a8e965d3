//! Updates that cannot be read: none costs another, none is asked for for ever, and all are told of in the log.

use chrono::TimeDelta;
use figaro_base::clock::Clock;
use figaro_offline::model::ModelReply;
use figaro_offline::telegram::TelegramView;
use serde_json::json;

use super::Left;
use crate::support::{BOB, Bot, World};

/// A word of their content, which no log may tell.
const CONTENT: &str = "swordfish";
/// How long one is kept.
const KEPT: TimeDelta = TimeDelta::days(7);

/// An update with a message of Bob's whose text is this JSON.
fn message(id: i64, text: &str) -> String {
    format!(
        r#"{{"update_id":{id},"message":{{"message_id":{id},"date":0,"chat":{{"id":{BOB},"type":"private"}},
           "from":{{"id":{BOB},"is_bot":false,"first_name":"Bob"}},"text":{text},"caption":"{CONTENT}"}}}}"#
    )
}

/// Texts of messages that make an update unreadable, each with what the log says of it.
fn unreadable() -> [(&'static str, String); 6] {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    [
        ("nested_too_deep", nested(200)),
        ("nested_too_deep", nested(100_000)),
        ("no_json", r#""\ud800""#.to_owned()),
        ("no_json", "1e999".to_owned()),
        ("no_json", "NaN".to_owned()),
        ("too_long", format!("\"{}\"", "x".repeat(30_000_000))),
    ]
}

async fn all_taken_in(world: &World) {
    let taken = |view: &TelegramView<'_>| (view.updates_pending() == 0).then_some(());
    world.see("that all updates are acknowledged", taken).await;
}

/// Between others in one answer of Telegram's, alone while the bot runs, and too old after a restart.
pub async fn updates_cannot_be_read() -> Left {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Yes?"));
    let mut told = Vec::new();
    for (reason, broken) in unreadable() {
        world.say(BOB, BOB, "before");
        told.push((world.telegram.push_text(|id| message(id, &broken)), reason));
        world.say(BOB, BOB, "after");
    }
    let bot = world.start_open().await;
    let between = told.len() * 2;
    world.answers(BOB, between).await;
    for (reason, broken) in unreadable().into_iter().take(4) {
        told.push((world.telegram.push_text(|id| message(id, &broken)), reason));
        all_taken_in(&world).await;
    }
    world.told(BOB, BOB, "the last").await;
    are_logged(&bot, &told);
    bot.ends_well().await;
    outdate_one(&world);

    let bot = world.start_open().await;
    // What is too old is forgotten once the first updates are taken in.
    world.told(BOB, BOB, "again").await;
    world.ask("/status").await;
    let mut left = Left::stopped(&world, BOB, bot).await;
    assert_eq!(left.person.len(), between + 2, "nothing is answered twice");
    assert!(!left.log.contains(CONTENT) && !left.log.contains("set aside"), "{}", left.log);
    left.person.dedup();
    left
}

/// Each has one line of the log, an error.
fn are_logged(bot: &Bot, told: &[(i64, &str)]) {
    let log = bot.log();
    for (id, reason) in told {
        let of = format!("update={id}");
        let lines: Vec<&str> =
            log.lines().filter(|line| line.contains(&of) && line.contains("ERROR")).collect();
        assert!(matches!(lines[..], [line] if line.contains(reason)), "{lines:?}");
    }
}

/// Of what is kept, one came an hour too long ago and all others an hour less than that.
fn outdate_one(world: &World) {
    let hour = TimeDelta::hours(1);
    let mut ages = std::iter::once(KEPT + hour).chain(std::iter::repeat(KEPT - hour));
    world.records().change("unreadable_updates", |value| {
        value["arrived_at"] = json!(Clock::system().now() - ages.next().unwrap());
    });
}

pub async fn updates_have_no_id() -> Left {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Yes?"));
    let nameless = ["42", "null", "[]", r#"{"message":{"text":"swordfish"}}"#, r#"{"update_id":1e999}"#];
    // The first thing of all: nothing is known of its id, and the next update shows it.
    world.telegram.push_text(|_| "42".to_owned());
    let bot = world.start_open().await;
    bot.logged("without an id").await;
    world.told(BOB, BOB, "one").await;
    all_taken_in(&world).await;
    for item in nameless {
        world.telegram.push_text(|_| item.to_owned());
        all_taken_in(&world).await;
    }
    for item in nameless {
        world.telegram.push_text(|_| item.to_owned());
    }
    world.told(BOB, BOB, "two").await;
    all_taken_in(&world).await;
    assert!(!bot.log().contains(CONTENT), "{}", bot.log());
    Left::stopped(&world, BOB, bot).await
}
