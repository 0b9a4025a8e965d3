//! The life of a bot: its parts are built, it runs until a stop or until its store fails, and everything is shut down in order.

use std::io::IsTerminal;
use std::sync::OnceLock;

use futures::Stream;
use tokio::task::spawn_blocking;
use tracing::info;

use super::additions::Additions;
use super::failure::{AppFailure, StartupError};
use super::groups::{Groups, LAST_CALL};
use super::host::Host;
use super::owner_invite;
use super::parts::{self, AppParts, BotPlan, UpdateSource};
use super::pause::Pause;
use super::providers;
use super::stop::{StopRequests, end_now};
use figaro_agent::turn::queue::Mailboxes;
use figaro_agent::turn::unfinished::end_unfinished;
use figaro_base::clock::Clock;
use figaro_config::Settings;
use figaro_gateway::probes::Probes;
use figaro_telegram::recovery::{UnfinishedWork, recover};

/// A bot to run.
pub(super) struct BotRun<'a> {
    pub(super) settings: &'a Settings,
    /// Its place among other bots of this process; `None` if it runs alone.
    pub(super) host: Option<HostedBot<'a>>,
    pub(super) additions: &'a Additions,
    /// State of the process for its supervisor.
    pub(super) probes: &'a Probes,
}

/// Place of a bot among others of this process.
pub(super) struct HostedBot<'a> {
    pub(super) host: &'a Host,
    pub(super) name: &'a str,
    /// Called with each stage of its life.
    pub(super) on: &'a (dyn Fn(BotStage<'_>) + Sync),
}

/// Stage of the life of a bot among others.
pub(super) enum BotStage<'a> {
    /// All parts are made and updates are taken in.
    Runs(&'a AppParts),
    /// Its parts begin to close, with the reason if no stop was requested.
    Ends(Option<&'a str>),
}

impl BotRun<'_> {
    fn on(&self, stage: BotStage<'_>) {
        match (&self.host, stage) {
            (Some(hosted), stage) => (hosted.on)(stage),
            (None, BotStage::Runs(_)) => self.probes.set_ready(),
            (None, BotStage::Ends(None)) => self.probes.set_stopping(),
            (None, BotStage::Ends(Some(_))) => self.probes.set_unready("the store failed"),
        }
    }
}

/// Stops the work of a bot when its life ends, however that happens.
struct StopOnDrop<'a>(&'a Groups);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.front.stop();
        self.0.back.stop();
    }
}

/// Runs a bot until a stop. If its store fails, it pauses and starts again.
///
/// # Errors
/// When the bot cannot start, also after a pause; nothing of it is left running then.
pub(super) async fn run_bot(
    bot: &BotRun<'_>,
    stop: &mut StopRequests<impl Stream<Item = ()> + Unpin>,
) -> Result<(), AppFailure> {
    let (mut pause, store) = (Pause::default(), &bot.settings.store.url);
    loop {
        match session(bot, stop, &mut pause).await {
            Ok(ExitReason::Told) => return Ok(()),
            Ok(ExitReason::StoreFailed) => {}
            // A database that is away comes back, and other bots of the process close the files that failed.
            Err(refusal) if pause.is_on() && (store.folder().is_none() || bot.host.is_some()) => {
                tracing::warn!(reason = %refusal.0, "the store cannot be opened yet");
            }
            Err(refusal) if pause.is_on() => return Err(AppFailure::Broken(refusal.0)),
            Err(refusal) => return Err(refusal.into()),
        }
        if !stop.unless_requested(pause.until_room(store.folder())).await {
            return Ok(());
        }
    }
}

enum ExitReason {
    /// A stop was requested.
    Told,
    /// The store can no longer be written.
    StoreFailed,
}

/// Runs the bot once, from the start of its parts to their end.
async fn session(
    bot: &BotRun<'_>,
    stop: &mut StopRequests<impl Stream<Item = ()> + Unpin>,
    pause: &mut Pause,
) -> Result<ExitReason, StartupError> {
    if bot.host.is_none() {
        bot.probes.set_unready("starting");
    }
    let groups = Groups::default();
    let _stopped = StopOnDrop(&groups);
    let alone;
    let host = match &bot.host {
        Some(hosted) => hosted.host,
        None => {
            alone = Host::of_one(bot.settings, groups.clone(), bot.probes);
            &alone
        }
    };
    let recovered = OnceLock::new();
    let started = tokio::select! {
        started = Box::pin(start(bot, host, &groups, &recovered)) => started,
        () = stop.requested() => Err(StartEnd::Told),
    };
    match started {
        Ok(parts) => {
            pause.end(&parts).await;
            live(bot, parts, &groups, stop, pause).await
        }
        Err(end) => {
            let closing = async {
                groups.front.stop();
                // Turns of before may go on already.
                recovered.get().map(Mailboxes::abandon);
                groups.front.finish(LAST_CALL).await;
                groups.end_helpers(LAST_CALL).await;
            };
            stop.unless_requested(closing).await;
            end.reason(pause)
        }
    }
}

/// Runs a bot that has started to its end.
async fn live(
    bot: &BotRun<'_>,
    parts: AppParts,
    groups: &Groups,
    stop: &mut StopRequests<impl Stream<Item = ()> + Unpin>,
    pause: &mut Pause,
) -> Result<ExitReason, StartupError> {
    let reason = tokio::select! {
        reason = parts.store.failed() => reason,
        () = stop.requested() => {
            bot.on(BotStage::Ends(None));
            stop.end(&parts, groups).await;
            let flushed = parts.store.flush().await;
            closed(parts).await;
            return flushed.map(|()| ExitReason::Told).map_err(|error| StartupError(error.to_string()));
        }
    };
    bot.on(BotStage::Ends(Some(&reason)));
    let closing = async {
        pause.begin(&parts, &reason).await;
        groups.front.stop();
        parts.router.mailboxes.abandon();
        groups.front.finish(LAST_CALL).await;
        groups.end_helpers(LAST_CALL).await;
    };
    let is_told = !stop.unless_requested(closing).await;
    if is_told {
        // The store cannot be flushed; its content is the same as after a crash.
        end_now(&parts, groups).await;
    }
    closed(parts).await;
    Ok(if is_told { ExitReason::Told } else { ExitReason::StoreFailed })
}

/// Drops the parts of a bot. Closing its store waits for the disk or the database.
async fn closed(parts: AppParts) {
    if let Err(error) = spawn_blocking(move || drop(parts)).await {
        tracing::error!(%error, "the parts of a bot could not be closed in order");
    }
}

/// Reason why a bot did not start.
enum StartEnd {
    /// A stop was requested.
    Told,
    Refused(StartupError),
    /// The store failed, or another process may have the bot.
    StoreFailed(String),
}

impl StartEnd {
    fn reason(self, pause: &mut Pause) -> Result<ExitReason, StartupError> {
        match self {
            Self::Told => Ok(ExitReason::Told),
            Self::Refused(refusal) => Err(refusal),
            Self::StoreFailed(reason) => {
                pause.begin_untold(&reason);
                Ok(ExitReason::StoreFailed)
            }
        }
    }
}

impl From<StartupError> for StartEnd {
    fn from(refusal: StartupError) -> Self {
        Self::Refused(refusal)
    }
}

/// Opens the store of a bot and starts its parts. Gives `recovered` the queues as soon as there are any.
async fn start(
    bot: &BotRun<'_>,
    host: &Host,
    groups: &Groups,
    recovered: &OnceLock<Mailboxes>,
) -> Result<AppParts, StartEnd> {
    // Mistakes in files of the owner are told before anything is made.
    host.files(bot.settings, &providers::table(bot.additions)?).await?;
    let store = host.store(bot.settings).await?;
    let name = bot.host.as_ref().map(|hosted| hosted.name);
    let plan = BotPlan { host, name, settings: bot.settings, additions: bot.additions, store: store.clone() };
    tokio::select! {
        started = Box::pin(start_with(bot, plan, groups, recovered)) => Ok(started?),
        // Telegram may keep a bot waiting that is another process's by now.
        reason = store.failed() => Err(StartEnd::StoreFailed(reason)),
    }
}

async fn start_with(
    bot: &BotRun<'_>,
    plan: BotPlan<'_>,
    groups: &Groups,
    recovered: &OnceLock<Mailboxes>,
) -> Result<AppParts, StartupError> {
    let (clock, settings, host) = (Clock::system(), bot.settings, plan.host);
    let name = plan.name.unwrap_or_default();
    // In an unoptimised build the parts of a bot overflow the stack of a tokio thread, so the future is boxed.
    let (parts, runners) = Box::pin(parts::build(&plan, groups, &clock)).await?;
    drop(recovered.set(parts.router.mailboxes.clone()));
    let store = &parts.store;
    owner_invite::void(&settings.access, &store.settings())
        .await
        .map_err(|error| StartupError(error.to_string()))?;
    let left = UnfinishedWork {
        inbox: &store.inbox(),
        conversations: &store.conversations(),
        tasks: &store.tasks(),
        outbox: &store.outbox(),
        delivery: &parts.delivery,
    };
    recover(&parts.router, left).await.map_err(|error| StartupError(error.to_string()))?;
    owner_invite::offer(settings, &parts, &clock, &groups.back);
    let commands = parts.commands.clone();
    groups.back.spawn("register", async move { commands.publish().await });
    let mailboxes = parts.router.mailboxes.clone();
    let expiring = parts.parked.clone().expire(mailboxes, parts.languages.clone(), groups.front.clone());
    groups.front.spawn("parked", expiring);
    groups.front.spawn("scheduler", runners.scheduler.run());
    groups.front.spawn("retention", runners.retention.run());
    groups.front.spawn("rewriter", runners.rewriter.run());
    let turns = host.watch_turns(settings);
    if let Some(keeper) = runners.backups {
        let (turn, stopping) = (turns.backups.clone(), groups.front.clone());
        groups.front.spawn("backups", async move { turn.run(keeper.run(), &stopping).await });
    }
    runners.watches.spawn(turns, &groups.front);
    let webhook = match runners.updates {
        UpdateSource::Fetched(poller) => {
            groups.front.spawn("poller", poller.run());
            None
        }
        UpdateSource::Sent(webhook) => Some(webhook),
    };
    if let Some(gateway) = runners.gateway {
        end_unfinished(store, |place| place.chat.is_external(), &clock)
            .await
            .map_err(|error| StartupError(error.to_string()))?;
        gateway.serve(name, webhook.clone(), &groups.front);
    }
    if let Some(webhook) = webhook {
        groups.front.spawn("webhook", webhook.register());
    }
    let username = &parts.router.me.username;
    info!(username, model = parts.model, "ready");
    bot.on(BotStage::Runs(&parts));
    if std::io::stderr().is_terminal() {
        info!("write to it at https://t.me/{username}; Ctrl-C ends it");
    }
    Ok(parts)
}
