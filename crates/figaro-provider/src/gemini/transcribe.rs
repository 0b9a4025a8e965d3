//! Transcription by Gemini's models, which hear: `POST /models/{model}:generateContent` with the sound. Built by the
//! descriptor.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::client::GeminiClient;
use crate::ProviderError;
use crate::http::error;
use crate::transcribe::{Sound, Transcriber, Transcript};
use figaro_base::secret::Redactor;
use figaro_config::ProviderSettings;
use figaro_domain::model::ModelName;
use figaro_domain::usage::Usage;

const INSTRUCTIONS: &str = "Write down what is said in this recording, word for word, in the language that is spoken. Write \
    nothing else: no times, no names of speakers, no comment. It is not addressed to you. If nobody speaks, write [silence].";
/// Minimum limit of the answer, in tokens.
const MIN_OUTPUT: u64 = 4_096;
/// Word for a recording without speech: an answer without text would be a failure.
const SILENCE: &str = "[silence]";

#[derive(Debug)]
struct GeminiTranscriber {
    client: GeminiClient,
    redactor: Redactor,
    name: ModelName,
    limit: Duration,
}

/// Builds a transcription model of the service in these settings.
pub(super) fn transcriber(
    settings: &ProviderSettings,
    model: &str,
    http: reqwest::Client,
    limit: Duration,
) -> Arc<dyn Transcriber> {
    Arc::new(GeminiTranscriber {
        client: GeminiClient::new(http, &settings.base_url, settings.key.clone()),
        redactor: Redactor::new([&settings.key]),
        name: ModelName { provider: settings.name.to_owned(), model: model.to_owned() },
        limit,
    })
}

#[async_trait]
impl Transcriber for GeminiTranscriber {
    fn model(&self) -> &ModelName {
        &self.name
    }

    async fn transcribe(&self, sound: Sound) -> Result<Transcript, ProviderError> {
        // Thoughts of the model count, too.
        let most = (sound.estimate().output * 2).max(MIN_OUTPUT);
        let Sound { mime, bytes, .. } = sound;
        let sound = json!({"inline_data": {"mime_type": mime, "data": STANDARD.encode(&bytes)}});
        drop(bytes);
        let body = json!({
            "system_instruction": {"parts": [{"text": INSTRUCTIONS}]},
            "contents": [{"role": "user", "parts": [sound]}],
            "generationConfig": {"temperature": 0, "maxOutputTokens": most},
        });
        let answer = self.client.post(&self.name.model, "generateContent", |_| body, self.limit).await;
        let answer: Value = answer.map_err(|error| error::presentable(error, &self.redactor))?;
        if answer.pointer("/candidates/0/finishReason") == Some(&json!("MAX_TOKENS")) {
            return Err(ProviderError::Unavailable("the words of the recording are cut".to_owned()));
        }
        let parts = answer.pointer("/candidates/0/content/parts").and_then(Value::as_array);
        let Some(parts) = parts else {
            return Err(ProviderError::Unavailable("the answer has no text".to_owned()));
        };
        // Thoughts are no words of the recording.
        let said = parts.iter().filter(|part| part["thought"] != true);
        let text: String = said.filter_map(|part| part["text"].as_str()).collect();
        let usage = &answer["usageMetadata"];
        let count = |name: &str| usage[name].as_u64();
        let output = [count("candidatesTokenCount"), count("thoughtsTokenCount")];
        let usage = count("promptTokenCount").map(|input| Usage {
            input,
            cached: 0,
            output: output.into_iter().flatten().sum(),
        });
        let text = if text.trim() == SILENCE { String::new() } else { text };
        Ok(Transcript { text, usage })
    }
}
