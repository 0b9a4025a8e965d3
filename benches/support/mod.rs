//! What the benchmarks share: the bot as a process, its memory and CPU time, and lists of times. Not every one uses all of
//! it. The variable `BENCH_FIGARO` names another build of the bot to be measured in place of the one just built, for figures
//! of two builds in alternating runs; figaro-mcp is taken from the folder of that build.

#![allow(dead_code, reason = "each benchmark is a crate of its own")]

pub(crate) mod bare_model;
pub(crate) mod watch;

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use figaro_config::{EngineKind, StoreUrl};
use figaro_offline::model::OfflineModel;
use figaro_offline::telegram::OfflineTelegram;
use tokio::net::TcpListener;

/// The person who owns the bot and talks to it.
pub(crate) const OWNER: i64 = 11;

/// A store in this folder, kept by the engine that `BENCH_STORE` names, or else by the default.
pub(crate) fn store_url(folder: impl AsRef<Path>) -> StoreUrl {
    let kind = engine_name().map_or(EngineKind::ALL[0], |name| {
        EngineKind::ALL.into_iter().find(|kind| kind.name() == name).expect("BENCH_STORE names an engine")
    });
    StoreUrl::new(kind, folder.as_ref())
}

fn engine_name() -> Option<String> {
    std::env::var("BENCH_STORE").ok()
}

/// Starts the real bot in a folder of its own.
pub(crate) fn start_bot(telegram: &OfflineTelegram, model: &OfflineModel, folder: &Path) -> Child {
    start_bot_with(telegram, model, folder, &[])
}

/// The same with further settings.
pub(crate) fn start_bot_with(
    telegram: &OfflineTelegram,
    model: &OfflineModel,
    folder: &Path,
    settings: &[(&str, &str)],
) -> Child {
    let other = std::env::var_os("BENCH_FIGARO");
    Command::new(other.unwrap_or_else(|| env!("CARGO_BIN_EXE_figaro").into()))
        .current_dir(folder)
        .env_clear()
        .envs([
            ("TELEGRAM_BOT_TOKEN", telegram.token()),
            ("TELEGRAM_API_URL", telegram.url()),
            ("OPENAI_API_KEY", "sk-offline-key"),
            ("OPENAI_BASE_URL", model.url()),
            ("MCP_HTTP_PORT", "0"),
            ("OWNER_IDS", "11"),
            ("RUST_LOG", "error"),
            // What is measured is turns, and each names its conversation no more than once.
            ("SESSION_NAMES", "off"),
            ("SUMMARY_EVERY", "0"),
            ("MEMORY_LIMIT", "0"),
        ])
        // An older build that is measured knows no other store than its own.
        .envs(engine_name().map(|name| ("STORE_URL", format!("{name}:./data"))))
        .envs(settings.iter().copied())
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}

/// What a process holds, in MB.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) pss: f64,
    pub(crate) rss: f64,
    pub(crate) anonymous: f64,
}

impl Sizes {
    pub(crate) fn of(pid: u32) -> Self {
        let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
        let mb = |name: &str| -> f64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.split_whitespace().next().unwrap().parse::<f64>().unwrap() * 1024.0 / 1e6
        };
        Self { pss: mb("Pss:"), rss: mb("Rss:"), anonymous: mb("Anonymous:") }
    }

    pub(crate) fn print(self, what: &str) {
        let Self { pss, rss, anonymous } = self;
        println!("  {what:<15} PSS {pss:>5.1} MB   RSS {rss:>5.1} MB   anonymous {anonymous:>5.1} MB");
    }
}

/// The CPU time that a process has taken, user and system, without its children.
pub(crate) fn cpu_time(pid: u32) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // The name of the program in brackets may hold spaces.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    // Linux counts in hundredths of a second (`man 7 time`, USER_HZ).
    Duration::from_millis(ticks * 10)
}

/// The CPU time of a process and of its children that run.
pub(crate) fn cpu_time_of_all(pid: u32) -> Duration {
    cpu_time(pid) + children(pid).into_iter().map(cpu_time).sum::<Duration>()
}

/// The children of a process that run.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    // Each thread has a list of those that it started.
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

/// The time below which this share of the sorted times is.
pub(crate) fn percentile(sorted: &[Duration], share: f64) -> Duration {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "small"
    )]
    let at = ((sorted.len() - 1) as f64 * share).round() as usize;
    sorted[at]
}

/// The middle one of some figures.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

pub(crate) async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

/// How long a bare fsync takes in this folder, 200 times.
pub(crate) fn fsyncs(folder: &Path) -> Vec<Duration> {
    let mut file = std::fs::File::create(folder.join("probe")).unwrap();
    let one = |_| {
        file.write_all(&[7; 4096]).unwrap();
        let began = Instant::now();
        file.sync_all().unwrap();
        began.elapsed()
    };
    (0..200).map(one).collect()
}

/// Prints the percentiles of these times, in milliseconds.
pub(crate) fn print(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: f64| percentile(&times, share).as_secs_f64() * 1000.0;
    println!(
        "  {what}: p50 {:.1} ms   p90 {:.1} ms   p99 {:.1} ms   max {:.1} ms   ({} of them)",
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0),
        times.len()
    );
}
