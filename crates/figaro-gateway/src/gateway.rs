//! What the handlers of the gateway work with.

use std::sync::Arc;

use axum::extract::FromRef;

use super::caller::Known;
use super::error::ApiError;
use super::hub::Hub;
use super::metrics::Meters;
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

/// What the handlers work with. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Gateway {
    /// The callers that there are.
    pub known: Arc<Known>,
    /// The turns that can be followed.
    pub hub: Hub,
    /// The queues of conversations.
    pub mailboxes: Mailboxes,
    /// Agents and personas.
    pub prompts: Arc<Prompts>,
    /// The agents that answer to names of models which clients have built in.
    pub aliases: Arc<ModelAliases>,
    /// The way to the models.
    pub ledger: Arc<Ledger>,
    /// Whether something is remembered of people.
    pub remembers: bool,
    /// The store of the bot.
    pub store: Store,
    /// Erases what callers want forgotten.
    pub eraser: Eraser,
    /// Makes summaries that callers ask for.
    pub summariser: Summariser,
    /// Counts what happens.
    pub meters: Arc<Meters>,
    /// When the bot started.
    pub vitals: Arc<Vitals>,
    /// Gives the current time.
    pub clock: Clock,
    /// Whether the bot is about to end.
    pub background: TaskTracker,
}

impl Gateway {
    /// The same refusal, with the time when the bot's own budget is new where that is why.
    pub(super) fn dated(&self, error: ApiError) -> ApiError {
        let resets_at = || (self.ledger.resets_at().0.to_utc() - self.clock.now()).to_std().ok();
        match error.retry_after {
            None if error.code == "insufficient_quota" => ApiError { retry_after: resets_at(), ..error },
            _ => error,
        }
    }
}

impl FromRef<Gateway> for Arc<Known> {
    fn from_ref(gateway: &Gateway) -> Self {
        gateway.known.clone()
    }
}
