//! What `figaro memory` works with: a store, and how it is asked.

use std::path::PathBuf;
use std::sync::Arc;

use super::super::failure::Refusal;
use crate::clock::Clock;
use crate::config::StoreUrl;
use crate::ids::BotId;
use crate::memory::Chats;
use crate::store::engine;
use crate::store::kv::KvStore;

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
pub(super) struct Opened {
    pub(super) store: Arc<KvStore>,
    pub(super) chats: Chats,
    pub(super) clock: Clock,
}

/// Opens a store; one that is not there is made only where that is wanted.
pub(super) async fn open(url: &StoreUrl, bot: BotId, may_make: bool) -> Result<Opened, Refusal> {
    let url = engine::found(url);
    if !may_make && !engine::has_store(&url) {
        return Err(Refusal(format!("there is no store {url}: import conversations into it first")));
    }
    let store = KvStore::open(&url, bot).await.map_err(|error| Refusal(error.to_string()))?;
    let (store, clock) = (Arc::new(store), Clock::system());
    let chats = Chats::new(store.clone(), clock.clone());
    Ok(Opened { store, chats, clock })
}
