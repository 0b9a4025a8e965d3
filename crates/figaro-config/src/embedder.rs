//! Embedding model, which finds texts that mean the same in other words: `EMBEDDER`.

use std::path::PathBuf;

use super::models::{ModelChoice, ProviderSettings};
use super::of_service::ServiceModel;
use super::reader::VariableReader;

/// The embedding model, which turns texts into vectors.
#[derive(Debug, Clone)]
pub enum EmbedderSettings {
    /// No embeddings: search uses words alone.
    Off,
    /// A model of an embedding service.
    Service {
        /// Connection to the service. Its `model` is empty.
        service: ProviderSettings,
        /// Name of the embedding model at the service.
        model: String,
    },
    /// Folder of a local model, relative to the working directory unless it begins with `/`.
    Local(PathBuf),
}

impl EmbedderSettings {
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Self {
        let text = reader.text("EMBEDDER");
        if text.eq_ignore_ascii_case("off") {
            return Self::Off;
        }
        let parts = text.split_once(':').map(|(kind, what)| (kind.trim(), what.trim()));
        let Some((kind, what)) = parts.filter(|(_, what)| !what.is_empty()) else {
            return Self::unknown(reader);
        };
        if kind.eq_ignore_ascii_case("local") {
            return Self::Local(PathBuf::from(what));
        }
        match ServiceModel::read(reader, &text) {
            Some(ServiceModel { service, model }) => Self::Service { service, model },
            None => Self::unknown(reader),
        }
    }

    fn unknown(reader: &mut VariableReader<'_>) -> Self {
        let words = "is not off, provider:model such as openai:text-embedding-3-small, or local:FOLDER with a sentence model";
        reader.fault("EMBEDDER", words);
        Self::Off
    }

    /// Returns the model at the service; `None` without a service.
    #[must_use]
    pub fn model(&self) -> Option<ModelChoice> {
        match self {
            Self::Service { service, model } => {
                Some(ModelChoice { provider: service.name, model: model.clone() })
            }
            Self::Off | Self::Local(_) => None,
        }
    }

    /// Returns the service to ask; `None` without one.
    #[must_use]
    pub const fn service(&self) -> Option<&ProviderSettings> {
        match self {
            Self::Service { service, .. } => Some(service),
            Self::Off | Self::Local(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::variables::Variables;
    use figaro_base::secret::ExposeSecret;

    fn read(pairs: &[(&str, &str)]) -> Result<String, Vec<String>> {
        let values: HashMap<String, String> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let known = Variables::builtin();
        let mut reader = VariableReader::new(&values, &known);
        let settings = EmbedderSettings::read(&mut reader);
        let read = reader.finish(settings).map_err(|faults| faults.0)?;
        Ok(match read {
            EmbedderSettings::Off => "off".to_owned(),
            EmbedderSettings::Local(folder) => format!("folder {}", folder.display()),
            EmbedderSettings::Service { service, model } => {
                format!("{} {} {} {model}", service.name, service.base_url, service.key.expose_secret())
            }
        })
    }

    #[test]
    fn the_embedder_is_off_a_model_of_a_service_or_a_folder() {
        let key = ("OPENAI_API_KEY", "sk");
        let server = ("COMPATIBLE_BASE_URL", "http://x/v1/");
        let cases = [
            (vec![], "off"),
            (vec![("EMBEDDER", " OFF ")], "off"),
            (vec![("EMBEDDER", "local:./models/mini: lm")], "folder ./models/mini: lm"),
            (
                vec![("EMBEDDER", "OpenAI: text-embedding-3-small"), key],
                "openai https://api.openai.com/v1 sk text-embedding-3-small",
            ),
            // The service needs no model of its own to chat with.
            (vec![("EMBEDDER", "compatible:BAAI/bge-m3"), server], "compatible http://x/v1  BAAI/bge-m3"),
            (
                vec![("EMBEDDER", "ollama:nomic-embed-text:latest")],
                "ollama http://127.0.0.1:11434  nomic-embed-text:latest",
            ),
        ];
        for (pairs, wanted) in cases {
            assert_eq!(read(&pairs).as_deref(), Ok(wanted), "{pairs:?}");
        }
    }

    #[test]
    fn what_is_none_of_them_is_told_and_so_is_what_the_service_lacks() {
        let cases = [
            ("on", "EMBEDDER (`on`) is not off, provider:model such as"),
            ("local:", "EMBEDDER (`local:`) is not off"),
            ("skynet:x", "EMBEDDER (`skynet:x`) is not off"),
            (":x", "EMBEDDER (`:x`) is not off"),
            ("openai:text-embedding-3-small", "OPENAI_API_KEY is missing"),
            ("compatible:m", "COMPATIBLE_BASE_URL is missing"),
            ("gemini:gemini-embedding-001", "GEMINI_API_KEY is missing"),
        ];
        for (value, wanted) in cases {
            let faults = read(&[("EMBEDDER", value)]).unwrap_err();
            assert!(faults.len() == 1 && faults[0].starts_with(wanted), "{value}: {faults:?}");
        }
    }
}
