//! Builds the transcriber of the settings.

use std::sync::Arc;

use super::failure::StartupError;
use figaro_config::{ServiceModel, Settings};
use figaro_provider::Providers;
use figaro_provider::transcribe::Transcriber;

/// Builds the transcriber; `None` if it is off.
///
/// # Errors
/// When the provider does not turn speech into text.
pub(super) fn transcriber(
    settings: &Settings,
    providers: &Providers,
    http: &reqwest::Client,
) -> Result<Option<Arc<dyn Transcriber>>, StartupError> {
    let Some(ServiceModel { service, model }) = &settings.transcriber else { return Ok(None) };
    let make = providers.find(service.name).and_then(|descriptor| descriptor.transcriber);
    let make = make.ok_or_else(|| {
        StartupError(format!(
            "TRANSCRIBER: the provider `{}` does not turn speech into text; choose another",
            service.name
        ))
    })?;
    Ok(Some(make(service, model, http.clone(), settings.model.idle_timeout)))
}
