//! The turns over HTTP of which nothing is kept.

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

/// Runs each turn by stages of its own, over a store in memory that goes with them: no turn can see the words of another, and
/// there is nothing to be cleared.
#[derive(Debug)]
pub(super) struct StatelessTurns {
    /// What the stages are built of, but for the store.
    base: Base,
    ledger: Arc<Ledger>,
    hub: Hub,
    owners: Arc<dyn Owners>,
    servers: ServerTools,
}

impl StatelessTurns {
    /// Turns that are run with what this base has, but for its store.
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

    /// The stages of one turn.
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

/// The settings of turns beside which nothing works in the background.
fn without_background(settings: &Settings) -> Settings {
    let limits =
        LimitSettings { names_sessions: false, summary_every: 0, memory_limit: 0, ..settings.limits.clone() };
    Settings { limits, ..settings.clone() }
}
