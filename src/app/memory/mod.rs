//! `figaro memory`: measures what the memory of chats finds, on conversations from anywhere, through the code that the bot runs.
//! `docs/memory.md` explains the formats.

mod conversation;
mod import;
mod recall;
mod stats;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::failure::Refusal;
use crate::clock::Clock;
use crate::config::StoreUrl;
use crate::ids::BotId;
use crate::memory::Chats;
use crate::store::engine;
use crate::store::kv::KvStore;

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

/// The questions that a context is made for.
#[derive(Debug)]
pub enum Questions {
    /// A file with a question on each line; `-` for standard input.
    Batch(PathBuf),
    /// One question.
    One {
        /// The conversation as it was named when it was imported, or the number of a chat.
        conversation: String,
        /// Its words.
        question: String,
    },
}

/// How a context is made and printed.
#[derive(Debug, Clone, Copy)]
pub struct RecallOptions {
    /// The most tokens of a context.
    pub budget: usize,
    /// The part of it for the newest messages, from 0 to 1; `None` for what the bot gives them.
    pub recent: Option<f64>,
    /// Leave out the newest messages.
    pub only_retrieved: bool,
    /// A line of JSON for each question in place of its context.
    pub json: bool,
}

/// What every task works with.
struct Opened {
    store: Arc<KvStore>,
    chats: Chats,
    clock: Clock,
}

/// Does what is asked for and prints what came of it.
///
/// # Errors
/// Why it could not be done, in words for whoever asked.
pub async fn memory(task: MemoryTask, variables: &HashMap<String, String>) -> Result<(), Refusal> {
    // A token begins with the bot's number. Conversations from elsewhere need no bot.
    let token = variables.get("TELEGRAM_BOT_TOKEN").and_then(|token| token.split(':').next()?.parse().ok());
    let bot = BotId(token.unwrap_or(0));
    match task {
        MemoryTask::Import { store, from } => import::import(&open(&store, bot, true).await?, &from).await,
        MemoryTask::Recall { store, questions, options } => {
            recall::recall(&open(&store, bot, false).await?, questions, options).await
        }
        MemoryTask::Stats { store, json } => stats::stats(&open(&store, bot, false).await?, json).await,
    }
}

async fn open(url: &StoreUrl, bot: BotId, may_make: bool) -> Result<Opened, Refusal> {
    let url = engine::found(url);
    if !may_make && !engine::has_store(&url) {
        return Err(Refusal(format!("there is no store {url}: import conversations into it first")));
    }
    let store = KvStore::open(&url, bot).await.map_err(|error| Refusal(error.to_string()))?;
    let (store, clock) = (Arc::new(store), Clock::system());
    let chats = Chats::new(store.clone(), clock.clone());
    Ok(Opened { store, chats, clock })
}
