//! `kill -9` while a task runs: what was due reaches the chat once, whatever moment it is; where Telegram's answer was
//! lost, at most twice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use figaro_base::clock::Clock;
use figaro_base::ids::{ChatId, TaskId, UserId};
use figaro_base::tz::Tz;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::message::Speaker;
use figaro_domain::schedule::Schedule;
use figaro_domain::task::{IfMissed, NewTask, RunStatus, Task};
use figaro_offline::Runtime;
use figaro_offline::model::{Gate, ModelReply, ModelRequest, OfflineModel};
use figaro_offline::telegram::PlannedFailure;
use figaro_store::{TaskAdded, TaskLimits};
use serde_json::json;

use crate::support::{ANN, BOB, TIMEOUT, World, listener};

/// A task of one time, due so soon after now.
async fn due_in(world: &World, chat: i64, prompt: &str, after: TimeDelta) -> TaskId {
    let now = Clock::system().now();
    let place = Place { chat: ChatId(chat), kind: ChatKind::Private, title: None, topic: None };
    let creator = Speaker { user: UserId::telegram(chat), name: "Ann".into(), username: None };
    let (zone, prompt) = (Tz::UTC, prompt.to_owned());
    let schedule = Schedule::Once { at: now + after, wall: false };
    let new = NewTask { place, creator, language: None, prompt, schedule, zone, zone_assumed: false };
    let task = Task { if_missed: IfMissed::RunOnce, ..Task::new(new, now) };
    let limits = TaskLimits { per_chat: 1000, per_user: 1000 };
    assert_eq!(world.stored().await.tasks().add(&task, limits).await.unwrap(), TaskAdded::New);
    task.id
}

/// How often each text reached a chat.
fn delivered(world: &World, chat: i64) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for text in world.bot_texts(chat) {
        *counts.entry(text).or_insert(0) += 1;
    }
    counts
}

fn once(text: &str, times: usize) -> BTreeMap<String, usize> {
    BTreeMap::from([(text.to_owned(), times)])
}

#[tokio::test]
async fn killed_while_the_model_thinks_it_is_delivered_once() {
    let world = World::new().await;
    let task = due_in(&world, ANN, "Say hello", TimeDelta::milliseconds(300)).await;
    let gate = Gate::new();
    world.script.push(ModelReply::text("Never seen.").behind(&gate));
    let bot = world.start().await;
    world.model.wait_until(TIMEOUT, |requests| requests.first().map(|_| ())).await.expect("the run");
    bot.kill();
    world.script.push(ModelReply::text("Hello!"));
    let bot = world.start().await;
    world.answers(ANN, 1).await;
    bot.ends_well().await;
    gate.open();
    assert_eq!(delivered(&world, ANN), once("Hello!", 1));
    let last = world.stored().await.tasks().find(task).unwrap().unwrap().last.unwrap();
    assert_eq!((last.status, last.message.is_some()), (RunStatus::Delivered, true));
}

#[tokio::test]
async fn killed_before_telegram_has_the_answer_it_is_delivered_once_and_the_model_is_not_asked_again() {
    let world = World::new().await;
    due_in(&world, ANN, "Say hello", TimeDelta::milliseconds(300)).await;
    world.telegram.fail("sendMessage", PlannedFailure::Hang, 1);
    world.script.push(ModelReply::text("Hello!"));
    let bot = world.start().await;
    let called =
        |view: &figaro_offline::telegram::TelegramView<'_>| view.calls_of("sendMessage").first().map(|_| ());
    world.telegram.wait_until(TIMEOUT, called).await.expect("the delivery");
    bot.kill();
    let bot = world.start().await;
    world.answers(ANN, 1).await;
    bot.ends_well().await;
    assert_eq!(delivered(&world, ANN), once("Hello!", 1));
    assert_eq!(world.model.requests().len(), 1);
}

#[tokio::test]
async fn where_telegrams_answer_was_lost_it_is_repeated_once_at_most() {
    let world = World::new().await;
    let task = due_in(&world, ANN, "Say hello", TimeDelta::milliseconds(300)).await;
    world.telegram.fail("sendMessage", PlannedFailure::AppliedButDropped, 1);
    world.script.push(ModelReply::text("Hello!"));
    let bot = world.start().await;
    world.answers(ANN, 1).await;
    bot.kill();
    let bot = world.start().await;
    world.answers(ANN, 2).await;
    bot.ends_well().await;
    assert_eq!(delivered(&world, ANN), once("Hello!", 2));
    let bot = world.start().await;
    bot.ends_well().await;
    assert_eq!(delivered(&world, ANN), once("Hello!", 2));
    let runs = world.stored().await.tasks().runs(task).unwrap();
    assert_eq!(runs.len(), 1, "{runs:?}");
}

#[tokio::test]
async fn where_telegrams_answer_is_lost_every_time_it_is_given_up_and_told() {
    let world = World::new().await;
    let task = due_in(&world, ANN, "Say hello", TimeDelta::milliseconds(300)).await;
    world.telegram.fail("sendMessage", PlannedFailure::AppliedButDropped, 6);
    world.script.push(ModelReply::text("Hello!"));
    let bot = world.start().await;
    world.answers(ANN, 3).await;
    // The pauses grow, and begin anew with a restart; the count does not. A repeat is counted before its pause.
    tokio::time::sleep(Duration::from_millis(300)).await;
    bot.kill();
    let bot = world.start().await;
    let texts: Vec<String> =
        world.answers(ANN, 7).await.iter().map(|m| m["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(texts[..6], ["Hello!"; 6]);
    assert!(texts[6].contains("I do not know whether its message arrived"), "{texts:?}");
    bot.ends_well().await;
    let bot = world.start().await;
    bot.ends_well().await;
    assert_eq!(world.bot_texts(ANN), texts);
    let last = world.stored().await.tasks().find(task).unwrap().unwrap().last.unwrap();
    assert_eq!(last.status, RunStatus::Failed);
}

/// What a run has to do with the world is not done again: after a crash the model is told that it is not known.
#[tokio::test]
async fn a_call_of_a_run_that_was_killed_is_not_made_again() {
    let world = World::new().await;
    due_in(&world, ANN, "Make a poll", TimeDelta::milliseconds(300)).await;
    let options = json!([{"text": "Tea"}, {"text": "Coffee"}]);
    world.telegram.fail("sendPoll", PlannedFailure::Hang, 1);
    world.script.push(ModelReply::call("sendPoll", json!({"question": "What?", "options": options})));
    let bot = world.start().await;
    let called =
        |view: &figaro_offline::telegram::TelegramView<'_>| view.calls_of("sendPoll").first().map(|_| ());
    world.telegram.wait_until(TIMEOUT, called).await.expect("the call");
    bot.kill();
    world.script.push(ModelReply::text("Look whether there is a poll."));
    let bot = world.start().await;
    world.answers(ANN, 1).await;
    bot.ends_well().await;
    assert_eq!(world.telegram.view(|view| view.calls_of("sendPoll").len()), 1);
    let requests = world.model.requests();
    let results = requests[1].tool_results();
    assert!(results[0].1.contains("whether it acted is not known"), "{results:?}");
}

/// Says which task it was, slowly.
fn worker(request: &ModelRequest) -> ModelReply {
    let said = request.user_text();
    let (_, prompt) = said.rsplit_once("<scheduled_task").unwrap();
    let name = prompt.lines().nth(1).unwrap().trim().to_owned();
    ModelReply::text(&format!("did {name} as was asked")).paced(4, Duration::from_millis(30))
}

#[tokio::test]
async fn whatever_moment_it_is_killed_at_every_task_is_delivered() {
    const KILLS: u64 = 8;
    let world = World::new().await;
    let runtime = Runtime::system();
    let model = OfflineModel::start(listener().await, Arc::new(worker), &runtime).unwrap();
    let recipe = world.bot().set("OPENAI_BASE_URL", model.url()).set("ACCESS", "open");
    let mut wanted: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for round in 0..KILLS {
        for chat in [ANN, BOB] {
            let name = format!("task {round} of {chat}");
            due_in(&world, chat, &name, TimeDelta::milliseconds(200)).await;
            wanted.entry(chat).or_default().push(format!("did {name} as was asked"));
        }
        let bot = recipe.spawn();
        tokio::time::sleep(Duration::from_millis(180 + round * 90)).await;
        bot.kill();
    }
    let bot = recipe.spawn();
    // All may have been delivered already; it is asked to stop once it has begun.
    bot.ready().await;
    for (chat, wanted) in &wanted {
        let all_there = |view: &figaro_offline::telegram::TelegramView<'_>| {
            let there = view.bot_messages(*chat);
            wanted.iter().all(|text| there.iter().any(|m| m["text"] == text.as_str())).then_some(())
        };
        world.telegram.wait_until(TIMEOUT, all_there).await.expect("every task");
    }
    bot.ends_well().await;
    for (chat, wanted) in wanted {
        let delivered = delivered(&world, chat);
        assert_eq!(delivered.keys().cloned().collect::<Vec<_>>(), wanted);
        // A kill may lose the answer to one message in each chat.
        let repeats: usize = delivered.values().map(|times| times - 1).sum();
        assert!(repeats <= usize::try_from(KILLS).unwrap(), "{delivered:?}");
    }
    runtime.stop();
    assert_eq!(model.violations(), Vec::<String>::new());
}
