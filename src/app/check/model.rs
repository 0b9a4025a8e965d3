//! Check of a model.

use std::time::Duration;

use futures::StreamExt;
use tokio::time::{Instant, timeout_at};

use super::finding::{Finding, REACH};
use crate::app::models::models;
use figaro_base::clock::Clock;
use figaro_config::{ModelChoice, ModelSettings, Settings};
use figaro_provider::fold::Pass;
use figaro_provider::models::Models;
use figaro_provider::trials::ModelTrials;
use figaro_provider::{Item, ProviderError, Providers, Request};

/// Timeout of a model whose server responds. The model may have to load first.
const ANSWER: Duration = Duration::from_secs(60);

/// Checks one model, without its fallbacks.
pub(super) async fn probe(
    settings: &Settings,
    providers: &Providers,
    choice: &ModelChoice,
    http: reqwest::Client,
) -> Finding {
    let alone = ModelSettings {
        default: choice.clone(),
        fallback: Vec::new(),
        over_budget: None,
        ..settings.model.clone()
    };
    let spec = providers.find(choice.provider).map(|provider| &provider.spec);
    let models = match models(&alone, providers, &http, &ModelTrials::default(), &Clock::system()) {
        Ok(models) => models,
        Err(refusal) => return Finding::new("model", Err(refusal.0)),
    };
    let answered = answers(&models, choice)
        .await
        .map(|()| format!("{choice} answers"))
        .map_err(|error| format!("{choice}: {error}{}", error.remedy(spec)));
    let note = if answered.is_ok() { without_tools(&models) } else { None };
    Finding { note, ..Finding::new("model", answered) }
}

/// Returns a warning if the default model, which has answered, cannot use tools.
pub(in crate::app) fn without_tools(models: &Models) -> Option<String> {
    let model = models.default_model();
    let lacks = models.capabilities(model).is_some_and(|can| !can.tools);
    lacks.then(|| {
        format!("{model} cannot use tools: it talks, but it cannot remind, take notes, search or act. Choose another for that")
    })
}

/// Lists models first: a running server answers at once, so an unreachable one fails fast.
async fn answers(models: &Models, choice: &ModelChoice) -> Result<(), ProviderError> {
    let soon = Instant::now() + REACH;
    let listed = timeout_at(soon, models.served(choice.provider)).await;
    let (until, limit) = match listed {
        Err(_) => return Err(ProviderError::Stalled(REACH)),
        Ok(Err(ProviderError::Unavailable(_) | ProviderError::Stalled(_))) => (soon, REACH),
        // The server responds, even if it refuses to list its models.
        Ok(_) => (Instant::now() + ANSWER, ANSWER),
    };
    timeout_at(until, first_word(models)).await.unwrap_or(Err(ProviderError::Stalled(limit)))
}

/// Asks the default model for a first word.
///
/// # Errors
/// Reason why no word arrives.
pub(in crate::app) async fn first_word(models: &Models) -> Result<(), ProviderError> {
    let question = vec![Item::user("Are you there?")];
    let request = Request::new("", "Answer with one word.", question);
    let mut stream = models.stream(&[models.default_model().clone()], &request);
    let mut pass = Pass::default();
    while let Some(event) = stream.next().await {
        pass.absorb(event?);
    }
    Ok(())
}
