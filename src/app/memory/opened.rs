//! What `figaro memory` works with: a store, and how it is asked.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::super::additions::Additions;
use super::super::embedder::{EmbedderParts, embedder};
use super::super::environment::{http_client, place_fault};
use super::super::failure::StartupError;
use super::super::providers::table;
use figaro_base::clock::Clock;
use figaro_base::ids::{BotId, UserId};
use figaro_base::shutdown::TaskTracker;
use figaro_config::{MemorySettings, StoreUrl};
use figaro_domain::model::ModelName;
use figaro_ledger::{Ledger, LedgerParts, Slots};
use figaro_memory::{Chats, Meaning};
use figaro_policy::budget::Caps;
use figaro_provider::models::Models;
use figaro_provider::price::Prices;
use figaro_store::Store;
use figaro_store::engine;

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
    pub(super) store: Store,
    pub(super) chats: Chats,
    pub(super) clock: Clock,
    /// Tracks what goes on beside the task.
    pub(super) background: TaskTracker,
}

impl Opened {
    /// Has what is asked also found by what it means, if the variables name an embedder. What a service is asked for counts
    /// to the caps of the day.
    pub(super) async fn add_meaning(
        &mut self,
        variables: &HashMap<String, String>,
    ) -> Result<(), StartupError> {
        let providers = table(&Additions::default())?;
        let read = MemorySettings::read(variables, &providers.variables());
        let settings = read.map_err(|faults| StartupError(faults.to_string()))?;
        let http = http_client(&settings.proxies)?;
        let wanted = EmbedderParts {
            settings: &settings.embedder,
            idle_timeout: settings.idle_timeout,
            providers: &providers,
            http: &http,
            clock: self.clock.clone(),
            background: self.background.clone(),
        };
        let Some(embedder) = embedder(wanted).await? else { return Ok(()) };
        // No model answers here.
        let none = ModelName { provider: String::new(), model: String::new() };
        let parts = LedgerParts {
            models: Arc::new(Models::new(Vec::new(), none, Vec::new())),
            store: self.store.usage(),
            prices: Prices::new(settings.spending.prices.clone()),
            caps: Caps::from(&settings.spending),
            // Whoever makes them by hand waits for them.
            background_percent: 100,
            zone: settings.timezone,
            clock: self.clock.clone(),
            background: self.background.clone(),
            slots: Slots::default(),
        };
        let ledger = Ledger::open(parts).await.map_err(|error| StartupError(error.to_string()))?;
        let meaning = Meaning::new(embedder, ledger, self.clock.clone());
        self.chats = self.chats.clone().with_meaning(Some(meaning));
        Ok(())
    }
}

/// Nobody asks who is known: what a service is asked for is booked on a person of no number.
pub(super) fn nobody() -> UserId {
    UserId::telegram(0)
}

/// Opens a store; one that is not there is made only where that is wanted.
pub(super) async fn open(url: &StoreUrl, bot: BotId, may_make: bool) -> Result<Opened, StartupError> {
    let url = engine::found(url);
    if !may_make && !engine::has_store(&url) {
        return Err(StartupError(format!("there is no store {url}: import conversations into it first")));
    }
    if let Some(fault) = place_fault(&url) {
        return Err(StartupError(format!("{fault} by --store")));
    }
    let store = Store::open(&url, bot).await.map_err(|error| StartupError(error.to_string()))?;
    let clock = Clock::system();
    let chats = Chats::new(store.messages(), clock.clone());
    Ok(Opened { store, chats, clock, background: TaskTracker::new() })
}
