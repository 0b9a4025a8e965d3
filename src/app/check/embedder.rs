//! Check of the embedder.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::finding::Finding;
use crate::app::embedder::{EmbedderParts, embedder};
use figaro_base::clock::Clock;
use figaro_base::shutdown::TaskTracker;
use figaro_config::Settings;
use figaro_provider::embed::{EmbedError, EmbedPurpose, Embedder};
use figaro_provider::{ProviderError, Providers};

/// Timeout of the request. The model may have to load first.
const ANSWER: Duration = Duration::from_secs(60);

/// Requests one vector; `None` if the embedder is off.
pub(super) async fn probe(
    settings: &Settings,
    providers: &Providers,
    http: reqwest::Client,
) -> Option<Finding> {
    let background = TaskTracker::new();
    let parts = EmbedderParts {
        settings: &settings.embedder,
        idle_timeout: settings.model.idle_timeout,
        providers,
        http: &http,
        clock: Clock::system(),
        background: background.clone(),
    };
    let result = match embedder(parts).await {
        Ok(None) => return None,
        Ok(Some(embedder)) => {
            tried(&*embedder).await.map_err(|error| told(settings, providers, &*embedder, &error))
        }
        Err(refusal) => Err(refusal.0),
    };
    background.stop();
    Some(Finding::new("embedder", result))
}

async fn tried(embedder: &dyn Embedder) -> Result<String, EmbedError> {
    let begun = Instant::now();
    let asked = timeout(ANSWER, embedder.embed(EmbedPurpose::Question, &["Are you there?"])).await;
    let embedded = asked.unwrap_or(Err(ProviderError::Stalled(ANSWER).into()))?;
    let dimensions = embedded.vectors.first().map_or(0, Vec::len);
    Ok(format!(
        "{} gives vectors of {dimensions} numbers, in {} ms",
        embedder.name(),
        begun.elapsed().as_millis()
    ))
}

/// Describes the error and what the owner can do about it.
fn told(settings: &Settings, providers: &Providers, embedder: &dyn Embedder, error: &EmbedError) -> String {
    let name = embedder.name();
    match error {
        EmbedError::Provider(ProviderError::UnknownModel(_)) | EmbedError::Unusable(_) => {
            format!("{name}: {error}: choose another EMBEDDER")
        }
        EmbedError::Provider(failure) => {
            let service = settings.embedder.service().and_then(|service| providers.find(service.name));
            format!("{name}: {failure}{}", failure.remedy(service.map(|provider| &provider.spec)))
        }
        EmbedError::Folder(_)
        | EmbedError::OverBudget
        | EmbedError::Unpriced(_)
        | EmbedError::Store
        | EmbedError::Stopped => format!("{name}: {error}"),
    }
}
