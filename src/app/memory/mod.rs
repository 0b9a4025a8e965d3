//! `figaro memory`: measures what the memory of chats finds, on conversations from anywhere, through the code that the bot runs.
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

/// What is measured.
#[derive(Debug)]
pub enum MemoryTask {
    /// Add conversations to a store.
    Import {
        /// The store.
        store: StoreUrl,
        /// A file with a conversation on each line; `-` for standard input.
        from: PathBuf,
    },
    /// Print what a request would carry for questions.
    Recall {
        /// The store.
        store: StoreUrl,
        /// Which questions.
        questions: Questions,
        /// How the context is made and printed.
        options: RecallOptions,
    },
    /// Print what there is.
    Stats {
        /// The store.
        store: StoreUrl,
        /// As JSON in place of words.
        json: bool,
    },
}

/// Does what is asked for and prints what came of it.
///
/// # Errors
/// Why it could not be done, in words for whoever asked.
pub async fn memory(task: MemoryTask, variables: &HashMap<String, String>) -> Result<(), StartupError> {
    // A token begins with the bot's number. Conversations from elsewhere need no bot.
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
