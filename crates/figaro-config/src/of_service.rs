//! A model of a service that does something else than answer: `provider:model`.

use super::models::{ModelChoice, ProviderSettings, read_service};
use super::reader::VariableReader;

/// A model for one purpose, and the service that it runs at.
#[derive(Debug, Clone)]
pub struct ServiceModel {
    /// Connection to the service. Its `model` is empty.
    pub service: ProviderSettings,
    /// Name of the model at the service.
    pub model: String,
}

impl ServiceModel {
    /// Reads `provider:model`; `None` if there is no such provider, or no model is named.
    pub(super) fn read(reader: &mut VariableReader<'_>, text: &str) -> Option<Self> {
        let (name, model) = text.split_once(':')?;
        let spec = reader.providers().iter().find(|spec| spec.name.eq_ignore_ascii_case(name.trim()))?;
        let model = Some(model.trim().to_owned()).filter(|model| !model.is_empty())?;
        Some(Self { service: read_service(reader, spec), model })
    }

    /// Reads the model that turns speech into text, from `TRANSCRIBER`; `None` if it is off.
    pub(super) fn read_transcriber(reader: &mut VariableReader<'_>) -> Option<Self> {
        let text = reader.text("TRANSCRIBER");
        if text.eq_ignore_ascii_case("off") {
            return None;
        }
        let found = Self::read(reader, &text);
        if found.is_none() {
            let words = "is not off, or provider:model with a known provider and the name of a model that turns speech into text";
            reader.fault("TRANSCRIBER", words);
        }
        found
    }

    /// Returns the name of the model with its provider.
    #[must_use]
    pub fn name(&self) -> ModelChoice {
        ModelChoice { provider: self.service.name, model: self.model.clone() }
    }
}
