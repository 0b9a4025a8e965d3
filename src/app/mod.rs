//! The composition root: the only place that knows concrete types. It builds the bot out of its settings, runs it until
//! told to stop, and ends everything in order.

mod check;
mod claim;
mod commands;
mod demo;
mod identity;
mod parts;
mod pause;
mod stop;

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use futures::Stream;
use tracing::info;

use crate::clock::Clock;
use crate::config::{LogFormat, Settings};
use crate::shutdown::Tasks;
use crate::store::Store;
use crate::telegram::commands::Command;
use crate::telegram::recovery::{Left, recover};
use crate::telemetry;

use parts::Parts;
use pause::Pause;
use stop::{Stop, end_now};

pub use check::check;
pub use demo::{DemoOptions, demo};

/// How long running turns may go on after a stop was requested: less than the ten seconds that Docker waits.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long abandoned turns and helpers may take to notice.
const LAST_CALL: Duration = Duration::from_secs(4);
/// How long they may take at a second request to stop: enough to write down where they are.
const AT_ONCE: Duration = Duration::from_millis(500);

/// Why the bot did not start, in words for its owner. The process ends with code 2 and nothing left running.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// Tasks in two groups: those that take in and answer, and those that the former need until they have ended.
#[derive(Debug, Clone, Default)]
struct Groups {
    front: Tasks,
    back: Tasks,
}

impl Groups {
    /// Ends what turns needed, within a time.
    async fn end_helpers(&self, within: Duration) {
        self.front.stop();
        self.back.stop();
        self.back.finish(within).await;
    }
}

/// Why the bot ended without being told to.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It did not start: something has to be put right first.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Its store failed while it ran, and it could not start again. The process ends with code 1, so that a supervisor
    /// starts another.
    #[error("the store had failed, and a new start did too: {0}")]
    Broken(String),
}

/// Runs the bot until the first of `stops`; a second one ends it without waiting for running turns. If its store can no
/// longer be written, as on a full disk, it pauses and tells the owners; once the disk takes writes again it starts anew in
/// this process, as after a crash.
///
/// # Errors
/// When it cannot start, also after a pause; nothing is left running then.
pub async fn run(settings: &Settings, stops: impl Stream<Item = ()> + Unpin) -> Result<(), Failure> {
    run_with(settings, stops, &Additions::default()).await
}

/// What is added to what is built in.
#[derive(Debug, Clone, Default)]
pub struct Additions {
    /// Commands, behind the built-in ones.
    pub commands: Vec<Arc<dyn Command>>,
}

/// [`run`] with additions.
///
/// # Errors
/// Those of [`run`]; also when an added command claims what another has.
pub async fn run_with(
    settings: &Settings,
    stops: impl Stream<Item = ()> + Unpin,
    additions: &Additions,
) -> Result<(), Failure> {
    run_until(settings, &mut Stop::new(stops, false), additions).await
}

async fn run_until(
    settings: &Settings,
    stop: &mut Stop<impl Stream<Item = ()> + Unpin>,
    additions: &Additions,
) -> Result<(), Failure> {
    let mut pause = Pause::default();
    loop {
        match session(settings, stop, &mut pause, additions).await {
            Ok(Ended::Told) => return Ok(()),
            Ok(Ended::StoreFailed) => {}
            Err(refusal) if pause.is_on() => return Err(Failure::Broken(refusal.0)),
            Err(refusal) => return Err(refusal.into()),
        }
        if !stop.unless_requested(pause.until_room(&settings.store.path)).await {
            return Ok(());
        }
    }
}

/// Why a session ended.
enum Ended {
    /// It was told to.
    Told,
    /// Its store can no longer be written.
    StoreFailed,
}

/// Runs the bot once, from the start of its parts to their end.
async fn session(
    settings: &Settings,
    stop: &mut Stop<impl Stream<Item = ()> + Unpin>,
    pause: &mut Pause,
    additions: &Additions,
) -> Result<Ended, Refusal> {
    let groups = Groups::default();
    let started = tokio::select! {
        started = start(settings, &groups, additions) => started.map(Some),
        () = stop.requested() => Ok(None),
    };
    let Ok(Some(parts)) = started else {
        stop.unless_requested(groups.end_helpers(LAST_CALL)).await;
        return started.map(|_| Ended::Told);
    };
    pause.end(&parts).await;
    let reason = tokio::select! {
        reason = parts.store.failed() => reason,
        () = stop.requested() => {
            stop.end(&parts, &groups).await;
            let flushed = parts.store.flush().await;
            return flushed.map(|()| Ended::Told).map_err(|error| Refusal(error.to_string()));
        }
    };
    let closing = async {
        pause.begin(&parts, &reason).await;
        groups.front.stop();
        parts.router.mailboxes.abandon();
        groups.front.finish(LAST_CALL).await;
        groups.end_helpers(LAST_CALL).await;
    };
    if stop.unless_requested(closing).await {
        return Ok(Ended::StoreFailed);
    }
    // The store cannot be flushed; what is in it is what a crash would leave.
    end_now(&parts, &groups).await;
    Ok(Ended::Told)
}

/// Starts logging as the settings say.
///
/// # Errors
/// A log filter that does not parse.
pub fn start_log(settings: &Settings) -> Result<(), Refusal> {
    let as_json = settings.log.format == LogFormat::Json;
    telemetry::start(&settings.log.filter, as_json, settings.redactor()).map_err(Refusal)
}

/// Prints a line; a reader that has left is no reason to fail.
fn say(line: &str) {
    drop(writeln!(io::stdout(), "{line}"));
}

async fn start(settings: &Settings, groups: &Groups, additions: &Additions) -> Result<Parts, Refusal> {
    let clock = Clock::system();
    let (parts, (scheduler, poller)) = parts::build(settings, groups, &clock, additions).await?;
    let store = &*parts.store;
    claim::void(&settings.access, store).await.map_err(|error| Refusal(error.to_string()))?;
    let left =
        Left { inbox: store, conversations: store, tasks: store, outbox: store, courier: &parts.courier };
    recover(&parts.router, left).await.map_err(|error| Refusal(error.to_string()))?;
    claim::offer(settings, &parts, &clock, &groups.back);
    let commands = parts.commands.clone();
    groups.back.spawn("register", async move { commands.publish().await });
    let expiring =
        parts.parked.clone().expire(parts.courier.clone(), parts.locales.clone(), groups.front.clone());
    groups.front.spawn("parked", expiring);
    groups.front.spawn("scheduler", scheduler.run());
    groups.front.spawn("poller", poller.run());
    info!(username = parts.router.me.username, model = parts.model, "ready");
    Ok(parts)
}
