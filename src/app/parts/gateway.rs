//! HTTP gateway: its turns and its server.

use std::sync::Arc;

use async_trait::async_trait;

use super::background::namer;
use super::base::Base;
use super::handles::eraser;
use super::stateless::StatelessTurns;
use super::tools::without_chat;
use super::turns::{Background, TurnParts, turns};
use crate::app::door::{Door, GATEWAY};
use crate::app::failure::StartupError;
use figaro_agent::delivery::{Bus, Owners};
use figaro_agent::tools::servers::ServerTools;
use figaro_agent::turn::control::Control;
use figaro_agent::turn::extraction::Extractor;
use figaro_agent::turn::pipeline::Turns;
use figaro_agent::turn::queue::{Job, Mailboxes, Runner};
use figaro_agent::turn::summaries::Summariser;
use figaro_base::shutdown::TaskTracker;
use figaro_config::{AccessMode, AccessSettings, Settings};
use figaro_dashboard::DashboardParts;
use figaro_gateway::caller::KnownCallers;
use figaro_gateway::counters::BotCounters;
use figaro_gateway::gateway::Gateway;
use figaro_gateway::hub::{GatewayDelivery, GatewayRunner, Hub};
use figaro_gateway::{router, unanswered};
use figaro_ledger::Ledger;
use figaro_telegram::webhook::Webhook;

/// Runs jobs by the place of their answer: a chat of the bot, another chat, or the gateway.
#[derive(Debug)]
pub(super) struct ByPlace {
    pub(super) telegram: Turns,
    pub(super) gateway: Option<Arc<dyn Runner>>,
    /// Runs questions from chats that the bot is no member of.
    pub(super) inline: Arc<dyn Runner>,
    /// Drafts replies to customers of connected accounts.
    pub(super) drafts: Arc<dyn Runner>,
}

#[async_trait]
impl Runner for ByPlace {
    async fn run(&self, job: Job, control: Control) -> Option<Job> {
        if job.is_inline() {
            return self.inline.run(job, control).await;
        }
        if job.is_draft() {
            return self.drafts.run(job, control).await;
        }
        match job.place().filter(|place| place.chat.is_external()) {
            None => self.telegram.run(job, control).await,
            Some(_) => self.gateway.as_ref()?.run(job, control).await,
        }
    }
}

pub(super) struct GatewayTurns {
    pub(super) runner: Arc<dyn Runner>,
    pub(super) hub: Hub,
    counters: BotCounters,
    summariser: Summariser,
}

/// Gateway with an open socket, ready to serve.
pub(in crate::app) struct BoundGateway {
    gateway: Gateway,
    door: Door,
    dashboard: Option<DashboardParts>,
}

/// Where the gateway is reached, and the dashboard beside it.
pub(super) struct GatewayDoor {
    pub(super) door: Option<Door>,
    /// `None` if it is off.
    pub(super) dashboard: Option<DashboardParts>,
}

/// Builds the turns of the gateway; `None` if it is off.
pub(super) fn turns_of(
    base: &Base,
    telegram: &Turns,
    ledger: &Arc<Ledger>,
    owners: Arc<dyn Owners>,
    servers: &ServerTools,
) -> Option<GatewayTurns> {
    base.settings.http.address?;
    let (hub, counters) = (Hub::default(), base.metrics.gateway());
    let bus = Bus::new(vec![Arc::new(hub.clone())]);
    let base = base.elsewhere(of_callers(&base.settings), Arc::new(hub.clone()));
    // The summariser and the extractor work for all conversations of the store.
    let background = Background {
        extractor: Extractor {
            channel: base.channel.clone(),
            bus: bus.clone(),
            ..telegram.extractor.clone()
        },
        namer: namer(&base, ledger),
        summariser: telegram.summariser.clone(),
    };
    let delivery =
        GatewayDelivery { hub: hub.clone(), outbox: base.store.outbox(), clock: base.clock.clone() };
    let parts = TurnParts {
        bus: bus.clone(),
        delivery: Arc::new(delivery),
        owners: owners.clone(),
        tools: Arc::new(without_chat(&base, ledger)),
        servers: servers.clone(),
        background,
    };
    let kept = turns(&base, ledger.clone(), parts);
    let followed = hub.clone();
    let to_followers = move |base: &Base| {
        let (hub, outbox, clock) = (followed.clone(), base.store.outbox(), base.clock.clone());
        let bus = Bus::new(vec![Arc::new(hub.clone())]);
        (Arc::new(GatewayDelivery { hub, outbox, clock }) as _, bus)
    };
    let stateless = StatelessTurns::new(&base, ledger.clone(), to_followers, owners, servers.clone());
    let runner = Arc::new(GatewayRunner {
        hub: hub.clone(),
        kept,
        store: base.store.clone(),
        eraser: eraser(&base),
        stateless: Arc::new(stateless),
        counters: counters.clone(),
    });
    Some(GatewayTurns { runner, hub, counters, summariser: telegram.summariser.clone() })
}

/// Returns the settings of turns whose access was checked before: here it is open.
pub(super) fn of_callers(settings: &Settings) -> Settings {
    let access = AccessSettings { owners: Vec::new(), mode: AccessMode::Open };
    Settings { access, ..settings.clone() }
}

impl GatewayTurns {
    /// Builds the gateway for an open socket.
    pub(super) fn with(
        self,
        base: &Base,
        ledger: &Arc<Ledger>,
        mailboxes: &Mailboxes,
        at: GatewayDoor,
    ) -> Result<BoundGateway, StartupError> {
        let GatewayDoor { door, dashboard } = at;
        let door = door.ok_or_else(|| StartupError("the HTTP gateway has no address".to_owned()))?;
        let gateway = Gateway {
            known: Arc::new(KnownCallers::new(&base.settings.http)),
            hub: self.hub,
            mailboxes: mailboxes.clone(),
            prompts: base.prompts.clone(),
            aliases: Arc::new(base.settings.http.models.clone()),
            documents: base.documents.clone(),
            ledger: ledger.clone(),
            remembers: base.settings.limits.memory_limit > 0,
            store: base.store.clone(),
            eraser: eraser(base),
            counters: self.counters,
            metrics: base.metrics.all.clone(),
            vitals: base.vitals.clone(),
            summariser: self.summariser,
            clock: base.clock.clone(),
            background: base.groups.front.clone(),
        };
        Ok(BoundGateway { gateway, door, dashboard })
    }
}

impl BoundGateway {
    /// Serves callers until a stop is requested. `name` is that of the bot among others.
    pub(in crate::app) fn serve(self, name: &str, webhook: Option<Webhook>, background: &TaskTracker) {
        let Self { gateway, door, dashboard } = self;
        unanswered(&gateway.aliases, &gateway.prompts.agents())
            .iter()
            .for_each(|words| tracing::warn!("{words}"));
        let hub = gateway.hub.clone();
        let beside = dashboard.map(figaro_dashboard::router).unwrap_or_default();
        let router = router(gateway, beside);
        let router = match webhook {
            Some(webhook) => router.merge(webhook.routes()),
            None => router,
        };
        let stopping = background.clone();
        let listener = match door {
            Door::Own(listener) => listener,
            Door::Shared(routes) => {
                let route = routes.add(name, router);
                background.spawn("gateway", async move {
                    stopping.stopping().await;
                    drop(route);
                    hub.settled().await;
                });
                return;
            }
        };
        listener.tell_address(GATEWAY);
        background.spawn("gateway", async move {
            listener.serve(router, stopping).await;
            hub.settled().await;
        });
    }
}
