//! How fast the bot starts and how little it holds: the real release binaries on an empty store, against the offline
//! Telegram and model. `cargo bench --bench idle` prints time from start to the first `getUpdates`, and the memory of
//! both processes after the first turn (Linux: proportional and resident set sizes of `/proc/PID/smaps_rollup`).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking"
)]

mod support;

use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use figaro_offline::Runtime;
use figaro_offline::model::{OfflineModel, Reply, Script};
use figaro_offline::telegram::{OfflineTelegram, Options, Person};

use support::{OWNER, Sizes, listener, start_bot};

const STARTS: usize = 10;
const WAIT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long the bot rests before its memory is read.
const REST: Duration = Duration::from_secs(2);

#[tokio::main]
async fn main() {
    let mut starts = Vec::new();
    let mut memory = None;
    for at in 0..STARTS {
        let (start, figures) = one_start(at == STARTS - 1).await;
        starts.push(start);
        memory = figures.or(memory);
    }
    starts.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    println!("start on an empty store to the first getUpdates, {STARTS} starts (target: 300 ms)");
    println!(
        "  min {:.0} ms   median {:.0} ms   max {:.0} ms",
        ms(starts[0]),
        ms(starts[STARTS / 2]),
        ms(starts[STARTS - 1])
    );
    let [figaro, mcp] = memory.expect("the last start reads memory");
    println!("memory at rest after the first turn (target: 30 MB PSS together)");
    figaro.print("figaro");
    mcp.print("figaro-mcp");
    println!("  together        PSS {:>5.1} MB   RSS {:>5.1} MB", figaro.pss + mcp.pss, figaro.rss + mcp.rss);
}

async fn one_start(with_turn: bool) -> (Duration, Option<[Sizes; 2]>) {
    let runtime = Runtime::system();
    let telegram = OfflineTelegram::start(listener().await, Options::default(), &runtime).unwrap();
    telegram.add_user(Person::new(OWNER, "Ann"));
    telegram.add_private(OWNER).unwrap();
    let script = Script::new();
    script.push(Reply::text("Hello!"));
    let model = OfflineModel::start(listener().await, Arc::new(script), &runtime).unwrap();
    // An update that waits makes the first getUpdates return at once, so that its moment is seen.
    telegram.say(OWNER, OWNER, "hello").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let mut bot = start_bot(&telegram, &model, folder.path());
    let polled = telegram
        .wait_until(WAIT_TIMEOUT, |view| view.calls_of("getUpdates").first().map(|_| Instant::now()))
        .await;
    let start = polled.expect("the bot asks for updates") - began;
    let figures = if with_turn { Some(memory_after_turn(&telegram, &bot).await) } else { None };
    bot.kill().unwrap();
    bot.wait().unwrap();
    runtime.stop();
    (start, figures)
}

async fn memory_after_turn(telegram: &OfflineTelegram, bot: &Child) -> [Sizes; 2] {
    let answered =
        telegram.wait_until(WAIT_TIMEOUT, |view| (!view.bot_messages(OWNER).is_empty()).then_some(())).await;
    answered.expect("the bot answers");
    tokio::time::sleep(REST).await;
    let child = children(bot.id()).first().copied().expect("the MCP server runs");
    [Sizes::of(bot.id()), Sizes::of(child)]
}

fn children(pid: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>())
        .collect()
}
