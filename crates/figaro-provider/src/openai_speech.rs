//! Speech of OpenAI and the servers with its dialect: `POST /audio/speech`. Built by the descriptors of both.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;

use super::ProviderError;
use super::openai_client::OpenAiClient;
use super::speech::{SpeechModel, SpokenText, checked};
use figaro_config::ProviderSettings;
use figaro_domain::model::ModelName;

#[derive(Debug)]
struct OpenAiSpeech {
    client: OpenAiClient,
    name: ModelName,
}

/// Builds a speech model of a service with this dialect.
pub(super) fn speech(
    settings: &ProviderSettings,
    model: &str,
    http: reqwest::Client,
    idle_limit: Duration,
) -> Arc<dyn SpeechModel> {
    let client = OpenAiClient::new(http, &settings.base_url, settings.given_key(), idle_limit);
    let name = ModelName { provider: settings.name.to_owned(), model: model.to_owned() };
    Arc::new(OpenAiSpeech { client, name })
}

#[async_trait]
impl SpeechModel for OpenAiSpeech {
    fn model(&self) -> &ModelName {
        &self.name
    }

    async fn speak(&self, words: &SpokenText) -> Result<Vec<u8>, ProviderError> {
        let SpokenText { text, voice } = words;
        let body =
            json!({"model": self.name.model, "input": text, "voice": voice, "response_format": "opus"});
        checked(self.client.post_for_bytes("/audio/speech", &body).await?)
    }
}
