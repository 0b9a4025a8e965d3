//! How late people get their answers, and how much memory the bot takes, while others take all they can: the real
//! release binary against the offline Telegram and model, both at Telegram's pace. `cargo bench --bench load` prints it
//! without the load and with it: one person who sends 2,600 messages at once, 1,000 strangers, one whose model writes
//! without end, one whose model asks for 5,000 calls, each of them again as soon as they were answered.
//!
//! The model of those who are measured answers at once: all of their time is Figaro's, the servers', or the machine's.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking"
)]

mod support;

use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use figaro_offline::Runtime;
use figaro_offline::model::{ModelReply, ModelRequest, OfflineModel, ReplyPart};
use figaro_offline::telegram::{OfflineTelegram, Person, TelegramOptions};
use serde_json::json;

use support::{OWNER, listener, start_bot_with};

const WAIT_TIMEOUT: Duration = Duration::from_secs(120);
/// The owner and ten others are measured.
const PEOPLE: std::ops::Range<i64> = OWNER..OWNER + 11;
const FLOODER: i64 = 101;
const STREAMER: i64 = 102;
const CALLER: i64 = 103;
const STRANGERS: std::ops::Range<i64> = 5000..6000;
const FLOOD: usize = 2600;
const ROUNDS: usize = 10;
/// How long a person reads an answer before the next question.
const READS: Duration = Duration::from_millis(1500);

struct World {
    telegram: OfflineTelegram,
    model: OfflineModel,
    runtime: Runtime,
}

#[tokio::main]
async fn main() {
    let world = World::new().await;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    world.allow_everybody(folder.path()).await;
    world.telegram.enforce_limits(true);
    for with_load in [false, true] {
        let bot = Bot(start_bot_with(&world.telegram, &world.model, folder.path(), &[]));
        let over = Arc::new(AtomicBool::new(false));
        let load = with_load.then(|| tokio::spawn(load(world.telegram.clone(), Arc::clone(&over))));
        let times = measured(&world).await;
        over.store(true, Ordering::Relaxed);
        println!("{}", if with_load { "with the load" } else { "without load" });
        print(times);
        println!("  the most memory figaro held: {:.1} MB RSS", peak(bot.0.id()));
        if let Some(load) = load {
            load.abort();
        }
        drop(bot);
    }
    world.runtime.stop();
}

/// Killed when dropped.
struct Bot(Child);

impl Drop for Bot {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl World {
    async fn new() -> Self {
        let runtime = Runtime::system();
        let telegram =
            OfflineTelegram::start(listener().await, TelegramOptions::default(), &runtime).unwrap();
        for person in PEOPLE.chain(FLOODER..=CALLER).chain(STRANGERS) {
            telegram.add_user(Person::new(person, "Someone"));
            telegram.add_private(person).unwrap();
        }
        let model = OfflineModel::start(listener().await, Arc::new(brain), &runtime).unwrap();
        Self { telegram, model, runtime }
    }

    /// The owner lets everybody in but the strangers.
    async fn allow_everybody(&self, folder: &Path) {
        let bot = Bot(start_bot_with(&self.telegram, &self.model, folder, &[("TELEGRAM_RATES", "off")]));
        for person in PEOPLE.skip(1).chain(FLOODER..=CALLER) {
            let before = self.telegram.view(|view| view.bot_messages(OWNER).len());
            self.telegram.say(OWNER, OWNER, &format!("/allow {person}")).unwrap();
            self.hears(OWNER, before).await;
        }
        drop(bot);
    }

    /// Waits for one more message of the bot's in a chat.
    async fn hears(&self, chat: i64, before: usize) {
        let heard = self
            .telegram
            .wait_until(WAIT_TIMEOUT, |view| (view.bot_messages(chat).len() > before).then_some(()));
        heard.await.expect("an answer");
    }
}

fn brain(request: &ModelRequest) -> ModelReply {
    let said = request.user_text();
    if said.contains("without end") {
        return ModelReply::text(&"on and on ".repeat(300_000)).paced(2000, Duration::from_millis(5));
    }
    if said.contains("everything") && request.tool_results().is_empty() {
        let call = |at| ReplyPart::Call {
            name: "list_notes".to_owned(),
            arguments: json!({"key": format!("k{at}")}),
        };
        return ModelReply::turn((0..5000).map(call).collect());
    }
    ModelReply::text("An answer of one line.")
}

/// Asks for more than there is, again and again.
async fn load(telegram: OfflineTelegram, over: Arc<AtomicBool>) {
    for at in 0..FLOOD {
        telegram.say(FLOODER, FLOODER, &format!("flood {at}")).unwrap();
    }
    for stranger in STRANGERS {
        telegram.say(stranger, stranger, "hello?").unwrap();
    }
    while !over.load(Ordering::Relaxed) {
        telegram.say(STREAMER, STREAMER, "write without end").unwrap();
        telegram.say(CALLER, CALLER, "everything at once").unwrap();
        for at in 0..50 {
            telegram.say(FLOODER, FLOODER, &format!("more {at}")).unwrap();
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// How long each person waited for each answer.
async fn measured(world: &World) -> Vec<Duration> {
    let people = PEOPLE.map(|person| async move {
        let mut times = Vec::new();
        tokio::time::sleep(READS / 11 * u32::try_from(person - OWNER).unwrap()).await;
        for _ in 0..ROUNDS {
            let before = world.telegram.view(|view| view.bot_messages(person).len());
            let asked = Instant::now();
            world.telegram.say(person, person, "a question").unwrap();
            world.hears(person, before).await;
            times.push(asked.elapsed());
            tokio::time::sleep(READS).await;
        }
        times
    });
    futures::future::join_all(people).await.concat()
}

/// The most memory that a process has held so far, in MB.
fn peak(pid: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<f64>().unwrap() * 1024.0 / 1e6
}

fn print(mut times: Vec<Duration>) {
    times.sort();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1000.0;
    println!(
        "  from question to answer: p50 {:.1} ms   p90 {:.1} ms   p99 {:.1} ms   max {:.1} ms   ({} of them)",
        at(50),
        at(90),
        at(99),
        at(100),
        times.len()
    );
}
