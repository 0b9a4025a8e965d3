//! Builds the models of the settings.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::failure::StartupError;
use figaro_base::clock::Clock;
use figaro_config::{ModelChoice, ModelSettings, Settings};
use figaro_domain::model::ModelName;
use figaro_provider::address::Addressed;
use figaro_provider::learning::Learning;
use figaro_provider::models::Models;
use figaro_provider::retry::{RetryPolicy, RetryProvider};
use figaro_provider::trials::ModelTrials;
use figaro_provider::{Provider, Providers};

/// Builds the models of these settings, each with its retries. `trials` has what was learned of them before.
///
/// # Errors
/// When the settings name an unknown provider (they were read with other additions); when a built provider's name differs
/// from its descriptor.
pub(super) fn models(
    settings: &ModelSettings,
    providers: &Providers,
    http: &reqwest::Client,
    trials: &ModelTrials,
    clock: &Clock,
) -> Result<Models, StartupError> {
    let (mut built, mut specs): (Vec<Arc<dyn Provider>>, _) = (Vec::new(), Vec::new());
    // With fallback models, a pause that the service asks for is capped.
    let policy = match settings.fallback.is_empty() {
        true => RetryPolicy::default(),
        false => RetryPolicy::with_others(),
    };
    for provider in &settings.providers {
        let Some(descriptor) = providers.find(provider.name) else {
            return Err(StartupError(format!("the provider `{}` is not registered", provider.name)));
        };
        let inner = (descriptor.build)(provider, http.clone(), settings.idle_timeout);
        if inner.name() != provider.name {
            let other = inner.name();
            return Err(StartupError(format!(
                "the provider `{}` calls itself `{other}` once built",
                provider.name
            )));
        }
        let inner = Addressed::wrap(inner, &descriptor.spec, &provider.base_url);
        let inner = Arc::new(Learning::new(inner, &settings.abilities, trials.clone(), clock.clone()));
        specs.push(descriptor.spec);
        built.push(Arc::new(RetryProvider::new(inner, policy)));
    }
    let own = settings
        .providers
        .iter()
        .map(|provider| ModelName { provider: provider.name.to_owned(), model: provider.model.clone() });
    let fallback = settings.fallback.iter().map(name).collect();
    Ok(Models::new(built, name(&settings.default), fallback).with_own(own.collect()).with_specs(specs))
}

/// Reads what was learned of the models of these settings. Without a folder of the store it is not written either.
pub(super) fn trials(settings: &Settings, now: DateTime<Utc>) -> ModelTrials {
    let providers = settings.model.providers.iter();
    match settings.store.url.folder().filter(|folder| folder.is_dir()) {
        Some(folder) => ModelTrials::open(folder, providers.map(|one| (one.name, &*one.base_url)), now),
        None => ModelTrials::default(),
    }
}

/// Returns the name of a configured model.
pub(super) fn name(choice: &ModelChoice) -> ModelName {
    ModelName { provider: choice.provider.to_owned(), model: choice.model.clone() }
}
