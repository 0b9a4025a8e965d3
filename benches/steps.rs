//! What it costs to keep each step of a turn, so that a restart can go on with it: `cargo bench --bench steps` prints
//!
//! - the time of one checkpoint in the store, with the state of a turn in its third pass, beside the time in which the same
//!   message is appended without one, and beside a bare fsync of that disk;
//! - the time of a whole turn with three passes of two calls each, from the message to the answer, of the real binary with a
//!   model that answers at once, and the bot's CPU time for it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking"
)]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use chrono::Utc;
use figaro_base::ids::{BotId, ChatId, MessageId, UpdateId, UserId};
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::conversation::{ConversationId, Message, MessageRole};
use figaro_domain::message::{Inbound, Speaker};
use figaro_domain::origin::Origin;
use figaro_domain::tool::{Call, ToolCall, ToolStatus};
use figaro_domain::turn::Step;
use figaro_offline::Runtime;
use figaro_offline::model::{ModelReply, ModelRequest, OfflineModel, ReplyPart};
use figaro_offline::telegram::{OfflineTelegram, Person, TelegramOptions};
use figaro_store::Store;
use serde_json::{Value, json};

use support::{OWNER, cpu_time, fsyncs, listener, print, start_bot_with, store_url};

const WAIT_TIMEOUT: Duration = Duration::from_secs(30);
const STEPS: usize = 400;
const TURNS: usize = 150;
const ANSWER: &str = "Nothing is on today.";

#[tokio::main]
async fn main() {
    let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    println!(
        "a checkpoint: the words of a pass, the state of the turn and two calls that start, in one durable write"
    );
    for (words, within) in [("store in memory", &memory), ("store on disk", &disk)] {
        let store = Store::open(&store_url(within.path().join("steps")), BotId(1)).await.unwrap();
        print(words, checkpoints(&store).await);
        print("  the same words alone, not durable", appends(&store));
    }
    print("a bare fsync on that disk", fsyncs(disk.path()));
    println!("a turn of three passes with two calls each in the first two, from the message to the answer");
    for (words, within) in [("store in memory", &memory), ("store on disk", &disk)] {
        turns(words, &within.path().join("turns")).await;
    }
}

/// Records steps of one turn as its third pass does.
async fn checkpoints(store: &Store) -> Vec<Duration> {
    let conversation = ConversationId { chat: ChatId(OWNER), topic: None };
    let turn = store.conversations().begin_turn(conversation, &[question()], Utc::now()).unwrap();
    let mut times = Vec::new();
    for at in 0..STEPS {
        let call = |number| Call {
            id: format!("call_{at}_{number}"),
            name: "list_tasks".to_owned(),
            arguments: "{}".to_owned(),
        };
        let started = |number| ToolCall {
            call: call(number),
            run: turn.id,
            status: ToolStatus::Running,
            result: None,
            started_at: Utc::now(),
            duration_ms: None,
            approved_on: None,
            hosted: false,
        };
        let calls = vec![started(0), started(1)];
        let said = Message::new(turn.session, MessageRole::Assistant, words(), Utc::now());
        let step = Step { state: Some(state()), said: Some(said), calls };
        let began = Instant::now();
        store.conversations().record_step(&turn, step).await.unwrap();
        times.push(began.elapsed());
    }
    times
}

fn appends(store: &Store) -> Vec<Duration> {
    let conversation = ConversationId { chat: ChatId(OWNER + 1), topic: None };
    let session = store.conversations().session(conversation, Utc::now()).unwrap().id;
    let mut times = Vec::new();
    for _ in 0..STEPS {
        let said = Message::new(session, MessageRole::Assistant, words(), Utc::now());
        let began = Instant::now();
        store.conversations().append(said).unwrap();
        times.push(began.elapsed());
    }
    times
}

/// What the model says beside its calls, about as long as models make it.
fn words() -> String {
    "I look at the tasks and at the settings of this chat first. ".repeat(4)
}

/// The state of a turn in its third pass, as its machine writes it.
fn state() -> Value {
    let call = |at: u32| {
        let call = json!({"id": format!("call_{at}"), "name": "list_tasks", "arguments": "{}"});
        json!({"call": call, "refusal": null})
    };
    json!({
        "passes": 3,
        "made": {"1234567890123456789": 2, "9876543210987654321": 2, "5555555555555555555": 1},
        "usage": {"input_tokens": 7000, "cached_tokens": 4000, "output_tokens": 300},
        "nano_usd": 4_000_000,
        "phase": {"Calling": {"planned": [call(0), call(1)]}},
        "taken_back": null,
    })
}

fn question() -> Inbound {
    let place = Place { chat: ChatId(OWNER), kind: ChatKind::Private, title: None, topic: None };
    let speaker = Speaker { user: UserId::telegram(OWNER), name: "Ann".to_owned(), username: None };
    let origin = Origin::telegram(UpdateId(1), MessageId(1));
    Inbound::addressed(origin, place, speaker, "What is on today?".to_owned(), Utc::now())
}

/// Asks again and again, each question after the answer to the one before.
async fn turns(words: &str, folder: &Path) {
    std::fs::create_dir(folder).unwrap();
    let runtime = Runtime::system();
    let telegram = OfflineTelegram::start(listener().await, TelegramOptions::default(), &runtime).unwrap();
    telegram.add_user(Person::new(OWNER, "Ann"));
    telegram.add_private(OWNER).unwrap();
    let passes = AtomicUsize::new(0);
    let brain = move |_: &ModelRequest| match passes.fetch_add(1, Ordering::Relaxed) % 3 {
        2 => ModelReply::text(ANSWER),
        _ => {
            let call = |name: &str| ReplyPart::Call { name: name.to_owned(), arguments: json!({}) };
            ModelReply::turn(vec![ReplyPart::Text(self::words()), call("list_tasks"), call("get_config")])
        }
    };
    let model = OfflineModel::start(listener().await, Arc::new(brain), &runtime).unwrap();
    let mut bot = start_bot_with(&telegram, &model, folder, &[("TELEGRAM_RATES", "off")]);
    let (mut times, mut cpu) = (Vec::new(), Duration::ZERO);
    for turn in 0..=TURNS {
        let began = Instant::now();
        telegram.say(OWNER, OWNER, "What is on today?").unwrap();
        let is_answer = |message: &&&Value| message["text"] == ANSWER;
        let answers = |messages: &[&Value]| messages.iter().filter(is_answer).count();
        let answered = telegram
            .wait_until(WAIT_TIMEOUT, |view| (answers(&view.bot_messages(OWNER)) > turn).then(Instant::now))
            .await;
        times.push(answered.expect("the bot answers") - began);
        // The first turn opens connections.
        if turn == 0 {
            times.clear();
            cpu = cpu_time(bot.id());
        }
    }
    assert_eq!(model.requests().len(), 3 * (TURNS + 1), "every pass was asked for once");
    let cpu = (cpu_time(bot.id()) - cpu) / u32::try_from(TURNS).unwrap();
    print(words, times);
    println!("    {:.1} ms of CPU a turn", cpu.as_secs_f64() * 1000.0);
    bot.kill().unwrap();
    bot.wait().unwrap();
    runtime.stop();
}
