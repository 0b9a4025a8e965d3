//! What the benchmarks share: the bot as a process, and the memory of processes. Not every one uses all of it.

#![allow(dead_code, reason = "each benchmark is a crate of its own")]

use std::path::Path;
use std::process::{Child, Command, Stdio};

use figaro_offline::model::OfflineModel;
use figaro_offline::telegram::OfflineTelegram;
use tokio::net::TcpListener;

/// The person who owns the bot and talks to it.
pub(crate) const OWNER: i64 = 11;

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
    Command::new(env!("CARGO_BIN_EXE_figaro"))
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
        ])
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

pub(crate) async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}
