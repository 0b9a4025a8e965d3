//! What a hundred thousand scheduled prompts cost: the real release binary on a store that holds them. `cargo bench --bench
//! tasks` prints the start with and without them, what the bot does and holds at rest, and how the tasks of one instant
//! are spread over time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking"
)]

mod support;

use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::ids::{BotId, ChatId, UserId};
use figaro_base::tz::Tz;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::message::Speaker;
use figaro_domain::schedule::Schedule;
use figaro_domain::task::{NewTask, Task};
use figaro_offline::Runtime;
use figaro_offline::model::{ModelReply, ModelRequest, OfflineModel};
use figaro_offline::telegram::{OfflineTelegram, Person, TelegramOptions};
use figaro_store::Store;
use figaro_store::{TaskAdded, TaskLimits};
use futures::StreamExt;

use support::{OWNER, Sizes, listener, start_bot_with, store_url};

const TASKS: i64 = 100_000;
/// They lie in so many chats.
const CHATS: i64 = 20_000;
const STARTS: usize = 5;
/// So many tasks are due at one instant, each in a chat of its own.
const AT_ONCE: i64 = 300;
const REST: Duration = Duration::from_secs(20);
const WAIT_TIMEOUT: Duration = Duration::from_secs(120);
/// `_SC_CLK_TCK` of Linux.
const TICKS: f64 = 100.0;

struct World {
    telegram: OfflineTelegram,
    model: OfflineModel,
    runtime: Runtime,
}

fn says(_request: &ModelRequest) -> ModelReply {
    ModelReply::text("It is time.")
}

async fn world() -> World {
    let runtime = Runtime::system();
    let telegram = OfflineTelegram::start(listener().await, TelegramOptions::default(), &runtime).unwrap();
    for id in OWNER..OWNER + AT_ONCE {
        telegram.add_user(Person::new(id, "Ann"));
        telegram.add_private(id).unwrap();
    }
    let model = OfflineModel::start(listener().await, Arc::new(says), &runtime).unwrap();
    World { telegram, model, runtime }
}

#[tokio::main]
async fn main() {
    burst().await;
    let (empty, full) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let began = Instant::now();
    fill(full.path()).await;
    let took = began.elapsed();
    println!(
        "{TASKS} tasks in {CHATS} chats, stored in {:.1} s ({:.2} ms each, 64 at a time)",
        took.as_secs_f64(),
        took.as_secs_f64() * 1000.0 / 100_000.0
    );
    println!("start to the first getUpdates, median of {STARTS} (target: under 1 s)");
    for (what, folder) in [("empty store", empty.path()), ("full store", full.path())] {
        println!("  {what:<12} {:>6.0} ms", start(folder).await.as_secs_f64() * 1000.0);
    }
    println!("at rest for {} s (target: about no CPU)", REST.as_secs());
    for (what, folder) in [("empty store", empty.path()), ("full store", full.path())] {
        rest(what, folder).await;
    }
}

async fn fill(folder: &Path) {
    let store =
        Store::open(&store_url(folder.join("data")), BotId(world().await.telegram.bot_id())).await.unwrap();
    let now = Utc::now();
    let adding = futures::stream::iter(0..TASKS).map(|n| {
        let store = store.clone();
        async move {
            // Days apart from now, so that none comes due while the bench runs.
            let schedule = format!("{} {} {} * *", n % 60, n / 60 % 24, 1 + (n % 28));
            let schedule = Schedule::recurring(&schedule, "Europe/Riga".parse::<Tz>().unwrap(), now).unwrap();
            let task = task(1_000_000 + n % CHATS, schedule, now);
            assert_eq!(store.tasks().add(&task, LIMITS).await.unwrap(), TaskAdded::New);
        }
    });
    adding.buffer_unordered(64).collect::<Vec<()>>().await;
}

const LIMITS: TaskLimits = TaskLimits { per_chat: 1000, per_user: 1000 };

fn task(chat: i64, schedule: Schedule, now: DateTime<Utc>) -> Task {
    let place = Place { chat: ChatId(chat), kind: ChatKind::Private, title: None, topic: None };
    let creator = Speaker { user: UserId::telegram(chat), name: "Ann".into(), username: None };
    let prompt =
        "Look up the weather of the day and write it in two sentences, with what to wear.".to_owned();
    let (language, zone, zone_assumed) = (Some("en".to_owned()), "Europe/Riga".parse::<Tz>().unwrap(), false);
    Task::new(NewTask { place, creator, language, prompt, schedule, zone, zone_assumed }, now)
}

async fn start(folder: &Path) -> Duration {
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let world = world().await;
        world.telegram.say(OWNER, OWNER, "/stop").unwrap();
        let began = Instant::now();
        let bot = start_bot_with(&world.telegram, &world.model, folder, &[]);
        polled(&world).await;
        starts.push(began.elapsed());
        end(bot, &world);
    }
    starts.sort();
    starts[STARTS / 2]
}

async fn polled(world: &World) {
    let seen =
        world.telegram.wait_until(WAIT_TIMEOUT, |view| view.calls_of("getUpdates").first().map(|_| ())).await;
    seen.expect("the bot asks for updates");
}

fn end(mut bot: Child, world: &World) {
    bot.kill().unwrap();
    bot.wait().unwrap();
    world.runtime.stop();
}

async fn rest(what: &str, folder: &Path) {
    let world = world().await;
    world.telegram.say(OWNER, OWNER, "/stop").unwrap();
    let bot = start_bot_with(&world.telegram, &world.model, folder, &[]);
    polled(&world).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let before = cpu(bot.id());
    tokio::time::sleep(REST).await;
    let used = cpu(bot.id()) - before;
    println!("  {what:<12} {:>5.2} % of a core", used / REST.as_secs_f64() * 100.0);
    Sizes::of(bot.id()).print(&format!("  {what}"));
    end(bot, &world);
}

/// Seconds of processor time that a process has used (`/proc/PID/stat`, fields 14 and 15).
fn cpu(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let field = |at: usize| fields.split(' ').nth(at).unwrap().parse::<f64>().unwrap();
    (field(11) + field(12)) / TICKS
}

async fn burst() {
    let folder = tempfile::tempdir().unwrap();
    let world = world().await;
    let due = Utc::now() + TimeDelta::seconds(3);
    {
        let store = Store::open(&store_url(folder.path().join("data")), BotId(world.telegram.bot_id()))
            .await
            .unwrap();
        for chat in OWNER..OWNER + AT_ONCE {
            let task = task(chat, Schedule::Once { at: due, wall: false }, Utc::now());
            assert_eq!(store.tasks().add(&task, LIMITS).await.unwrap(), TaskAdded::New);
        }
    }
    let open = [("ACCESS", "open")];
    let bot = start_bot_with(&world.telegram, &world.model, folder.path(), &open);
    let mut seen: Vec<Instant> = Vec::new();
    world
        .telegram
        .wait_until(WAIT_TIMEOUT, |view| {
            let there = view.calls_of("sendMessage").len();
            while seen.len() < there {
                seen.push(Instant::now());
            }
            (i64::try_from(there).unwrap() >= AT_ONCE).then_some(())
        })
        .await
        .expect("every task is delivered");
    let first = seen[0];
    let most = seen
        .iter()
        .map(|from| {
            seen.iter().filter(|at| **at >= *from && at.duration_since(*from).as_secs_f64() < 1.0).count()
        })
        .max()
        .unwrap();
    let whole = seen.last().unwrap().duration_since(first).as_secs_f64();
    println!("{AT_ONCE} tasks of one instant (target: 30 messages a second, the bound of Telegram)");
    println!(
        "  {whole:.1} s from the first message to the last, {:.1} a second; most within any second {most}",
        (f64::from(u32::try_from(AT_ONCE).unwrap()) - 1.0) / whole
    );
    end(bot, &world);
}
