//! Composition root: the only place that knows concrete types. Builds the bot from its settings, runs it until a stop
//! request, and shuts everything down in order.

mod additions;
mod agents;
mod ask;
mod audit;
mod check;
mod commands;
mod demo;
mod embedder;
mod environment;
mod failure;
mod groups;
mod healthcheck;
mod identity;
mod init;
mod memory;
mod models;
mod owner_invite;
mod packs;
mod parts;
mod pause;
mod personas;
mod place;
mod policy;
mod providers;
mod reader_program;
mod servers;
mod services;
mod stop;
mod store;
mod terminal;
mod watch;

use std::io::IsTerminal;

use futures::Stream;
use tracing::info;

use figaro_agent::turn::unfinished::end_unfinished;
use figaro_base::clock::Clock;
use figaro_base::telemetry;
use figaro_config::{LogFormat, Settings};
use figaro_telegram::recovery::{UnfinishedWork, recover};

use groups::{Groups, LAST_CALL};
use parts::{AppParts, UpdateSource};
use pause::Pause;
use stop::{StopRequests, end_now};

pub use additions::Additions;
pub use agents::{AgentsTask, agents};
pub use ask::{AskOptions, ask};
pub use audit::{AuditTask, audit};
pub use check::check;
pub use demo::{DemoOptions, demo};
pub use failure::{AppFailure, StartupError};
pub use healthcheck::healthcheck;
pub use init::init;
pub use memory::{MemoryTask, Questions, RecallOptions, memory};
pub use packs::{PacksTask, packs};
pub use policy::{Explained, PolicyTask, policy};
pub use providers::{settings, settings_and_hints, variables};
pub use servers::{ServersTask, servers};
pub use store::{StoreTask, store};

/// Runs the bot until the first of `stops`. A second one ends it without waiting for running turns. If the store can no
/// longer be written, as on a full disk, the bot pauses and tells the owners. Once the disk accepts writes again, it
/// restarts in this process, as after a crash.
///
/// # Errors
/// When the bot cannot start, also after a pause; nothing is left running then.
pub async fn run(settings: &Settings, stops: impl Stream<Item = ()> + Unpin) -> Result<(), AppFailure> {
    run_with(settings, stops, &Additions::default()).await
}

/// Like [`run`], with additions. The [`settings()`] must have been read with the same additions.
///
/// # Errors
/// Errors of [`run`]; also when an added command or provider conflicts with another.
pub async fn run_with(
    settings: &Settings,
    stops: impl Stream<Item = ()> + Unpin,
    additions: &Additions,
) -> Result<(), AppFailure> {
    run_until(settings, &mut StopRequests::new(stops, false), additions).await
}

async fn run_until(
    settings: &Settings,
    stop: &mut StopRequests<impl Stream<Item = ()> + Unpin>,
    additions: &Additions,
) -> Result<(), AppFailure> {
    let mut pause = Pause::default();
    loop {
        match session(settings, stop, &mut pause, additions).await {
            Ok(ExitReason::Told) => return Ok(()),
            Ok(ExitReason::StoreFailed) => {}
            Err(refusal) if pause.is_on() => return Err(AppFailure::Broken(refusal.0)),
            Err(refusal) => return Err(refusal.into()),
        }
        if !stop.unless_requested(pause.until_room(&settings.store.url.folder)).await {
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
    settings: &Settings,
    stop: &mut StopRequests<impl Stream<Item = ()> + Unpin>,
    pause: &mut Pause,
    additions: &Additions,
) -> Result<ExitReason, StartupError> {
    let groups = Groups::default();
    let started = tokio::select! {
        started = Box::pin(start(settings, &groups, additions)) => started.map(Some),
        () = stop.requested() => Ok(None),
    };
    let Ok(Some(parts)) = started else {
        stop.unless_requested(groups.end_helpers(LAST_CALL)).await;
        return started.map(|_| ExitReason::Told);
    };
    pause.end(&parts).await;
    let reason = tokio::select! {
        reason = parts.store.failed() => reason,
        () = stop.requested() => {
            stop.end(&parts, &groups).await;
            let flushed = parts.store.flush().await;
            return flushed.map(|()| ExitReason::Told).map_err(|error| StartupError(error.to_string()));
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
        return Ok(ExitReason::StoreFailed);
    }
    // The store cannot be flushed; its content is the same as after a crash.
    end_now(&parts, &groups).await;
    Ok(ExitReason::Told)
}

/// Starts logging with the filter and format of the settings.
///
/// # Errors
/// When the log filter does not parse.
pub fn start_log(settings: &Settings) -> Result<(), StartupError> {
    let as_json = settings.log.format == LogFormat::Json;
    telemetry::start(&settings.log.filter, as_json, settings.redactor()).map_err(StartupError)
}

async fn start(
    settings: &Settings,
    groups: &Groups,
    additions: &Additions,
) -> Result<AppParts, StartupError> {
    let clock = Clock::system();
    // In an unoptimised build the parts of a bot overflow the stack of a tokio thread, so the future is boxed.
    let (parts, runners) = Box::pin(parts::build(settings, groups, &clock, additions)).await?;
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
    runners.watches.spawn(&groups.front);
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
        gateway.serve(webhook.clone(), &groups.front);
    }
    if let Some(webhook) = webhook {
        groups.front.spawn("webhook", webhook.register());
    }
    let username = &parts.router.me.username;
    info!(username, model = parts.model, "ready");
    if std::io::stderr().is_terminal() {
        info!("write to it at https://t.me/{username}; Ctrl-C ends it");
    }
    Ok(parts)
}
