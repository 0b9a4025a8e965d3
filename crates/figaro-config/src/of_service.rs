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

    /// Reads the model of a variable; `None` if it is off. `does` says what the model does.
    pub(super) fn read_optional(
        reader: &mut VariableReader<'_>,
        variable: &'static str,
        does: &str,
    ) -> Option<Self> {
        let text = reader.text(variable);
        if text.eq_ignore_ascii_case("off") {
            return None;
        }
        let found = Self::read(reader, &text);
        if found.is_none() {
            let words = format!(
                "is not off, or provider:model with a known provider and the name of a model that {does}"
            );
            reader.complain(variable, &words);
        }
        found
    }

    /// Returns the name of the model with its provider.
    #[must_use]
    pub fn name(&self) -> ModelChoice {
        ModelChoice { provider: self.service.name, model: self.model.clone() }
    }
}

/// A model that speaks, and its voice.
#[derive(Debug, Clone)]
pub struct SpeechSettings {
    /// Model that speaks.
    pub model: ServiceModel,
    /// Name of the voice at the service.
    pub voice: String,
}

impl SpeechSettings {
    /// Reads the model of `SPEAKER` and its `SPEAKER_VOICE`; `None` if it is off.
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Option<Self> {
        let model = ServiceModel::read_optional(reader, "SPEAKER", "turns text into speech")?;
        Some(Self { model, voice: reader.text("SPEAKER_VOICE") })
    }
}
