//! State shared by the handlers of the gateway.

use std::sync::Arc;

use axum::extract::FromRef;

use super::caller::KnownCallers;
use super::counters::BotCounters;
use super::error::GatewayError;
use super::hub::Hub;
use super::metrics::Metrics;
use figaro_agent::documents::Documents;
use figaro_agent::eraser::Eraser;
use figaro_agent::turn::queue::Mailboxes;
use figaro_agent::turn::summaries::Summariser;
use figaro_base::clock::Clock;
use figaro_base::shutdown::TaskTracker;
use figaro_base::telemetry::vitals::Vitals;
use figaro_config::ModelAliases;
use figaro_ledger::Ledger;
use figaro_prompts::Prompts;
use figaro_store::Store;

/// State shared by the handlers. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Gateway {
    /// Keys and token settings that identify callers.
    pub known: Arc<KnownCallers>,
    /// Turns that can be followed.
    pub hub: Hub,
    /// Queues of questions by conversation.
    pub mailboxes: Mailboxes,
    /// Prompts of agents and personas.
    pub prompts: Arc<Prompts>,
    /// Agents by the model names that clients have built in (`HTTP_MODELS`).
    pub aliases: Arc<ModelAliases>,
    /// Access to the models, with their budget.
    pub ledger: Arc<Ledger>,
    /// `true` if the bot keeps memories of people.
    pub remembers: bool,
    /// Store of the bot.
    pub store: Store,
    /// Reads and stores the documents of callers.
    pub documents: Documents,
    /// Eraser of sessions and memories on a caller's request.
    pub eraser: Eraser,
    /// Maker of summaries on a caller's request.
    pub summariser: Summariser,
    /// Counters of this gateway.
    pub counters: BotCounters,
    /// Metrics of the process.
    pub metrics: Metrics,
    /// Start time of the bot, which models show as theirs.
    pub vitals: Arc<Vitals>,
    /// Source of the current time.
    pub clock: Clock,
    /// Background tasks; also tells whether the bot is stopping.
    pub background: TaskTracker,
}

impl Gateway {
    /// Says how long a used-up budget lasts.
    pub(super) fn dated(&self, error: GatewayError) -> GatewayError {
        let lasts = error.over_until.and_then(|until| (until - self.clock.now()).to_std().ok());
        GatewayError { retry_after: error.retry_after.or(lasts), ..error }
    }
}

impl FromRef<Gateway> for Arc<KnownCallers> {
    fn from_ref(gateway: &Gateway) -> Self {
        gateway.known.clone()
    }
}
