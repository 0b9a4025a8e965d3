//! The command line: what `figaro` can be asked to do.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::mcp::locate::SUBCOMMAND;

/// A self-hosted AI agent that lives in Telegram.
///
/// Without a command it runs the bot. It is set up by environment variables or a file .env in this folder; see
/// .env.example for all of them. TELEGRAM_BOT_TOKEN and OPENAI_API_KEY are enough to begin.
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
        #[arg(long, default_value_t = 0)]
        port: u16,
        /// Keep what is said in this folder and go on with it next time; without it everything is gone at the end.
        #[arg(long)]
        store: Option<PathBuf>,
    },
    /// Check settings, token, model and store, without starting the bot.
    Check,
    /// Be the Telegram MCP server, which the bot starts as a process of its own.
    #[command(name = SUBCOMMAND, hide = true)]
    McpServer,
}
