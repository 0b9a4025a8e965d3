//! Embeddings of Gemini's models: `POST /models/{model}:batchEmbedContents`. Built by the descriptor.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::GeminiClient;
use crate::embed::service::{EmbedService, EmbeddingResponse, Wire};
use crate::embed::{EmbedPurpose, Embedder};
use crate::http::error;
use crate::{Capabilities, ProviderError};
use figaro_base::secret::Redactor;
use figaro_config::ProviderSettings;

/// Maximum length of a text, in tokens, if nothing is known about its model.
const MAX_TOKENS: usize = 2048;

#[derive(Debug)]
struct GeminiEmbeddings {
    client: GeminiClient,
    redactor: Redactor,
    model: String,
    limit: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiEmbedResponse {
    embeddings: Vec<GeminiEmbedding>,
    usage_metadata: Option<GeminiUsage>,
}

#[derive(Debug, Deserialize)]
struct GeminiEmbedding {
    values: Vec<f32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiUsage {
    prompt_token_count: Option<u64>,
}

/// Builds an embedding model of the service in these settings.
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
    Arc::new(EmbedService::new(format!("{}:{model}", settings.name), wire, max_tokens))
}

#[async_trait]
impl Wire for GeminiEmbeddings {
    async fn ask(&self, purpose: EmbedPurpose, texts: &[&str]) -> Result<EmbeddingResponse, ProviderError> {
        let body = |name: &str| body(name, purpose, texts);
        let answer = self.client.post(&self.model, "batchEmbedContents", body, self.limit).await;
        let GeminiEmbedResponse { embeddings, usage_metadata } =
            answer.map_err(|error| error::presentable(error, &self.redactor))?;
        Ok(EmbeddingResponse {
            vectors: embeddings.into_iter().map(|entry| entry.values).collect(),
            tokens: usage_metadata.and_then(|usage| usage.prompt_token_count),
        })
    }
}

/// Builds the body. Each request of a batch names the model again.
fn body(name: &str, purpose: EmbedPurpose, texts: &[&str]) -> Value {
    let task = match purpose {
        EmbedPurpose::Question => "RETRIEVAL_QUERY",
        EmbedPurpose::Passage => "RETRIEVAL_DOCUMENT",
    };
    let request =
        |text: &&str| json!({"model": name, "content": {"parts": [{"text": text}]}, "taskType": task});
    json!({"requests": texts.iter().map(request).collect::<Vec<_>>()})
}
