//! Several bots in one process: what each costs while nobody talks to it, and how many messages one or more processes answer.
//! `cargo bench --bench bots` prints memory and CPU time at rest with 1 and with 101 bots, then the throughput of 1, 2 and 4
//! processes with 400 bots and one PostgreSQL, if that is installed. The processes share the machine with Telegram, the model
//! and the database.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking"
)]

#[path = "../tests/support/postgres.rs"]
#[allow(dead_code, unreachable_pub, reason = "the benchmark takes what it needs")]
mod postgres;
mod support;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use figaro_config::StoreUrl;
use figaro_offline::Runtime;
use figaro_offline::model::{ModelReply, ModelRequest, OfflineModel};
use figaro_offline::telegram::{OfflineTelegram, Person, TelegramOptions};

use postgres::PostgresServer;
use support::{OWNER, Sizes, children, cpu_time_of_all, listener};

/// How long the bots rest before they are looked at, and while their CPU time is counted.
const SETTLE: Duration = Duration::from_secs(10);
const REST: Duration = Duration::from_secs(30);
const WAIT: Duration = Duration::from_secs(300);

#[tokio::main]
async fn main() {
    println!("At rest, one process with a store in a folder:");
    let mut figures = Vec::new();
    for count in [1, 101] {
        figures.push(at_rest(count).await);
    }
    let per_bot = (figures[1].0 - figures[0].0) / 100.0;
    println!(
        "  a further bot: PSS {per_bot:.2} MB; CPU of 100: {:.2} % of a core",
        figures[1].1 - figures[0].1
    );
    let Some(server) = PostgresServer::start("on") else { return };
    println!("400 bots, 10 questions each at once, PostgreSQL:");
    for processes in [1, 2, 4] {
        throughput(&server, processes).await;
    }
}

/// Bots of one Telegram, and the files of a process for them.
struct World {
    bots: Vec<OfflineTelegram>,
    model: OfflineModel,
    runtime: Runtime,
}

impl World {
    async fn of(count: usize) -> Self {
        let runtime = Runtime::system();
        let options = (0..count).map(|number| TelegramOptions {
            token: format!("{}:offline", 7_000_000_001 + number),
            username: format!("bot{number}_bot"),
            ..TelegramOptions::default()
        });
        let bots = OfflineTelegram::start_many(listener().await, options.collect(), &runtime).unwrap();
        for bot in &bots {
            bot.add_user(Person::new(OWNER, "Ann").language("en"));
            bot.add_private(OWNER).unwrap();
        }
        let brain = |_: &ModelRequest| ModelReply::text("Here.");
        let model = OfflineModel::start(listener().await, Arc::new(brain), &runtime).unwrap();
        Self { bots, model, runtime }
    }

    fn start(&self, folder: &Path, store: &str) -> Process {
        let line = |number| format!("bot{number}: {{token: TOKEN_{number}}}\n");
        std::fs::write(folder.join("bots.yaml"), (0..self.bots.len()).map(line).collect::<String>()).unwrap();
        let tokens = self.bots.iter().enumerate();
        let log = std::fs::File::create(folder.join("log")).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_figaro"))
            .current_dir(folder)
            .env_clear()
            .envs([
                ("TELEGRAM_API_URL", self.bots[0].url()),
                ("TELEGRAM_RATES", "off"),
                ("OPENAI_API_KEY", "sk-offline-key"),
                ("OPENAI_BASE_URL", self.model.url()),
                ("MCP_HTTP_PORT", "0"),
                ("OWNER_IDS", "11"),
                ("SESSION_NAMES", "off"),
                ("SUMMARY_EVERY", "0"),
                ("MEMORY_LIMIT", "0"),
                ("STORE_URL", store),
            ])
            .envs(tokens.map(|(number, bot)| (format!("TOKEN_{number}"), bot.token().to_owned())))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        Process(child)
    }

    /// The owner asks every bot.
    fn asks_all(&self, words: &str) {
        for bot in &self.bots {
            bot.say(OWNER, OWNER, words).unwrap();
        }
    }

    /// Waits until every bot has answered so often.
    async fn answered(&self, times: usize) {
        for bot in &self.bots {
            let found = bot.wait_until(WAIT, |view| (view.bot_messages(OWNER).len() >= times).then_some(()));
            found.await.expect("a bot does not answer");
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.runtime.stop();
    }
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Returns the memory in MB and the CPU time in percent of a core, of the process and its child.
async fn at_rest(count: usize) -> (f64, f64) {
    let (world, folder) =
        (World::of(count).await, tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    let process = world.start(folder.path(), "redb:./data");
    let pid = process.0.id();
    // The last bot to be ready answers a question; the others have heard nothing yet.
    world.asks_all("Are you there?");
    world.answered(1).await;
    tokio::time::sleep(SETTLE).await;
    let pss = Sizes::of(pid).pss + children(pid).into_iter().map(|child| Sizes::of(child).pss).sum::<f64>();
    let before = cpu_time_of_all(pid);
    tokio::time::sleep(REST).await;
    let cpu = (cpu_time_of_all(pid) - before).as_secs_f64() / REST.as_secs_f64() * 100.0;
    println!("  {count:>4} bots: PSS of both processes {pss:>6.1} MB, CPU {cpu:.2} % of a core");
    (pss, cpu)
}

async fn throughput(server: &PostgresServer, processes: usize) {
    let (world, database) = (World::of(400).await, server.database());
    let StoreUrl::Database(url) = server.url(&database) else { return };
    let folders: Vec<_> =
        (0..processes).map(|_| tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()).collect();
    let _running: Vec<Process> =
        folders.iter().map(|folder| world.start(folder.path(), url.exposed())).collect();
    world.asks_all("Are you there?");
    world.answered(1).await;
    // Bots that moved between the processes have settled.
    tokio::time::sleep(SETTLE).await;
    let began = Instant::now();
    for round in 0..10 {
        world.asks_all("And now?");
        world.answered(2 + round).await;
    }
    let per_second = 4_000.0 / began.elapsed().as_secs_f64();
    println!("  {processes} processes: {per_second:.0} answers a second");
}
