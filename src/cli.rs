//! The command line: what `figaro` can be asked to do.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::config::StoreUrl;
use crate::mcp::locate::SUBCOMMAND;

/// A self-hosted AI agent that lives in Telegram.
///
/// Without a command it runs the bot. `figaro init` asks for what it needs and writes it into a file .env in this folder; `figaro
/// demo` needs nothing. Environment variables win over the file. .env.example of the source explains all of them;
/// TELEGRAM_BOT_TOKEN and OPENAI_API_KEY are enough to begin.
#[derive(Debug, Parser)]
#[command(name = "figaro", version, max_term_width = 100)]
pub struct Cli {
    /// What to do instead of running the bot.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What else there is to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Try the bot in the browser: no account, no key, no network.
    ///
    /// Starts an offline Telegram with a chat page, and an offline model unless a model is chosen by
    /// OPENAI_API_KEY or LLM_PROVIDER. It says which model answers and what leaves this machine.
    Demo {
        /// The port of the chat page on this machine; 0 takes a free one.
        #[arg(long, default_value_t = 0, value_parser = whole_number)]
        port: u16,
        /// Keep what is said in this folder and go on with it next time; without it everything is gone at the end.
        #[arg(long)]
        store: Option<PathBuf>,
        /// The offline model's pause before each word, in milliseconds: 0 shows an answer at once.
        #[arg(long, value_name = "MILLISECONDS", default_value_t = 25, value_parser = whole_number)]
        word_pause: u16,
    },
    /// Set the bot up: ask for what it needs, check each answer, and write it into the file .env of this folder.
    ///
    /// It asks for the token of the bot, for the service that runs the model and its key, for a model, and for the time zone. Other
    /// lines of the file stay as they are. What the environment sets is not asked for: it wins over the file. At the end it shows
    /// a link that makes you the owner of the bot.
    Init,
    /// Check settings, store, token and models, without starting the bot and without a change of anything.
    Check,
    /// Look after the store of a bot that does not run.
    #[command(subcommand)]
    Store(StoreCommand),
    /// Write all that a bot has stored into a file, as lines of JSON.
    ///
    /// The bot must not run. An export that was cut short goes on where it stopped when the same command is run again. The
    /// file holds what people said: keep it as safe as the store.
    Export {
        /// The file; `-` writes to standard output.
        to: PathBuf,
        /// The store, as redb:FOLDER or sled:FOLDER; else that of STORE_URL.
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
        /// The store, as redb:FOLDER or sled:FOLDER; else that of STORE_URL. There must be none yet.
        #[arg(long)]
        store: Option<StoreUrl>,
    },
    /// Be the Telegram MCP server, which the bot starts as a process of its own.
    #[command(name = SUBCOMMAND, hide = true)]
    McpServer,
}

/// What can be done with a store. A store that a bot has open is in use and left alone.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Copy a store into a new one, of another engine or in another folder, and compare the two.
    ///
    /// FROM stays as it is. A copy that was cut short goes on where it stopped when the same command is run again. For
    /// example: figaro store copy sled:./data redb:./data
    Copy {
        /// The store that is copied, as redb:FOLDER or sled:FOLDER.
        from: StoreUrl,
        /// Where the copy is made; there must be no store of that engine yet.
        to: StoreUrl,
    },
    /// Read all there is in a store, and say what it is and whether it is whole.
    Check {
        /// The store, as redb:FOLDER or sled:FOLDER; else that of STORE_URL.
        store: Option<StoreUrl>,
        /// Go on without what a damaged store has lost; the check says what that is, and no bot opens it before.
        #[arg(long)]
        accept_loss: bool,
    },
    /// Give the space of what was removed back to the disk.
    Compact {
        /// The store, as redb:FOLDER or sled:FOLDER; else that of STORE_URL.
        store: Option<StoreUrl>,
    },
}

/// A number of the command line.
fn whole_number(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_no_number| format!("is not a whole number from 0 to {}", u16::MAX))
}
