//! Vectors of Gemini's models: `POST /models/{model}:batchEmbedContents`. Built by the descriptor.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::GeminiClient;
use crate::embed::service::{Answer, Service, Wire};
use crate::embed::{Embedder, Purpose};
use crate::http::error;
use crate::{Capabilities, ProviderError};
use figaro_base::secret::Redactor;
use figaro_config::ProviderSettings;

/// The most tokens of a text where nothing is known of its model.
const MAX_TOKENS: usize = 2048;

/// A model of the service.
#[derive(Debug)]
struct GeminiEmbeddings {
    client: GeminiClient,
    redactor: Redactor,
    model: String,
    limit: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    embeddings: Vec<Entry>,
    usage_metadata: Option<Usage>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    values: Vec<f32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    prompt_token_count: Option<u64>,
}

/// A model of the service of these settings.
pub(super) fn embedder(
    settings: &ProviderSettings,
    model: &str,
    http: reqwest::Client,
    limit: Duration,
) -> Arc<dyn Embedder> {
    let wire = GeminiEmbeddings {
        client: GeminiClient::new(http, &settings.base_url, settings.key.clone()),
        redactor: Redactor::new([&settings.key]),
        model: model.to_owned(),
        limit,
    };
    let max_tokens = Capabilities::known_window(settings.name, model).unwrap_or(MAX_TOKENS);
    Arc::new(Service::new(format!("{}:{model}", settings.name), wire, max_tokens))
}

#[async_trait]
impl Wire for GeminiEmbeddings {
    async fn ask(&self, purpose: Purpose, texts: &[&str]) -> Result<Answer, ProviderError> {
        let body = |name: &str| body(name, purpose, texts);
        let answer = self.client.post(&self.model, "batchEmbedContents", body, self.limit).await;
        let Listed { embeddings, usage_metadata } =
            answer.map_err(|error| error::presentable(error, &self.redactor))?;
        Ok(Answer {
            vectors: embeddings.into_iter().map(|entry| entry.values).collect(),
            tokens: usage_metadata.and_then(|usage| usage.prompt_token_count),
        })
    }
}

/// Each request of a batch names the model again.
fn body(name: &str, purpose: Purpose, texts: &[&str]) -> Value {
    let task = match purpose {
        Purpose::Question => "RETRIEVAL_QUERY",
        Purpose::Passage => "RETRIEVAL_DOCUMENT",
    };
    let request =
        |text: &&str| json!({"model": name, "content": {"parts": [{"text": text}]}, "taskType": task});
    json!({"requests": texts.iter().map(request).collect::<Vec<_>>()})
}
