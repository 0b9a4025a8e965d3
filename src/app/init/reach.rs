//! Services as the answers so far set them up: their address, their models, and what is wrong with them.

use crate::app::environment::http_client;
use crate::app::failure::StartupError;
use crate::app::models::models;
use figaro_base::clock::Clock;
use figaro_config::ModelSettings;
use figaro_domain::provider_spec::{ProviderSpec, VariableRole};
use figaro_provider::models::Models;
use figaro_provider::trials::ModelTrials;
use figaro_provider::{ProviderError, Providers};

use super::draft::SettingsDraft;

/// Variable that names the provider.
pub(super) const PROVIDER: &str = "LLM_PROVIDER";

/// Setting to fix for a service that gives no list, with the reason.
pub(super) enum Trouble {
    Key(String),
    Address(String),
    Later(String),
}

/// Returns the names of the models that a service serves.
pub(super) async fn served(
    draft: &SettingsDraft,
    providers: &Providers,
    spec: &ProviderSpec,
) -> Result<Vec<String>, Trouble> {
    let models = reached(&of_service(draft, spec)?, providers)?;
    let served = models.served(spec.name).await.map_err(|error| trouble(&error))?;
    Ok(served.into_iter().map(|name| name.model).collect())
}

/// Reads the settings of a service from the draft.
pub(super) fn of_service(draft: &SettingsDraft, spec: &ProviderSpec) -> Result<ModelSettings, Trouble> {
    ModelSettings::of_service(&draft.all(), &draft.variables, spec).map_err(|faults| {
        let words = faults.0.join("; ");
        let is_about = |role| spec.variable(role).is_some_and(|variable| words.starts_with(variable.name));
        match (is_about(VariableRole::Key), is_about(VariableRole::BaseUrl)) {
            (true, _) => Trouble::Key(words),
            (_, true) => Trouble::Address(words),
            _ => Trouble::Later(words),
        }
    })
}

pub(super) fn reached(settings: &ModelSettings, providers: &Providers) -> Result<Models, Trouble> {
    let later = |refusal: StartupError| Trouble::Later(refusal.0);
    let http = http_client(&settings.proxies).map_err(later)?;
    models(settings, providers, &http, &ModelTrials::default(), &Clock::system()).map_err(later)
}

pub(super) fn trouble(error: &ProviderError) -> Trouble {
    let words = error.to_string();
    match error {
        ProviderError::Unauthorized(_) => Trouble::Key(words),
        ProviderError::UnknownModel(_)
        | ProviderError::Unavailable(_)
        | ProviderError::Foreign(_)
        | ProviderError::WrongAddress(_)
        | ProviderError::Stalled(_) => Trouble::Address(words),
        ProviderError::NoQuota(_)
        | ProviderError::RateLimited { .. }
        | ProviderError::TooLong(_)
        | ProviderError::Unreadable(_)
        | ProviderError::Garbled(_)
        | ProviderError::Refused(_)
        | ProviderError::Cut(_) => Trouble::Later(words),
    }
}

/// Returns the configured address, or the default of the service.
pub(super) fn address(draft: &SettingsDraft, spec: &ProviderSpec) -> String {
    let variable = spec.variable(VariableRole::BaseUrl);
    let address = variable.map(|url| draft.get(url.name).unwrap_or_else(|| url.default.to_owned()));
    address.unwrap_or_default().trim_end_matches('/').to_owned()
}
