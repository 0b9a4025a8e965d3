//! The life of one bot among others: started, watched, and tried again after a fault of its own.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use futures::{FutureExt, Stream, stream};
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::Instrument;

use super::file::NamedBot;
use super::owners::FleetOwners;
use crate::app::additions::Additions;
use crate::app::bot_states::BotState;
use crate::app::host::Host;
use crate::app::session::{BotRun, BotStage, HostedBot, run_bot};
use crate::app::stop::StopRequests;
use figaro_base::system::panic_words;

/// Pause before a bot is tried again; doubles from the first value up to the second.
const PAUSES: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(300));
/// Time after which a bot that ran counts as sound: its next fault has the first pause again.
const SOUND: Duration = Duration::from_secs(600);

/// A bot that runs or still ends.
#[derive(Debug)]
pub(super) struct KeptBot {
    pub(super) bot: NamedBot,
    orders: watch::Sender<BotOrders>,
}

/// Orders to a bot while it lives.
#[derive(Debug, Clone, Copy)]
pub(super) struct BotOrders {
    /// Number of stop requests. The second one ends the bot at once.
    stops: usize,
    /// `true` if the bot is to run in this process, not in another one.
    is_here: bool,
}

impl KeptBot {
    /// Returns the bot, to run here or to wait, and the end at which its orders arrive.
    pub(super) fn new(bot: NamedBot, is_here: bool) -> (Self, watch::Receiver<BotOrders>) {
        let (orders, told) = watch::channel(BotOrders { stops: 0, is_here });
        (Self { bot, orders }, told)
    }

    /// Requests a stop. A second request ends the bot at once.
    pub(super) fn stop(&self) {
        self.orders.send_modify(|orders| orders.stops += 1);
    }

    /// Returns `true` once it was told to stop.
    pub(super) fn is_stopping(&self) -> bool {
        self.orders.borrow().stops > 0
    }

    /// Has the bot run here, or leaves it to other processes.
    pub(super) fn set_here(&self, is_here: bool) {
        self.orders.send_if_modified(|orders| std::mem::replace(&mut orders.is_here, is_here) != is_here);
    }
}

/// Dependencies of the lives of all bots.
pub(super) struct BotKeeper<'a> {
    pub(super) host: &'a Host,
    pub(super) owners: &'a FleetOwners,
    pub(super) additions: &'a Additions,
}

impl BotKeeper<'_> {
    /// Runs a bot until it is told to stop. A fault of its own pauses it alone.
    pub(super) async fn keep(&self, bot: &NamedBot, told: watch::Receiver<BotOrders>) {
        let span = tracing::info_span!("bot", bot = bot.name);
        self.live(bot, told).instrument(span).await;
        self.owners.remove(&bot.name);
        self.note(bot, None);
    }

    /// Notes the state of a bot here; `None` for a bot that does not run here.
    fn note(&self, bot: &NamedBot, state: Option<BotState>) {
        let is_paused = matches!(state, Some(BotState::Paused { .. }));
        self.host.probes().metrics.set_paused(&bot.name, is_paused);
        self.host.states().set(&bot.name, &bot.settings.access.owners, state);
    }

    async fn live(&self, bot: &NamedBot, mut told: watch::Receiver<BotOrders>) {
        let growing = || {
            ExponentialBuilder::new().with_min_delay(PAUSES.0).with_max_delay(PAUSES.1).without_max_times()
        };
        let mut pauses = growing().build();
        loop {
            let orders = *told.borrow_and_update();
            if orders.stops > 0 {
                return;
            }
            if !orders.is_here {
                self.note(bot, None);
                if told.changed().await.is_err() {
                    return;
                }
                continue;
            }
            self.note(bot, Some(BotState::Starting));
            let began = Instant::now();
            let ended = self.run(bot, &told).await;
            // After a panic, too.
            self.owners.remove(&bot.name);
            let Some(reason) = ended else { continue };
            let reason = reason.replace("TELEGRAM_BOT_TOKEN", bot.token_variable());
            if began.elapsed() > SOUND {
                pauses = growing().build();
            }
            let pause = pauses.next().unwrap_or(PAUSES.1);
            tracing::error!(reason, seconds = pause.as_secs(), "the bot is paused; trying again");
            self.note(bot, Some(BotState::Paused { reason }));
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = told.changed() => {}
            }
        }
    }

    /// Runs a bot once. Returns the reason if it ends by itself.
    async fn run(&self, bot: &NamedBot, told: &watch::Receiver<BotOrders>) -> Option<String> {
        let on = |stage: BotStage<'_>| match stage {
            BotStage::Runs(parts) => {
                let username = parts.router.me.username.clone();
                self.owners.add(&bot.name, parts.owners.clone());
                self.note(bot, Some(BotState::Runs { username }));
            }
            BotStage::Ends(reason) => {
                // They hold the store, which is to close.
                self.owners.remove(&bot.name);
                let paused = |reason: &str| BotState::Paused { reason: reason.to_owned() };
                self.note(bot, Some(reason.map_or(BotState::Stopping, paused)));
            }
        };
        let hosted = HostedBot { host: self.host, name: &bot.name, on: &on };
        let run = BotRun {
            settings: &bot.settings,
            host: Some(hosted),
            additions: self.additions,
            probes: self.host.probes(),
        };
        let mut stop = StopRequests::new(requests(told.clone()), false);
        // A panic of one bot leaves the others alone.
        match AssertUnwindSafe(Box::pin(run_bot(&run, &mut stop))).catch_unwind().await {
            Ok(Ok(())) => None,
            Ok(Err(failure)) => Some(failure.to_string()),
            Err(panic) => {
                let words = panic_words(&*panic).unwrap_or("no reason was given");
                Some(format!("it broke down: {words}"))
            }
        }
    }
}

/// Returns an item for each stop request. That the bot is to run elsewhere counts as the first.
fn requests(told: watch::Receiver<BotOrders>) -> impl Stream<Item = ()> + Unpin {
    let count = |orders: &BotOrders| orders.stops.max(usize::from(!orders.is_here));
    Box::pin(stream::unfold((told, 0), move |(mut told, seen)| async move {
        told.wait_for(|orders| count(orders) > seen).await.ok()?;
        Some(((), (told, seen + 1)))
    }))
}
