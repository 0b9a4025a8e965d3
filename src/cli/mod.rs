//! The command line: what `figaro` can be asked to do.

pub mod exit;
mod help;
mod shell;
mod subcommands;
mod values;

use std::net::IpAddr;
use std::path::PathBuf;

use chrono::NaiveDate;
use clap::{Parser, Subcommand};
use clap_complete::Shell;

use figaro_config::StoreUrl;
use figaro_domain::model::ModelName;
use figaro_mcp_client::locate::SUBCOMMAND;

pub use help::command;
pub use shell::{print_completions, write_man_pages};
pub use subcommands::{
    AgentsSubcommand, AuditSubcommand, McpSubcommand, MemorySubcommand, PacksSubcommand, PolicySubcommand,
    StoreSubcommand,
};
pub use values::{NamedChat, Only};
use values::{day, number, session};

/// How a question is asked in the terminal.
const ASK_EXAMPLES: &str = "Examples:
  figaro ask \"What is 17 percent of 2,350?\"
  figaro ask \"Is it going to rain in Riga today?\" --agent researcher
  figaro ask - --model PROVIDER:MODEL < question.txt
  figaro ask \"And in June?\" --session travel
  figaro ask \"Which papers cite this?\" --json | jq -r 'select(.event == \"done\").text'";

/// A self-hosted AI agent that lives in Telegram.
///
/// Without a command it runs the bot of this folder. `figaro init` asks for its settings and writes them into the file .env
/// here; `figaro demo` needs none. Environment variables override the file.
#[derive(Debug, Parser)]
#[command(name = "figaro", version, max_term_width = 100)]
pub struct Cli {
    /// Command to carry out; without one the bot runs.
    #[command(subcommand)]
    pub command: Option<CliCommand>,
}

/// Commands of the program.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Try the bot in the browser: no account, no key, no network.
    ///
    /// Starts an offline Telegram with a chat page, and an offline model unless a model is chosen by
    /// OPENAI_API_KEY or LLM_PROVIDER. It says which model answers and what leaves this machine.
    Demo {
        /// Port of the chat page; 0 takes a free one.
        #[arg(long, default_value_t = 0, value_parser = number::<u16>(0..=65_535), allow_negative_numbers = true)]
        port: u16,
        /// Address of the chat page. The link has a key if other machines can reach the address, such as 0.0.0.0.
        #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
        bind: IpAddr,
        /// Store the conversations in this folder and continue them next time; without it everything is gone at the end.
        #[arg(long)]
        store: Option<PathBuf>,
        /// The offline model's pause before each word, in milliseconds: 0 shows an answer at once.
        #[arg(long, value_name = "MILLISECONDS", default_value_t = 25, value_parser = number::<u16>(0..=65_535), allow_negative_numbers = true)]
        word_pause: u16,
    },
    /// Set the bot up: ask for what it needs, check each answer, and write it into the file .env of this folder.
    ///
    /// It asks for the token of the bot, for the service that runs the model and its key, for a model, for the time zone, and for a
    /// cap on what models may cost. Other lines of the file stay as they are. It does not ask for what the environment sets,
    /// which overrides the file. At the end it offers to start the bot, or shows a link that makes you its owner.
    Init,
    /// Check settings, store, token and models, and name the next step. Starts and changes nothing.
    Check,
    /// Check everything, and say what the log of the last day tells and what to do about it.
    ///
    /// The log is systemd's journal, unless --log names another one. docker compose logs --no-color figaro | figaro doctor --log -
    /// reads that of a container.
    Doctor {
        /// The log; `-` reads from standard input.
        #[arg(long, value_name = "FILE")]
        log: Option<PathBuf>,
    },
    /// List the bots of the file bots.yaml with their state.
    Bots {
        /// Print a line of JSON for each bot.
        #[arg(long)]
        json: bool,
    },
    /// Health check of a container: the exit code says if the bot of this folder runs.
    ///
    /// It asks /healthz at METRICS_ADDR or HTTP_ADDR if one of them is set; otherwise it looks whether a process has the store
    /// open. It asks neither Telegram nor a model.
    Healthcheck,
    /// Ask a question in the terminal and print the answer as it comes: no Telegram, no token.
    ///
    /// The answer goes to standard output, tool calls go to standard error. Nothing is stored without --session. With
    /// --session the conversation is in the store of STORE_URL; stop the bot first, because only one process can open
    /// a store. The exit code is 0 with an answer, 1 without one, 2 if you have to correct something first, and 3 if
    /// the answer was cut. docs/ask.md explains the events
    /// of --json.
    #[command(after_help = ASK_EXAMPLES)]
    Ask {
        /// The question; `-`, or none at all, reads it from standard input.
        question: Option<String>,
        /// The agent that answers, by the name of its file in prompts/agents; else Figaro itself.
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// The model that answers, as provider:model; else that of the agent or of the settings.
        #[arg(long, value_name = "PROVIDER:MODEL")]
        model: Option<ModelName>,
        /// Continue the conversation of this name, and store it.
        #[arg(long, value_name = "NAME", value_parser = session)]
        session: Option<String>,
        /// Test an agent: the question has no history, no memory is used or stored, and no later call sees it.
        #[arg(long)]
        eval: bool,
        /// Print events, a line of JSON each.
        #[arg(long)]
        json: bool,
    },
    /// Copy, check or compact the store of a stopped bot.
    #[command(subcommand)]
    Store(StoreSubcommand),
    /// Write the whole store of a stopped bot into a file, as lines of JSON.
    ///
    /// Stop the bot first. If the export is interrupted, run the same command again: it continues. The file has all
    /// messages: keep it as safe as the store.
    Export {
        /// The file; `-` writes to standard output.
        to: PathBuf,
        /// The store, as redb:FOLDER, sled:FOLDER or postgres://…; else that of STORE_URL.
        #[arg(long)]
        store: Option<StoreUrl>,
    },
    /// Make a new store of an export.
    ///
    /// An import that was cut short goes on where it stopped when the same command is run again. No bot opens the store before
    /// all is there and was compared with the export.
    Import {
        /// The file; `-` reads from standard input.
        from: PathBuf,
        /// The store, as redb:FOLDER, sled:FOLDER or postgres://…; else that of STORE_URL. There must be none yet.
        #[arg(long)]
        store: Option<StoreUrl>,
    },
    /// Write the whole store into a compressed file, also while the bot runs.
    ///
    /// The file shows the store at one moment, and replaces a file of that name once it is whole. Settings and other files of
    /// yours are not in it. `age-keygen -o key.txt` makes a key for an encrypted backup.
    Backup {
        /// The file, such as figaro.backup; `-` writes to standard output.
        to: PathBuf,
        /// Encrypt the backup for this recipient of age, age1…; repeat it for several. Else for those of BACKUP_RECIPIENT.
        #[arg(long = "recipient", value_name = "RECIPIENT")]
        recipients: Vec<String>,
        /// The store, as redb:FOLDER, sled:FOLDER or postgres://…; else that of STORE_URL.
        #[arg(long)]
        store: Option<StoreUrl>,
    },
    /// Make a new store of a backup, of any engine.
    ///
    /// If it is interrupted, run the same command again: it continues. No bot opens the store before all of it is there and was
    /// compared with the backup.
    Restore {
        /// The file; `-` reads from standard input.
        from: PathBuf,
        /// File with the key of an encrypted backup, as age-keygen makes it.
        #[arg(long, value_name = "FILE")]
        identity: Option<PathBuf>,
        /// The store, as redb:FOLDER, sled:FOLDER or postgres://…; else that of STORE_URL. There must be none yet.
        #[arg(long)]
        store: Option<StoreUrl>,
    },
    /// Open the dashboard of the running bot in a browser, and print the link. It signs its owner in, once.
    Dashboard {
        /// Name of the bot in bots.yaml, if there are several.
        bot: Option<String>,
        /// Print the link alone, and open no browser.
        #[arg(long)]
        print: bool,
        /// The store, as redb:FOLDER or sled:FOLDER; else that of STORE_URL.
        #[arg(long)]
        store: Option<StoreUrl>,
    },
    /// Read the audit log of a stopped bot: people who were let in or signed in, and calls that were allowed, asked about or refused.
    ///
    /// It has ids and names of methods and rules, never what people said. TELEGRAM_BOT_TOKEN says which bot's log it is.
    #[command(args_conflicts_with_subcommands = true)]
    Audit {
        /// Further commands for the log.
        #[command(subcommand)]
        command: Option<AuditSubcommand>,
        /// The most entries, the newest first.
        #[arg(long, default_value_t = 50, value_parser = number::<usize>(1..=1_000_000), allow_negative_numbers = true)]
        limit: usize,
        /// Only entries of this day (UTC) and later, as 2026-12-31.
        #[arg(long, value_name = "DATE", value_parser = day)]
        since: Option<NaiveDate>,
        /// A line of JSON for each entry.
        #[arg(long)]
        json: bool,
        /// The store, as redb:FOLDER, sled:FOLDER or postgres://…; else that of STORE_URL.
        #[arg(long)]
        store: Option<StoreUrl>,
    },
    /// Measure the memory on your own conversations.
    #[command(subcommand)]
    Memory(MemorySubcommand),
    /// Check and explain the rules about what the model may do with Telegram.
    #[command(subcommand)]
    Policy(PolicySubcommand),
    /// Check the files of agents, or print the schema of one.
    #[command(subcommand)]
    Agents(AgentsSubcommand),
    /// Check the files of context packs, or print the schema of one.
    #[command(subcommand)]
    Packs(PacksSubcommand),
    /// Check the file of other MCP servers, whose tools agents can have.
    #[command(subcommand)]
    Mcp(McpSubcommand),
    /// Print completions for your shell.
    ///
    /// For bash, put this line into ~/.bashrc: source <(figaro completions bash)
    Completions {
        /// Shell that reads the completions.
        shell: Shell,
    },
    /// Write the man pages into a folder, for packages.
    #[command(hide = true)]
    Man {
        /// Folder for the pages, which must exist.
        folder: PathBuf,
    },
    /// Be the Telegram MCP server, which the bot starts as a process of its own.
    #[command(name = SUBCOMMAND, hide = true)]
    McpServer,
}
