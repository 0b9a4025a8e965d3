//! Transcription of OpenAI and the many servers with its dialect: `POST /audio/transcriptions`. Built by the descriptors of
//! both.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::multipart::{Form, Part};
use serde::Deserialize;

use super::ProviderError;
use super::openai_client::OpenAiClient;
use super::transcribe::{Sound, Transcriber, Transcript, of_seconds};
use figaro_config::ProviderSettings;
use figaro_domain::model::ModelName;
use figaro_domain::usage::Usage;

#[derive(Debug)]
struct OpenAiTranscriber {
    client: OpenAiClient,
    name: ModelName,
}

#[derive(Debug, Deserialize)]
struct TranscriptionResponse {
    text: String,
    usage: Option<TranscriptionUsage>,
}

/// Newer models count tokens, older ones seconds, and other servers nothing.
#[derive(Debug, Deserialize)]
struct TranscriptionUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    seconds: Option<f64>,
}

/// Builds a transcription model of a service with this dialect.
pub(super) fn transcriber(
    settings: &ProviderSettings,
    model: &str,
    http: reqwest::Client,
    idle_limit: Duration,
) -> Arc<dyn Transcriber> {
    let client = OpenAiClient::new(http, &settings.base_url, settings.given_key(), idle_limit);
    let name = ModelName { provider: settings.name.to_owned(), model: model.to_owned() };
    Arc::new(OpenAiTranscriber { client, name })
}

#[async_trait]
impl Transcriber for OpenAiTranscriber {
    fn model(&self) -> &ModelName {
        &self.name
    }

    async fn transcribe(&self, sound: Sound) -> Result<Transcript, ProviderError> {
        let file = Part::bytes(sound.bytes).file_name(sound.name);
        let file = file.mime_str(&sound.mime).map_err(|wrong| ProviderError::Refused(wrong.to_string()))?;
        let form = Form::new().text("model", self.name.model.clone()).text("response_format", "json");
        let answer = self.client.post_form("/audio/transcriptions", form.part("file", file)).await?;
        let TranscriptionResponse { text, usage } = answer;
        let usage = usage.and_then(|TranscriptionUsage { input_tokens, output_tokens, seconds }| {
            let by_time = || seconds.map(|seconds| of_seconds(seconds.max(0.0).ceil() as u64));
            let counted = input_tokens.zip(output_tokens);
            counted.map(|(input, output)| Usage { input, cached: 0, output }).or_else(by_time)
        });
        Ok(Transcript { text, usage })
    }
}
