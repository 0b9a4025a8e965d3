//! Runs the bots of the file, each by itself, and starts and stops them as the file changes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use futures::Stream;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::sync::watch as channel;

use super::file::NamedBot;
use super::keeper::{BotKeeper, KeptBot};
use super::owners::FleetOwners;
use super::set_up::{BotList, BotsToRun};
use super::shares::ShareKeeper;
use super::watch::BotsFile;
use crate::app::additions::Additions;
use crate::app::door::{GATEWAY, door};
use crate::app::environment::no_client;
use crate::app::failure::{AppFailure, StartupError};
use crate::app::groups::{Groups, LAST_CALL, STOP_TIMEOUT};
use crate::app::host::{Host, HostParts};
use crate::app::probes::ServedProbes;
use crate::app::session::{BotRun, run_bot};
use crate::app::stop::StopRequests;
use crate::app::supervisor::notify_systemd;
use crate::app::watch::{FileWatch, News};
use figaro_base::clock::Clock;
use figaro_base::ids::BotId;
use figaro_base::secret::Redactor;
use figaro_base::telemetry::vitals::Vitals;
use figaro_gateway::probes::Probes;
use figaro_gateway::routes::BotRoutes;
use figaro_prompts::texts::Locales;

/// Runs the bots of the settings until the first of `stops`. A second one ends them without waiting for running turns.
///
/// # Errors
/// When a bot that runs alone cannot start; when what several bots share cannot be made.
pub async fn run_all(
    bots: BotsToRun,
    values: HashMap<String, String>,
    stops: impl Stream<Item = ()> + Unpin,
    additions: &Additions,
) -> Result<(), AppFailure> {
    let mut stop = StopRequests::new(stops, false);
    let redactor = bots.redactor(&values);
    let served = ServedProbes::start(&bots.shared().http).await?;
    let probes = &served.probes;
    notify_systemd(probes, &served.background);
    let ended = match bots {
        BotsToRun::One(settings) => {
            let run = BotRun { settings: &settings, host: None, additions, probes };
            Box::pin(run_bot(&run, &mut stop)).await
        }
        BotsToRun::Many(list) => {
            Box::pin(run_many(list, FleetPlan { values, redactor, additions, probes }, stop)).await
        }
    };
    served.end().await;
    ended
}

/// Dependencies of several bots.
struct FleetPlan<'a> {
    values: HashMap<String, String>,
    redactor: Redactor,
    additions: &'a Additions,
    probes: &'a Probes,
}

async fn run_many(
    list: BotList,
    plan: FleetPlan<'_>,
    mut stop: StopRequests<impl Stream<Item = ()> + Unpin>,
) -> Result<(), AppFailure> {
    let FleetPlan { values, redactor, additions, probes } = plan;
    let (groups, shared) = (Groups::default(), list.bots[0].settings.clone());
    let routes = BotRoutes::new(list.bots[0].name.clone()).map_err(|error| no_client(&error))?;
    if let Some(listener) = door(&shared.http).await? {
        listener.tell_address(GATEWAY);
        if let Ok(address) = listener.address() {
            routes.set_address(address);
        }
        groups.front.spawn("gateway", listener.serve(routes.router(), groups.front.clone()));
    }
    let routed = Some(routes.clone());
    let host =
        Host::new(HostParts { settings: &shared, redactor, groups: groups.clone(), routes: routed, probes });
    let is_shared = shared.store.url.folder().is_none();
    if is_shared {
        // A database that refuses is told at the start; one that goes away later comes back.
        host.stores().join().await.map_err(|error| StartupError(error.to_string()))?;
    }
    probes.set_ready();
    let owners = FleetOwners::default();
    let changes = watch_file(list, values, &owners, &groups);
    let sharing = is_shared.then(|| share(&host, &routes, &changes, &groups));
    let keeper = BotKeeper { host: &host, owners: &owners, additions };
    let (wanted, kept, running) = Default::default();
    let mut fleet = Fleet { keeper: &keeper, wanted, kept, running, here: is_shared.then(BTreeSet::new) };
    fleet.run(FleetOrders { changes, sharing, routes }, &mut stop).await;
    probes.set_stopping();
    groups.front.stop();
    fleet.change(Vec::new());
    let told = async {
        if is_shared && let Err(error) = host.stores().take_no_more().await {
            tracing::warn!(%error, "other processes could not be told that this one ends");
        }
    };
    let draining = async {
        tokio::join!(fleet.drained(), told);
    };
    if !stop.unless_requested(draining).await {
        fleet.hurry();
        fleet.drained().await;
    }
    groups.front.finish(STOP_TIMEOUT).await;
    groups.end_helpers(LAST_CALL).await;
    Ok(())
}

/// Starts to watch the file. Returns the bots that it names.
fn watch_file(
    list: BotList,
    values: HashMap<String, String>,
    owners: &FleetOwners,
    groups: &Groups,
) -> channel::Receiver<Vec<NamedBot>> {
    let BotList { bots, settings, text, variables } = list;
    let (wanted, changes) = channel::channel(bots);
    let files = BotsFile { file: settings.file, text: Some(text), values, variables, wanted };
    let news = News {
        owners: Arc::new(owners.clone()),
        locales: Arc::new(Locales::default()),
        vitals: Arc::new(Vitals::new(Clock::system().now())),
    };
    groups.front.spawn("bots", FileWatch::new(files, news, groups.front.clone()).run());
    changes
}

/// Starts to share out the bots among the processes of the database. Returns those to run here.
fn share(
    host: &Host,
    routes: &BotRoutes,
    changes: &channel::Receiver<Vec<NamedBot>>,
    groups: &Groups,
) -> channel::Receiver<BTreeSet<BotId>> {
    let (wanted, sharing) = channel::channel(BTreeSet::new());
    let (bots, background) = (changes.clone(), groups.front.clone());
    let (stores, routes, probes) = (host.stores().clone(), routes.clone(), host.probes().clone());
    groups.front.spawn("shares", ShareKeeper { stores, routes, probes, bots, wanted, background }.run());
    sharing
}

/// Orders to the bots of this process, as they arrive.
struct FleetOrders {
    /// Bots of the file.
    changes: channel::Receiver<Vec<NamedBot>>,
    /// Bots to run in this process; `None` for all.
    sharing: Option<channel::Receiver<BTreeSet<BotId>>>,
    routes: BotRoutes,
}

/// Waits for the next value; forever if there is none to come.
async fn next<T: Clone>(values: Option<&mut channel::Receiver<T>>) -> T {
    if let Some(values) = values
        && values.changed().await.is_ok()
    {
        return values.borrow_and_update().clone();
    }
    std::future::pending().await
}

/// The bots of this process.
struct Fleet<'a> {
    keeper: &'a BotKeeper<'a>,
    /// Bots of the file.
    wanted: Vec<NamedBot>,
    /// Bots that run or still end, by name.
    kept: HashMap<String, KeptBot>,
    /// Lives of the bots; each returns the name of its bot.
    running: FuturesUnordered<BoxFuture<'a, String>>,
    /// Bots to run in this process; `None` for all.
    here: Option<BTreeSet<BotId>>,
}

impl Fleet<'_> {
    /// Runs bots as ordered until a stop.
    async fn run(
        &mut self,
        mut orders: FleetOrders,
        stop: &mut StopRequests<impl Stream<Item = ()> + Unpin>,
    ) {
        self.change(orders.changes.borrow_and_update().clone());
        loop {
            tokio::select! {
                Some(ended) = self.running.next() => self.ended(&ended),
                bots = next(Some(&mut orders.changes)) => {
                    if let Some(first) = bots.first() {
                        orders.routes.set_first(first.name.clone());
                    }
                    self.change(bots);
                }
                here = next(orders.sharing.as_mut()) => self.share(here),
                () = stop.requested() => return,
            }
        }
    }

    /// Has these bots run from now on. A bot with other settings is started again.
    fn change(&mut self, wanted: Vec<NamedBot>) {
        for kept in self.kept.values().filter(|kept| !kept.is_stopping()) {
            if !wanted.contains(&kept.bot) {
                kept.stop();
            }
        }
        self.wanted = wanted;
        self.start_missing();
    }

    /// Starts the wanted bots that do not run. One whose name or token another bot has that still ends waits for that end.
    fn start_missing(&mut self) {
        for bot in self.wanted.clone() {
            let is_taken = |kept: &KeptBot| {
                kept.bot.name == bot.name || kept.bot.settings.telegram.bot == bot.settings.telegram.bot
            };
            if self.kept.values().any(is_taken) {
                continue;
            }
            let (kept, told) = KeptBot::new(bot.clone(), self.is_here(&bot));
            self.kept.insert(bot.name.clone(), kept);
            let keeper = self.keeper;
            self.running.push(Box::pin(async move {
                keeper.keep(&bot, told).await;
                bot.name
            }));
        }
    }

    fn is_here(&self, bot: &NamedBot) -> bool {
        self.here.as_ref().is_none_or(|here| here.contains(&bot.settings.telegram.bot))
    }

    /// Runs these bots in this process, and leaves all others to other processes.
    fn share(&mut self, here: BTreeSet<BotId>) {
        self.here = Some(here);
        self.kept.values().for_each(|kept| kept.set_here(self.is_here(&kept.bot)));
    }

    /// Takes note of a bot that has ended, and starts those that waited for that.
    fn ended(&mut self, name: &str) {
        self.kept.remove(name);
        self.start_missing();
    }

    /// Makes stopping bots end at once.
    fn hurry(&mut self) {
        self.kept.values().for_each(KeptBot::stop);
    }

    /// Waits until every bot has ended.
    async fn drained(&mut self) {
        while let Some(ended) = self.running.next().await {
            self.ended(&ended);
        }
    }
}
