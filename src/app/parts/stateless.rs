//! Turns that keep nothing: of questions over HTTP without a session, from chats that the bot is no member of, and drafts of
//! replies to customers.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::base::Base;
use super::tools::alone;
use super::turns::{Background, TurnParts, turns};
use figaro_agent::delivery::{Bus, Delivery, Owners};
use figaro_agent::tools::servers::ServerTools;
use figaro_agent::turn::control::Control;
use figaro_agent::turn::pipeline::Turns;
use figaro_agent::turn::queue::{Job, Runner};
use figaro_base::ids::ChatId;
use figaro_config::{LimitSettings, Settings};
use figaro_domain::chat::ConfigPatch;
use figaro_ledger::Ledger;
use figaro_store::{Store, StoreError};

/// Makes the delivery of a turn from its dependencies, and the bus for its events.
type TurnChannel = dyn Fn(&Base) -> (Arc<dyn Delivery>, Bus) + Send + Sync;

/// Runs each turn with its own stages over its own in-memory store. No turn sees another's text, and there is nothing to
/// clear.
pub(super) struct StatelessTurns {
    /// Dependencies of the stages. Of the store, only the settings of the chat are used.
    base: Base,
    ledger: Arc<Ledger>,
    channel: Box<TurnChannel>,
    owners: Arc<dyn Owners>,
    servers: ServerTools,
}

impl StatelessTurns {
    /// Creates stateless turns from a base.
    pub(super) fn new(
        base: &Base,
        ledger: Arc<Ledger>,
        channel: impl Fn(&Base) -> (Arc<dyn Delivery>, Bus) + Send + Sync + 'static,
        owners: Arc<dyn Owners>,
        servers: ServerTools,
    ) -> Self {
        let base = Base { settings: Arc::new(without_background(&base.settings)), ..base.clone() };
        Self { base, ledger, channel: Box::new(channel), owners, servers }
    }

    /// Builds the stages of one turn, with a new store.
    fn turns(&self, store: Store) -> Turns {
        let (base, ledger) = (self.base.over(store), &self.ledger);
        let (delivery, bus) = (self.channel)(&base);
        let parts = TurnParts {
            delivery,
            owners: self.owners.clone(),
            tools: Arc::new(alone(&base, ledger)),
            servers: self.servers.clone(),
            background: Background::of(&base, ledger, &bus),
            bus,
        };
        turns(&base, ledger.clone(), parts)
    }
}

#[async_trait]
impl Runner for StatelessTurns {
    async fn run(&self, job: Job, control: Control) -> Option<Job> {
        let store = Store::in_memory(self.base.settings.telegram.bot);
        if let Some(chat) = job.place().map(|place| place.chat).filter(|chat| !chat.is_external())
            && let Err(error) = self.carry_settings(chat, &store, job.is_draft()).await
        {
            tracing::warn!(%error, label = error.label(), %chat, "settings cannot be read; those of a new chat hold");
        }
        self.turns(store).run(job, control).await
    }
}

impl StatelessTurns {
    /// Copies the settings of a chat that show nothing private: not its instructions, and no persona of its own. How the bot
    /// answers its person is nothing for a draft, which somebody else reads.
    async fn carry_settings(&self, chat: ChatId, store: &Store, is_draft: bool) -> Result<(), StoreError> {
        let config = self.base.store.settings().chat_config(chat)?;
        let neutral = ConfigPatch {
            timezone: Some(config.timezone),
            model: Some(config.model),
            settings: Some(config.settings),
            ..ConfigPatch::default()
        };
        let carried = match is_draft {
            true => neutral,
            false => ConfigPatch {
                language: Some(config.language),
                personality: Some(config.personality),
                agent: Some(config.agent),
                persona: Some(config.persona),
                ..neutral
            },
        };
        store.settings().change_chat_config(chat, carried).await.map(drop)
    }
}

impl fmt::Debug for StatelessTurns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatelessTurns").finish_non_exhaustive()
    }
}

/// Returns the settings of turns without background work.
fn without_background(settings: &Settings) -> Settings {
    let limits =
        LimitSettings { names_sessions: false, summary_every: 0, memory_limit: 0, ..settings.limits.clone() };
    Settings { limits, ..settings.clone() }
}
