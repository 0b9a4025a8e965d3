//! Builds the embedder of the settings.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;

use super::failure::StartupError;
use figaro_base::clock::Clock;
use figaro_base::shutdown::TaskTracker;
use figaro_config::EmbedderSettings;
use figaro_provider::Providers;
use figaro_provider::embed::Embedder;
#[cfg(feature = "local-embedder")]
use figaro_provider::embed::local::LocalEmbedder;

pub(super) struct EmbedderParts<'a> {
    pub(super) settings: &'a EmbedderSettings,
    /// Timeout of a silent service.
    pub(super) idle_timeout: Duration,
    pub(super) providers: &'a Providers,
    pub(super) http: &'a reqwest::Client,
    /// Measures the idle time of a model in memory.
    pub(super) clock: Clock,
    /// Tracks the task that drops an idle model.
    pub(super) background: TaskTracker,
}

/// Builds the embedder of these settings; `None` if it is off.
///
/// # Errors
/// When a folder has no usable model, or a provider offers no embeddings.
pub(super) async fn embedder(parts: EmbedderParts<'_>) -> Result<Option<Arc<dyn Embedder>>, StartupError> {
    match parts.settings {
        EmbedderSettings::Off => Ok(None),
        EmbedderSettings::Local(folder) => {
            let (folder, clock, background) = (folder.clone(), parts.clock, parts.background);
            let opened = spawn_blocking(move || local(&folder, clock, background)).await;
            opened.map_err(|broken| StartupError(format!("EMBEDDER: {broken}")))?.map(Some)
        }
        EmbedderSettings::Service { service, model } => {
            let descriptor = parts.providers.find(service.name);
            let Some(make) = descriptor.and_then(|descriptor| descriptor.embedder) else {
                return Err(StartupError(format!(
                    "EMBEDDER: the provider `{}` has no models that turn texts into numbers; choose another",
                    service.name
                )));
            };
            Ok(Some(make(service, model, parts.http.clone(), parts.idle_timeout)))
        }
    }
}

#[cfg(feature = "local-embedder")]
fn local(folder: &Path, clock: Clock, background: TaskTracker) -> Result<Arc<dyn Embedder>, StartupError> {
    let opened = LocalEmbedder::open(folder, clock, background);
    Ok(Arc::new(opened.map_err(|why| StartupError(format!("EMBEDDER: {why}")))?))
}

#[cfg(not(feature = "local-embedder"))]
fn local(_: &Path, _: Clock, _: TaskTracker) -> Result<Arc<dyn Embedder>, StartupError> {
    Err(StartupError(
        "EMBEDDER: this build has no local models: build it with --features local-embedder, or choose a model of a service"
            .to_owned(),
    ))
}
