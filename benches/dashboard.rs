//! How fast the dashboard is, and what it costs: the real release binary on a store of a million messages in 1,000 chats, with
//! the spending of 100,000 turns of thirty days. `cargo bench --bench dashboard` prints
//!
//! - the start until the bot is ready, and the memory at rest a while later, before anybody opens a page: without the gateway,
//!   with the gateway alone, and with the dashboard, in alternating rounds, on an empty store and on the full one;
//! - how long each page takes from request to answer. The messages were imported: none has calls, and none a vector;
//! - how long `figaro backup` takes while the bot runs.
//!
//! `BENCH_MESSAGES` sets another number of messages.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a benchmark fails by panicking, and its counts are small"
)]

mod support;

use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::ids::{BotId, ChatId, SessionId, UserId};
use figaro_domain::calls::Calls;
use figaro_domain::conversation::{ConversationId, Message, MessageRole};
use figaro_domain::message::Speaker;
use figaro_domain::usage::{Purpose, Ratings, Spending, Spent};
use figaro_offline::Runtime;
use figaro_offline::model::{ModelReply, ModelRequest, OfflineModel};
use figaro_offline::telegram::{OfflineTelegram, Person, TelegramOptions};
use figaro_store::{Imported, Store};
use reqwest::{Client, StatusCode};

use support::{OWNER, Sizes, children, listener, median, percentile, start_bot_with, store_url};

const CHATS: i64 = 1_000;
const MESSAGES: usize = 1_000_000;
const TURNS: usize = 100_000;
const DAYS: usize = 30;
/// Rounds of starts, and requests of each page.
const STARTS: usize = 5;
const REQUESTS: usize = 21;
const WAIT_TIMEOUT: Duration = Duration::from_secs(120);
/// Time after the start in which a bot comes to rest.
const REST: Duration = Duration::from_secs(4);
/// A browser may ask so often in a second; the benchmark stays below it.
const PAUSE: Duration = Duration::from_millis(60);
const PROGRAM: &str = "benchmark";
const MODELS: [&str; 3] = ["openai:gpt-4.1-mini", "anthropic:claude-sonnet-4-5", "gemini:gemini-2.5-flash"];

struct World {
    telegram: OfflineTelegram,
    model: OfflineModel,
    runtime: Runtime,
}

impl Drop for World {
    fn drop(&mut self) {
        self.runtime.stop();
    }
}

/// The bot as a process; killed when it is dropped.
struct Bot(Child);

impl Drop for Bot {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[tokio::main]
async fn main() {
    drop(rustls::crypto::ring::default_provider().install_default());
    let world = World::new().await;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    println!("empty store");
    world.starts(folder.path()).await;
    let full = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let messages = std::env::var("BENCH_MESSAGES").map_or(MESSAGES, |count| count.parse().unwrap());
    let began = Instant::now();
    let session = fill(&world, full.path(), messages).await;
    println!(
        "{messages} messages in {CHATS} chats and {TURNS} paid turns, stored in {:.0?}",
        began.elapsed()
    );
    world.starts(full.path()).await;
    world.pages(full.path(), session).await;
}

impl World {
    async fn new() -> Self {
        let runtime = Runtime::system();
        let telegram =
            OfflineTelegram::start(listener().await, TelegramOptions::default(), &runtime).unwrap();
        telegram.add_user(Person::new(OWNER, "Owner"));
        telegram.add_private(OWNER).unwrap();
        let says = |_: &ModelRequest| ModelReply::text("Fine.");
        let model = OfflineModel::start(listener().await, Arc::new(says), &runtime).unwrap();
        Self { telegram, model, runtime }
    }

    /// Starts a bot, and returns how long it took until it was ready.
    async fn started(&self, folder: &Path, settings: &[(&str, &str)]) -> (Bot, Duration) {
        let metrics = free().await;
        let mut all = vec![("METRICS_ADDR", metrics.as_str())];
        all.extend(settings);
        let began = Instant::now();
        let bot = Bot(start_bot_with(&self.telegram, &self.model, folder, &all));
        let client = client();
        let is_ready = async || {
            let asked = client.get(format!("http://{metrics}/readyz")).send().await;
            asked.is_ok_and(|answer| answer.status() == StatusCode::OK)
        };
        while !is_ready().await {
            assert!(began.elapsed() < WAIT_TIMEOUT, "the bot is never ready");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        (bot, began.elapsed())
    }

    /// Prints starts and memory at rest without the dashboard and with it.
    async fn starts(&self, folder: &Path) {
        let address = free().await;
        let with = |dashboard| {
            [
                ("HTTP_ADDR", address.as_str()),
                ("API_KEYS", "bench:key-of-a-benchmark-0123456789"),
                ("DASHBOARD", dashboard),
            ]
        };
        let kinds = [
            ("without the gateway", Vec::new()),
            ("gateway alone", with("off").to_vec()),
            ("with the dashboard", with("owners").to_vec()),
        ];
        let mut figures = vec![(Vec::new(), Vec::new()); kinds.len()];
        for _ in 0..STARTS {
            for ((_, settings), (times, sizes)) in kinds.iter().zip(&mut figures) {
                let (bot, took) = self.started(folder, settings).await;
                tokio::time::sleep(REST).await;
                let pids = std::iter::once(bot.0.id()).chain(children(bot.0.id()));
                times.push(took.as_secs_f64() * 1_000.0);
                sizes.push(pids.map(|pid| Sizes::of(pid).pss).sum());
            }
        }
        println!("start until ready and memory at rest, medians of {STARTS} alternating rounds");
        for ((what, _), (times, sizes)) in kinds.iter().zip(figures) {
            println!("  {what:<20} {:>6.0} ms   PSS {:>5.1} MB", median(times), median(sizes));
        }
    }

    /// Prints the times of the pages, and of a backup meanwhile.
    async fn pages(&self, folder: &Path, session: SessionId) {
        let address = free().await;
        let settings = [("HTTP_ADDR", address.as_str()), ("API_KEYS", "bench:key-of-a-benchmark-0123456789")];
        let (bot, ready) = self.started(folder, &settings).await;
        println!("ready after {ready:.0?}; from request to answer, of {REQUESTS}, and the first of them");
        let (client, root, cookie) = signed_in(folder).await;
        let asked = async |path: &str| {
            let began = Instant::now();
            let request = client.get(format!("{root}{path}")).header("cookie", &cookie);
            let answer = request.header("user-agent", PROGRAM).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK, "{path}");
            let bytes = answer.bytes().await.unwrap().len();
            (began.elapsed(), bytes)
        };
        let chat = format!("conversations/{session}");
        let pages = ["", chat.as_str(), "conversations", "memory", "tasks", "people", "audit", "settings"];
        let searches = ["conversations?q=number+", "conversations?chat=1000&q=number+"];
        for path in pages.into_iter().chain(searches) {
            let (mut times, mut size) = (Vec::new(), 0);
            for number in 0..REQUESTS {
                // Each search is for another message.
                let words = if path.ends_with('+') { (number * 707).to_string() } else { String::new() };
                let (took, bytes) = asked(&format!("{path}{words}")).await;
                (size, times) = (bytes, [times, vec![took]].concat());
                tokio::time::sleep(PAUSE).await;
            }
            let first = times[0];
            times.sort();
            let path = if path.is_empty() { "overview" } else { path };
            let path = path.replace(&session.to_string(), "ID");
            let (p50, worst) = (percentile(&times, 0.5), percentile(&times, 1.0));
            println!("  {path:<38} p50 {p50:>8.1?}   max {worst:>8.1?}   first {first:>8.1?}   {size} bytes");
        }
        Sizes::of(bot.0.id()).print("afterwards");
        backup(folder).await;
    }
}

/// Makes a backup of the bot that runs in this folder, and prints what it took.
async fn backup(folder: &Path) {
    let file = folder.join("backup");
    let (began, mut command) = (Instant::now(), figaro(folder));
    command.arg("backup").arg(&file);
    let made = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let stored: u64 = sizes_in(&folder.join("data"));
    let size = std::fs::metadata(&file).unwrap().len() as f64 / 1e6;
    println!(
        "backup while the bot runs: {:.1?}, {size:.0} MB of {:.0} MB",
        began.elapsed(),
        stored as f64 / 1e6
    );
}

fn sizes_in(folder: &Path) -> u64 {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

/// The program, for the store of a bot in this folder.
fn figaro(folder: &Path) -> Command {
    let other = std::env::var_os("BENCH_FIGARO");
    let mut command = Command::new(other.unwrap_or_else(|| env!("CARGO_BIN_EXE_figaro").into()));
    command.current_dir(folder).env_clear();
    command
}

/// Signs a browser in; gives it with the address of the dashboard and its cookie.
async fn signed_in(folder: &Path) -> (Client, String, String) {
    let told = figaro(folder).arg("dashboard").output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let link = told.split_whitespace().find(|word| word.starts_with("http")).expect("a link").to_owned();
    let client = client();
    let request = client.post(&link).header("user-agent", PROGRAM).header("sec-fetch-site", "same-origin");
    let entered = request.send().await.unwrap();
    let cookie = entered.headers()["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let (root, _) = link.split_once("enter/").unwrap();
    (client, root.to_owned(), cookie)
}

fn client() -> Client {
    Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

/// An address on this machine that nobody listens at.
async fn free() -> String {
    listener().await.local_addr().unwrap().to_string()
}

/// Stores messages and spending; gives the conversation of the last chat.
async fn fill(world: &World, folder: &Path, messages: usize) -> SessionId {
    let (bot, _) = world.telegram.token().split_once(':').unwrap();
    let bot = BotId(bot.parse().unwrap());
    let store = Store::open(&store_url(folder.join("data")), bot).await.unwrap();
    let now = Utc::now();
    let each = messages / usize::try_from(CHATS).unwrap();
    let mut last = SessionId::new();
    for chat in 1..=CHATS {
        let place = ConversationId { chat: ChatId(chat), topic: None };
        last = store.conversations().session(place, now).unwrap().id;
        let all = (0..each).map(|number| message(last, chat, number, each, now)).collect();
        store.messages().import(place.chat, last, all).await.unwrap();
    }
    for turn in 0..TURNS {
        store.usage().book(&spending(turn, now), None).unwrap();
    }
    store.flush().await.unwrap();
    last
}

fn message(session: SessionId, chat: i64, number: usize, each: usize, now: DateTime<Utc>) -> Imported {
    let role = if number.is_multiple_of(2) { MessageRole::User } else { MessageRole::Assistant };
    // Other words in each message, as in a chat.
    let mut seed = chat as u64 * 1_000_003 + number as u64;
    let words: Vec<String> = (0..6 + number % 12)
        .map(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("word{}", (seed >> 33) % 20_000)
        })
        .collect();
    let text = format!("message number {} {}", number * 7, words.join(" "));
    let minutes = i64::try_from(each - number).unwrap();
    let mut message = Message::new(session, role, text, now - TimeDelta::minutes(minutes));
    if role == MessageRole::User {
        let user = UserId::telegram(chat);
        message.speaker = Some(Speaker { user, name: format!("Person {chat}"), username: None });
    }
    Imported { message, name: format!("{chat}-{number}") }
}

fn spending(turn: usize, now: DateTime<Utc>) -> Spending {
    let chat = i64::try_from(turn).unwrap() % CHATS + 1;
    let tokens = 1_000 + turn as u64 % 500;
    Spending {
        day: (now - TimeDelta::days(i64::try_from(turn / usize::try_from(CHATS).unwrap() % DAYS).unwrap()))
            .date_naive(),
        chat: ChatId(chat),
        user: UserId::telegram(chat),
        task: None,
        agents: Vec::new(),
        key: None,
        model: MODELS[turn % MODELS.len()].parse().unwrap(),
        purpose: Purpose::Turn,
        spent: Spent { tokens, nano_usd: tokens * 400, unpriced: 0 },
        ratings: Ratings::default(),
        calls: Calls::default(),
    }
}
