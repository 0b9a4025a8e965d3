//! Open store and options of `figaro memory`.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::super::additions::Additions;
use super::super::embedder::{EmbedderParts, embedder};
use super::super::environment::{http_client, place_fault};
use super::super::failure::StartupError;
use super::super::providers::table;
use crate::app::parts::caps_of_bot;
use figaro_base::clock::Clock;
use figaro_base::ids::{BotId, UserId};
use figaro_base::shutdown::TaskTracker;
use figaro_config::{MemorySettings, StoreUrl};
use figaro_domain::model::ModelName;
use figaro_ledger::{ConfiguredLimits, Ledger, LedgerParts, RoleOf, Slots};
use figaro_memory::{Chats, Meaning};
use figaro_provider::models::Models;
use figaro_provider::price::Prices;
use figaro_store::Store;
use figaro_store::engine;

/// Questions to retrieve a context for.
#[derive(Debug)]
pub enum Questions {
    /// File with one question per line; `-` for standard input.
    Batch(PathBuf),
    /// A single question of the command line.
    One {
        /// Name of the imported conversation, or a chat id.
        conversation: String,
        /// Text of the question.
        question: String,
    },
}

/// Options of retrieval and output.
#[derive(Debug, Clone, Copy)]
pub struct RecallOptions {
    /// Maximum size of a context, in tokens.
    pub budget: usize,
    /// Share of the budget for the newest messages, from 0 to 1; `None` for the share that the bot uses.
    pub recent: Option<f64>,
    /// `true` to leave out the newest messages and print retrieved ones only.
    pub only_retrieved: bool,
    /// `true` to print one JSON line per question instead of its context.
    pub json: bool,
}

/// Dependencies of every subcommand.
pub(super) struct Opened {
    pub(super) store: Store,
    pub(super) chats: Chats,
    pub(super) clock: Clock,
    /// Tracks background work of the subcommand.
    pub(super) background: TaskTracker,
}

impl Opened {
    /// Adds search by meaning if the variables name an embedder. Calls to the service count towards the daily caps.
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
            // The user waits for the vectors, so background work may use the whole budget.
            limits: ConfiguredLimits {
                bot: caps_of_bot(&settings.spending),
                background_percent: 100,
                ..ConfiguredLimits::default()
            },
            roles: RoleOf::default(),
            zone: settings.timezone,
            clock: self.clock.clone(),
            background: self.background.clone(),
            slots: Arc::new(Slots::default()),
        };
        let ledger = Ledger::open(parts).await.map_err(|error| StartupError(error.to_string()))?;
        let meaning = Meaning::new(embedder, ledger, self.clock.clone());
        self.chats = self.chats.clone().with_meaning(Some(meaning));
        Ok(())
    }
}

/// Returns user id 0. Usage is booked on this id: no known person asks.
pub(super) fn nobody() -> UserId {
    UserId::telegram(0)
}

/// Opens a store. Creates a missing one only if `may_make` is `true`.
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
