//! Builds the models of the settings. A new provider is a line in `provider`.

use std::sync::Arc;

use crate::config::{ModelChoice, ModelSettings, ProviderKind, ProviderSettings};
use crate::domain::model::ModelName;
use crate::provider::Provider;
use crate::provider::gemini::Gemini;
use crate::provider::models::Models;
use crate::provider::ollama::Ollama;
use crate::provider::openai_chat::OpenAiChat;
use crate::provider::openai_responses::OpenAiResponses;
use crate::provider::retry::{Retry, RetryPolicy};
use crate::secret::ExposeSecret;

/// The models of these settings, each with its retries.
pub(super) fn models(settings: &ModelSettings, http: &reqwest::Client) -> Models {
    let providers = settings.providers.iter().map(|provider| -> Arc<dyn Provider> {
        let inner = self::provider(provider, settings, http.clone());
        Arc::new(Retry::new(inner, RetryPolicy::default()))
    });
    let own = settings.providers.iter().map(|provider| ModelName {
        provider: provider.kind.name().to_owned(),
        model: provider.model.clone(),
    });
    Models::new(providers, name(&settings.default), settings.fallback.iter().map(name).collect())
        .with_own(own.collect())
}

/// A model of the settings by its name.
pub(super) fn name(choice: &ModelChoice) -> ModelName {
    ModelName { provider: choice.provider.name().to_owned(), model: choice.model.clone() }
}

fn provider(settings: &ProviderSettings, all: &ModelSettings, http: reqwest::Client) -> Arc<dyn Provider> {
    let (idle, load) = (all.idle_timeout, all.load_timeout);
    let (url, key) = (settings.base_url.as_str(), settings.key.clone());
    let given = (!key.expose_secret().is_empty()).then(|| key.clone());
    match settings.kind {
        ProviderKind::OpenAi => Arc::new(OpenAiResponses::new(http, url, key, idle)),
        ProviderKind::Compatible => Arc::new(OpenAiChat::new(http, url, given, idle)),
        ProviderKind::Ollama => Arc::new(Ollama::new(http, url, given, idle, load)),
        ProviderKind::Gemini => Arc::new(Gemini::new(http, url, key, idle)),
    }
}
