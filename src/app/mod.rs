//! The composition root: the only place that knows concrete types. It builds the bot out of its settings, runs it until
//! told to stop, and ends everything in order.

mod check;
mod claim;
mod demo;
mod parts;
mod pause;

use std::future::Future;
use std::io::{self, Write};
use std::time::Duration;

use tracing::info;

use crate::clock::Clock;
use crate::config::{LogFormat, Settings};
use crate::shutdown::Tasks;
use crate::store::Store;
use crate::telegram::recovery::recover;
use crate::telemetry;

use parts::Parts;
use pause::Pause;

pub use check::check;
pub use demo::{DemoOptions, demo};

/// How long running turns may go on after a stop was requested: less than the ten seconds that Docker waits.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long abandoned turns and helpers may take to notice.
const LAST_CALL: Duration = Duration::from_secs(4);

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

/// Runs the bot until `stop` resolves. If its store can no longer be written, as on a full disk, it pauses and tells the
/// owners; once the disk takes writes again it starts anew in this process, as after a crash.
///
/// # Errors
/// When it cannot start, also after a pause; nothing is left running then.
pub async fn run(settings: &Settings, stop: impl Future<Output = ()>) -> Result<(), Failure> {
    tokio::pin!(stop);
    let mut pause = Pause::default();
    loop {
        match session(settings, &mut stop, &mut pause).await {
            Ok(Ended::Told) => return Ok(()),
            Ok(Ended::StoreFailed) => {}
            Err(refusal) if pause.is_on() => return Err(Failure::Broken(refusal.0)),
            Err(refusal) => return Err(refusal.into()),
        }
        tokio::select! {
            () = pause.until_room(&settings.store.path) => {}
            () = &mut stop => return Ok(()),
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
    stop: &mut (impl Future<Output = ()> + Unpin),
    pause: &mut Pause,
) -> Result<Ended, Refusal> {
    let groups = Groups::default();
    let started = tokio::select! {
        started = start(settings, &groups) => started.map(Some),
        () = &mut *stop => Ok(None),
    };
    let Ok(Some(parts)) = started else {
        end_helpers(&groups).await;
        return started.map(|_| Ended::Told);
    };
    pause.end(&parts).await;
    tokio::select! {
        reason = parts.store.failed() => {
            pause.begin(&parts, &reason).await;
            groups.front.stop();
            parts.router.mailboxes.abandon();
            groups.front.finish(LAST_CALL).await;
            end_helpers(&groups).await;
            Ok(Ended::StoreFailed)
        }
        () = stop => end(&parts, &groups).await.map(|()| Ended::Told),
    }
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

async fn start(settings: &Settings, groups: &Groups) -> Result<Parts, Refusal> {
    let clock = Clock::system();
    let (parts, (scheduler, poller)) = parts::build(settings, groups, &clock).await?;
    let store = &*parts.store;
    claim::void(&settings.access, store).await.map_err(|error| Refusal(error.to_string()))?;
    recover(&parts.router, store, (store, store), (store, &parts.courier))
        .await
        .map_err(|error| Refusal(error.to_string()))?;
    claim::offer(settings, &parts, &clock, &groups.back);
    let commands = parts.commands.clone();
    groups.back.spawn("register", async move { commands.register().await });
    groups.front.spawn("scheduler", scheduler.run());
    groups.front.spawn("poller", poller.run());
    info!(username = parts.router.me.username, model = parts.commands.default_model(), "ready");
    Ok(parts)
}

/// Stops taking in, lets running turns end for a while, then ends what they needed.
async fn end(parts: &Parts, groups: &Groups) -> Result<(), Refusal> {
    info!("stopping: no more updates are taken in; running turns may end");
    groups.front.stop();
    if !groups.front.finish(PATIENCE).await {
        info!("turns that are still running go on at the next start");
        parts.router.mailboxes.abandon();
        groups.front.finish(LAST_CALL).await;
    }
    end_helpers(groups).await;
    parts.store.flush().await.map_err(|error| Refusal(error.to_string()))
}

async fn end_helpers(groups: &Groups) {
    groups.front.stop();
    groups.back.stop();
    groups.back.finish(LAST_CALL).await;
}
