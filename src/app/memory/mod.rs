//! `figaro memory`: measures the retrieval of chat memory on imported conversations, with the code of the bot.
//! `docs/memory.md` explains the formats.

mod conversation;
mod import;
mod opened;
mod recall;
mod stats;

use std::collections::HashMap;
use std::path::PathBuf;

use self::opened::open;
pub use self::opened::{Questions, RecallOptions};
use super::failure::StartupError;
use figaro_base::ids::BotId;
use figaro_config::StoreUrl;

/// Subcommand of `figaro memory`.
#[derive(Debug)]
pub enum MemoryTask {
    /// Import conversations into a store; create it if missing.
    Import {
        /// URL of the store.
        store: StoreUrl,
        /// File with one conversation per line; `-` for standard input.
        from: PathBuf,
    },
    /// Print the context that a request would carry for each question.
    Recall {
        /// URL of the store.
        store: StoreUrl,
        /// Questions to retrieve a context for.
        questions: Questions,
        /// Options of retrieval and output.
        options: RecallOptions,
    },
    /// Print sizes of the store and of its indexes.
    Stats {
        /// URL of the store.
        store: StoreUrl,
        /// `true` to print JSON instead of text.
        json: bool,
    },
}

/// Runs the subcommand and prints its result.
///
/// # Errors
/// Reason of the failure, in words for the user.
pub async fn memory(task: MemoryTask, variables: &HashMap<String, String>) -> Result<(), StartupError> {
    // A token begins with the bot's id. Imported conversations need no bot.
    let token = variables.get("TELEGRAM_BOT_TOKEN").and_then(|token| token.split(':').next()?.parse().ok());
    let bot = BotId(token.unwrap_or(0));
    match task {
        MemoryTask::Import { store, from } => import::import(&open(&store, bot, true).await?, &from).await,
        MemoryTask::Recall { store, questions, options } => {
            let mut opened = open(&store, bot, false).await?;
            opened.add_meaning(variables).await?;
            recall::recall(&opened, questions, options).await
        }
        MemoryTask::Stats { store, json } => stats::stats(&open(&store, bot, false).await?, json).await,
    }
}
