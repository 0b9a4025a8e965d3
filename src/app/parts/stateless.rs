//! Turns over HTTP that keep nothing.

use std::sync::Arc;

use async_trait::async_trait;

use super::base::Base;
use super::tools::alone;
use super::turns::{Background, TurnParts, turns};
use figaro_agent::delivery::{Bus, Owners};
use figaro_agent::tools::servers::ServerTools;
use figaro_agent::turn::control::Control;
use figaro_agent::turn::pipeline::Turns;
use figaro_agent::turn::queue::{Job, Runner};
use figaro_config::{LimitSettings, Settings};
use figaro_gateway::hub::{GatewayDelivery, Hub};
use figaro_ledger::Ledger;
use figaro_store::Store;

/// Runs each turn with its own stages over its own in-memory store. No turn sees another's text, and there is nothing to
/// clear.
#[derive(Debug)]
pub(super) struct StatelessTurns {
    /// Dependencies of the stages, except the store.
    base: Base,
    ledger: Arc<Ledger>,
    hub: Hub,
    owners: Arc<dyn Owners>,
    servers: ServerTools,
}

impl StatelessTurns {
    /// Creates stateless turns from a base; its store is not used.
    pub(super) fn new(
        base: &Base,
        ledger: Arc<Ledger>,
        hub: Hub,
        owners: Arc<dyn Owners>,
        servers: ServerTools,
    ) -> Self {
        let base = Base { settings: Arc::new(without_background(&base.settings)), ..base.clone() };
        Self { base, ledger, hub, owners, servers }
    }

    /// Builds the stages of one turn, with a new store.
    fn turns(&self) -> Turns {
        let store = Store::in_memory(self.base.settings.telegram.bot);
        let (base, ledger, hub) = (self.base.over(store), &self.ledger, self.hub.clone());
        let bus = Bus::new(vec![Arc::new(hub.clone())]);
        let delivery = GatewayDelivery { hub, outbox: base.store.outbox(), clock: base.clock.clone() };
        let parts = TurnParts {
            delivery: Arc::new(delivery),
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
        self.turns().run(job, control).await
    }
}

/// Returns the settings of turns without background work.
fn without_background(settings: &Settings) -> Settings {
    let limits =
        LimitSettings { names_sessions: false, summary_every: 0, memory_limit: 0, ..settings.limits.clone() };
    Settings { limits, ..settings.clone() }
}
