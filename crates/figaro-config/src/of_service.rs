//! A model of a service that does something else than answer: `provider:model`.

use std::path::PathBuf;

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
    /// Model that turns text into speech, with its service.
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

/// The model that turns speech into text, from `TRANSCRIBER`.
#[derive(Debug, Clone)]
pub enum TranscriberSettings {
    /// Nothing is heard.
    Off,
    /// A model of a service.
    Service(ServiceModel),
    /// Folder of a local model, relative to the working directory unless it begins with `/`.
    Local(PathBuf),
}

impl TranscriberSettings {
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Self {
        let text = reader.text("TRANSCRIBER");
        if text.eq_ignore_ascii_case("off") {
            return Self::Off;
        }
        let local = text.split_once(':').filter(|(kind, _)| kind.trim().eq_ignore_ascii_case("local"));
        let folder = local.map(|(_, folder)| folder.trim()).filter(|folder| !folder.is_empty());
        if let Some(folder) = folder {
            return Self::Local(PathBuf::from(folder));
        }
        match ServiceModel::read(reader, &text) {
            Some(model) => Self::Service(model),
            None => {
                let words = "is not off, provider:model with a known provider and the name of a model that turns speech into \
                     text, or local:FOLDER with a Whisper model";
                reader.complain("TRANSCRIBER", words);
                Self::Off
            }
        }
    }

    /// Returns the model at a service; `None` without one.
    #[must_use]
    pub const fn service(&self) -> Option<&ServiceModel> {
        match self {
            Self::Service(model) => Some(model),
            Self::Off | Self::Local(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::variables::Variables;

    fn read(value: &str) -> Result<String, Vec<String>> {
        let values: HashMap<String, String> = [("TRANSCRIBER", value), ("OPENAI_API_KEY", "sk")]
            .map(|(name, value)| (name.into(), value.into()))
            .into();
        let known = Variables::builtin();
        let mut reader = VariableReader::new(&values, &known);
        let settings = TranscriberSettings::read(&mut reader);
        Ok(match reader.finish(settings).map_err(|faults| faults.0)? {
            TranscriberSettings::Off => "off".to_owned(),
            TranscriberSettings::Local(folder) => format!("folder {}", folder.display()),
            TranscriberSettings::Service(model) => model.name().to_string(),
        })
    }

    #[test]
    fn the_transcriber_is_off_a_model_of_a_service_or_a_folder() {
        let cases = [
            (" OFF ", Ok("off")),
            ("openai:whisper-1", Ok("openai:whisper-1")),
            ("Local: ./models/whisper: base", Ok("folder ./models/whisper: base")),
            ("local:", Err("TRANSCRIBER (`local:`) is not off")),
            ("whisper", Err("TRANSCRIBER (`whisper`) is not off")),
        ];
        for (value, wanted) in cases {
            match (read(value), wanted) {
                (Ok(read), Ok(wanted)) => assert_eq!(read, wanted),
                (Err(faults), Err(wanted)) => {
                    assert!(faults.len() == 1 && faults[0].starts_with(wanted), "{faults:?}")
                }
                (read, _) => panic!("{value}: {read:?}"),
            }
        }
    }
}
