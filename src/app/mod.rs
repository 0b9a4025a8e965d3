//! Composition root: the only place that knows concrete types. Builds the bot from its settings, runs it until a stop
//! request, and shuts everything down in order.

mod additions;
mod agents;
mod ask;
mod audit;
mod backup;
mod base_files;
mod bot_states;
mod bots;

mod check;
mod commands;
mod dashboard;
mod demo;
mod doctor;
mod door;
mod embedder;
mod environment;
mod failure;
mod fleet_bots;
mod groups;
mod healthcheck;
mod host;
mod identity;
mod init;
mod memory;
mod models;
mod otlp;
mod owner_invite;
mod packs;
mod parts;
mod pause;
mod personas;
mod place;
mod policy;
mod probes;
mod providers;
mod reader_program;
mod servers;
mod services;
mod session;
mod sign_ins;
mod socket;
mod stop;
mod store;
mod supervisor;
mod terminal;
mod watch;

use futures::Stream;

use figaro_base::secret::Redactor;
use figaro_base::telemetry::{self, ExporterLayer};
use figaro_config::{LogFormat, Settings};

use otlp::TelemetryExport;
use probes::ServedProbes;
use session::{BotRun, run_bot};
use stop::StopRequests;

pub use additions::Additions;
pub use agents::{AgentsTask, agents};
pub use ask::{AskOptions, ask};
pub use audit::{AuditTask, audit};
pub use backup::{BackupTask, backup};
pub use bots::{BotsToRun, bots, bots_to_run, run_all};
pub use check::check;
pub use dashboard::dashboard;
pub use demo::{DemoOptions, demo};
pub use doctor::doctor;
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
    let served = ServedProbes::start(&settings.http).await?;
    let run = BotRun { settings, host: None, additions, probes: &served.probes };
    let ended = Box::pin(run_bot(&run, stop)).await;
    served.end().await;
    ended
}

/// Starts logging with the filter and format of the settings, and the export of traces and metrics if they name a collector.
/// `redactor` knows the secrets to keep out of the log.
///
/// # Errors
/// When the log filter does not parse, or the collector cannot be used.
pub fn start_log(settings: &Settings, redactor: Redactor) -> Result<StartedLog, StartupError> {
    let (export, layer) = TelemetryExport::begin(settings)?.unzip();
    start_lines(settings, redactor, layer)?;
    Ok(StartedLog(export))
}

/// Starts logging, to `exporter` as well.
///
/// # Errors
/// When the log filter does not parse.
fn start_lines(
    settings: &Settings,
    redactor: Redactor,
    exporter: Option<ExporterLayer>,
) -> Result<(), StartupError> {
    let as_json = settings.log.format == LogFormat::Json;
    telemetry::start(&settings.log.filter, as_json, redactor, exporter).map_err(StartupError)
}

/// The log, and what is exported until it is ended.
#[derive(Debug)]
#[must_use]
pub struct StartedLog(Option<TelemetryExport>);

impl StartedLog {
    /// Sends the spans and metrics that are left, within three seconds.
    pub async fn end(self) {
        if let Some(export) = self.0 {
            export.end().await;
        }
    }
}
