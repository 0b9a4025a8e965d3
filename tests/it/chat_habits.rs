//! Settings of a chat beside its words: a reaction while the bot works, a welcome, quiet hours.

use chrono::{DateTime, TimeDelta, Timelike, Utc};
use figaro_base::clock::Clock;
use figaro_base::ids::ChatId;
use figaro_base::tz::Tz;
use figaro_domain::chat::ConfigPatch;
use figaro_domain::schedule::Schedule;
use figaro_domain::task::{DueRun, TaskChange};
use figaro_offline::model::{Gate, ModelReply};
use figaro_offline::telegram::MemberStatus;
use serde_json::json;

use crate::support::scene::{TEAM, labels, text};
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, World};

fn now() -> DateTime<Utc> {
    Clock::system().now()
}

/// Quiet hours from an hour ago until in two hours, as they can be typed.
fn around_now() -> String {
    let [from, until] = [now() - TimeDelta::hours(1), now() + TimeDelta::hours(2)];
    format!("{}:{:02}-{}:{:02}", from.hour(), from.minute(), until.hour(), until.minute())
}

#[tokio::test]
async fn while_it_works_a_question_of_the_group_has_eyes_if_an_admin_wants_it() {
    let world = World::new().await;
    world.team();
    world.telegram.set_member(TEAM, ANN, MemberStatus::Admin).unwrap();
    let gate = Gate::new();
    world.when("first", ModelReply::text("One."));
    world.when("second", ModelReply::text("Two.").behind(&gate));
    let _bot = world.start_open().await;
    world.told(BOB, TEAM, "@figaro_bot the first?").await;
    assert!(world.telegram.view(|view| view.calls_of("setMessageReaction").is_empty()));
    assert_eq!(
        text(&world.told(BOB, TEAM, "/config@figaro_bot eyes on").await),
        "Only an admin of this chat can do that."
    );
    let odd = world.told(ANN, TEAM, "/config@figaro_bot eyes sometimes").await;
    assert_eq!(text(&odd), "/config eyes takes one of these words:\n• on – yes\n• off – no");
    let card = world.told(ANN, TEAM, "/config@figaro_bot eyes on").await;
    assert!(text(&card).contains("👀 while I work: yes"), "{card}");
    let asked = world.say(BOB, TEAM, "@figaro_bot the second?").message_id;
    let eyes = [json!({"type": "emoji", "emoji": "👀"})];
    world.see("the eyes", |view| (view.reactions(TEAM, asked) == eyes).then_some(())).await;
    gate.open();
    world
        .see("the answer", |view| view.bot_messages(TEAM).iter().any(|m| m["text"] == "Two.").then_some(()))
        .await;
    world.see("no eyes", |view| view.reactions(TEAM, asked).is_empty().then_some(())).await;
}

#[tokio::test]
async fn newcomers_are_greeted_where_an_admin_wants_it_and_a_flood_is_not() {
    let world = World::without_privacy().await;
    world.team();
    world.telegram.set_member(TEAM, ANN, MemberStatus::Admin).unwrap();
    let _bot = world.bot().set("ACCESS", "open").set("TELEGRAM_RATES", "telegram").spawn();
    let joins = |id: i64, name: &str, is_bot: bool| {
        let joined = json!({"id": id, "is_bot": is_bot, "first_name": name});
        let team = json!({"id": TEAM, "type": "supergroup", "title": "Team"});
        let message = json!({"message_id": id, "from": joined, "chat": team, "date": now().timestamp(), "new_chat_members": [joined]});
        world.telegram.push_raw(json!({"message": message}));
    };
    joins(500, "Carl", false);
    world.caught_up().await;
    assert_eq!(world.bot_texts(TEAM), Vec::<String>::new(), "nobody asked for it");
    let card = world.told(ANN, TEAM, "/config@figaro_bot welcome Hello NAME, read the rules!").await;
    assert!(text(&card).contains("Welcome: Hello NAME, read the rules!"), "{card}");
    joins(501, "Dora", false);
    joins(502, "Robot", true);
    world
        .see("the greeting", |view| {
            view.bot_messages(TEAM).iter().any(|m| m["text"] == "Hello Dora, read the rules!").then_some(())
        })
        .await;
    for id in 510..540 {
        joins(id, "Flood", false);
    }
    world.caught_up().await;
    let greeted =
        world.bot_texts(TEAM).into_iter().filter(|text| text.starts_with("Hello")).collect::<Vec<_>>();
    assert!(greeted.len() < 8 && !greeted.iter().any(|text| text.contains("Robot")), "{greeted:?}");
    let card = world.told(ANN, TEAM, "/config@figaro_bot welcome clear").await;
    assert!(text(&card).contains("Welcome: none"), "{card}");
}

#[tokio::test]
async fn tasks_wait_for_the_end_of_quiet_hours_and_mentions_do_not() {
    let world = World::new().await;
    world.when("Tell a joke", ModelReply::text("Knock, knock."));
    world.when("hello", ModelReply::text("Hello."));
    let soon = (now() + TimeDelta::seconds(2)).to_rfc3339();
    let joke = crate::tasks_ui::task(ANN, ANN, "Tell a joke", &soon, now());
    world.keep(&[&joke]).await;
    let bot = world.start().await;
    let card = world.told(ANN, ANN, &format!("/config quiet {}", around_now())).await;
    assert!(text(&card).contains("Quiet hours: "), "{card}");
    let card = world.told(ANN, ANN, "/config quiet").await;
    assert!(labels(&card).starts_with(&["22:00–07:00".to_owned()]), "{card}");
    let odd = world.told(ANN, ANN, "/config quiet always").await;
    assert!(text(&odd).starts_with("/config quiet takes one of these words:\n• 22:00–07:00"), "{odd}");
    // The card says so once the time of the task has come.
    let put_off = async || {
        let card = world.opened(ANN, ANN, "Tell a joke").await;
        text(&card).contains("🌙 Quiet hours. It runs ").then_some(card)
    };
    let card = eventually(|| format!("not put off: {:?}", world.bot_texts(ANN).last()), put_off).await;
    assert_eq!(text(&world.told(ANN, ANN, "hello").await), "Hello.");
    assert_eq!(world.asked().len(), 1, "the task waits");
    assert!(
        text(&card).contains("🌙 Quiet hours. It runs today ") || text(&card).contains("tomorrow"),
        "{card}"
    );
    bot.stop().await;
    // Two hours later.
    let store = world.stored().await;
    let kept = store.tasks().find(joke.id).unwrap().unwrap();
    let retry = kept.retry.unwrap();
    assert!(retry.attempt == 1 && retry.at - now() > TimeDelta::minutes(110), "{retry:?}");
    let due = DueRun { at: retry.due, attempt: 1, late: false };
    let (change, clear) =
        (TaskChange::PutOff(due, now()), ConfigPatch { quiet_hours: Some(None), ..ConfigPatch::default() });
    store.tasks().change(vec![(joke.id, change)], Vec::new(), now()).await.unwrap();
    store.settings().change_chat_config(ChatId(ANN), clear).await.unwrap();
    drop(store);
    let bot = world.start().await;
    world
        .see("the joke", |view| {
            view.bot_messages(ANN).iter().any(|m| text(m).contains("Knock, knock.")).then_some(())
        })
        .await;
    bot.stop().await;
    let store = world.stored().await;
    assert_eq!(store.tasks().runs(joke.id).unwrap().len(), 1, "it runs once");
}

#[test]
fn of_a_task_that_is_put_off_the_times_until_then_are_passed_over() {
    let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
    let mut task = crate::tasks_ui::task(ANN, ANN, "Look", "0 * * * *", at("2026-01-10T20:30:00Z"));
    assert_eq!(task.next, Some(at("2026-01-10T21:00:00Z")));
    let due = DueRun { at: at("2026-01-10T21:00:00Z"), attempt: 1, late: false };
    task.apply(TaskChange::PutOff(due, at("2026-01-11T05:00:00Z")), at("2026-01-10T21:00:00Z")).unwrap();
    assert_eq!(
        (task.wakes_at(), task.next),
        (Some(at("2026-01-11T05:00:00Z")), Some(at("2026-01-11T06:00:00Z")))
    );
    assert!(matches!(task.schedule, Schedule::Cron(_)) && task.zone == Tz::UTC);
}
