//! Updates that cannot be read: none costs another, none is asked for for ever, and all are told of in the log.

use chrono::TimeDelta;
use figaro::clock::Clock;
use figaro::demo::model::Reply;
use figaro::demo::telegram::Failure;
use serde_json::{Value, json};

use crate::support::scene::text;
use crate::support::{ANN, BOB, Bot, PATIENCE, World};

/// A word of their content, which no log may tell.
const CONTENT: &str = "swordfish";

/// An update with a message of Bob's whose text is this JSON.
fn message(id: i64, text: &str) -> String {
    format!(
        r#"{{"update_id":{id},"message":{{"message_id":{id},"date":0,"chat":{{"id":{BOB},"type":"private"}},
           "from":{{"id":{BOB},"is_bot":false,"first_name":"Bob"}},"text":{text},"caption":"{CONTENT}"}}}}"#
    )
}

/// Texts of messages that make an update unreadable, each with what the log says of it.
fn unreadable() -> Vec<(&'static str, String)> {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    vec![
        ("nested_too_deep", nested(200)),
        ("nested_too_deep", nested(100_000)),
        ("no_json", r#""\ud800""#.to_owned()),
        ("no_json", "1e999".to_owned()),
        ("no_json", "NaN".to_owned()),
        ("too_long", format!("\"{}\"", "x".repeat(30_000_000))),
    ]
}

async fn all_taken_in(world: &World) {
    let taken = |view: &figaro::demo::telegram::View<'_>| (view.updates_pending() == 0).then_some(());
    world.telegram.wait_until(PATIENCE, taken).await.expect("all updates are acknowledged");
}

async fn started(world: &World) -> Bot {
    world.start_open().await
}

#[tokio::test]
async fn an_update_that_cannot_be_read_costs_no_other() {
    let world = World::new().await;
    world.otherwise(Reply::text("Yes?"));
    let mut told = Vec::new();
    for (round, (reason, broken)) in (1..).zip(unreadable()) {
        // All three wait before the bot starts, so they come in one answer.
        world.say(ANN, ANN, "before");
        let id = world.telegram.push_text(|id| message(id, &broken));
        world.say(BOB, BOB, "after");
        let bot = started(&world).await;
        world.answers(ANN, round).await;
        world.answers(BOB, round).await;
        all_taken_in(&world).await;
        told.push((id, reason));
        let log = bot.log();
        for (id, reason) in &told {
            let of = format!("update={id}");
            let lines: Vec<&str> =
                log.lines().filter(|line| line.contains(&of) && line.contains("ERROR")).collect();
            assert!(
                matches!(lines[..], [line] if line.contains(reason) && line.contains("cannot be read")),
                "{lines:?}"
            );
        }
        assert!(!log.contains(CONTENT), "{log}");
        assert!(bot.stop().success());
    }
    let bot = started(&world).await;
    let status = world.told(ANN, ANN, "/status").await;
    assert!(text(&status).contains(&format!("{} unreadable records", told.len())), "{status}");
    assert_eq!(world.bot_texts(BOB).len(), told.len(), "nothing is answered twice");
    assert!(bot.stop().success());
}

#[tokio::test]
async fn what_cannot_be_read_is_kept_for_seven_days() {
    let world = World::new().await;
    world.otherwise(Reply::text("Yes?"));
    let bot = started(&world).await;
    for broken in ["1e999", "NaN"] {
        world.telegram.push_text(|id| message(id, broken));
        all_taken_in(&world).await;
    }
    assert!(bot.log().contains("kept for 7 days") && !bot.log().contains("set aside"), "{}", bot.log());
    assert!(bot.stop().success());
    let aged = |hours: i64, aside: &[u8]| {
        let mut aside: Value = serde_json::from_slice(aside).unwrap();
        aside["arrived_at"] = json!(Clock::system().now() - TimeDelta::hours(hours));
        aside.to_string().into_bytes()
    };
    let store = sled::open(world.folder.path().join("data")).unwrap();
    let kept = store.open_tree("unreadable_updates").unwrap();
    for (row, hours) in kept.iter().zip([7 * 24 + 1, 7 * 24 - 1]) {
        let (key, aside) = row.unwrap();
        kept.insert(key, aged(hours, &aside)).unwrap();
    }
    drop((kept, store));
    let bot = started(&world).await;
    world.ask("one").await;
    let status = world.told(ANN, ANN, "/status").await;
    assert!(text(&status).contains("1 unreadable records"), "{status}");
    assert!(bot.stop().success());
}

#[tokio::test]
async fn an_unreadable_update_alone_is_passed_while_the_bot_runs() {
    let world = World::new().await;
    world.otherwise(Reply::text("Yes?"));
    let bot = started(&world).await;
    world.ask("one").await;
    for (_, broken) in unreadable().into_iter().take(4) {
        world.telegram.push_text(|id| message(id, &broken));
        all_taken_in(&world).await;
    }
    world.ask("two").await;
    assert!(bot.stop().success());
}

#[tokio::test]
async fn an_update_without_an_id_is_passed() {
    let world = World::new().await;
    world.otherwise(Reply::text("Yes?"));
    let nameless = ["42", "null", "[]", r#"{"message":{"text":"swordfish"}}"#, r#"{"update_id":1e999}"#];
    // The first thing of all: nothing is known of its id, and the next update shows it.
    world.telegram.push_text(|_| "42".to_owned());
    let bot = started(&world).await;
    bot.logged("without an id").await;
    world.ask("one").await;
    all_taken_in(&world).await;
    for item in nameless {
        world.telegram.push_text(|_| item.to_owned());
        all_taken_in(&world).await;
    }
    for item in nameless {
        world.telegram.push_text(|_| item.to_owned());
    }
    world.ask("two").await;
    all_taken_in(&world).await;
    assert!(!bot.log().contains(CONTENT), "{}", bot.log());
    assert!(bot.stop().success());
}

#[tokio::test]
async fn an_answer_that_is_no_list_of_updates_is_asked_for_again() {
    let world = World::new().await;
    world.otherwise(Reply::text("Yes?"));
    let answers = [
        r#"{"ok":true,"result":{"update_id":1}}"#,
        r#"{"ok":true,"result":7}"#,
        r#"{"ok":true,"result":[{"update_id":1}"#,
        "<html>captive portal</html>",
    ];
    for answer in answers {
        world.telegram.fail("getUpdates", Failure::Answer(answer.to_owned()), 1);
    }
    world.say(ANN, ANN, "hello");
    let bot = started(&world).await;
    assert_eq!(text(&world.answers(ANN, 1).await[0]), "Yes?");
    assert_eq!(bot.log().matches("updates could not be fetched").count(), answers.len(), "{}", bot.log());
    assert!(bot.stop().success());
}
