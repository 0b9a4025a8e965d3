//! Embeddings of OpenAI and the many services with its dialect: `POST /embeddings`. Built by the descriptors of both.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;

use super::embed::service::{EmbedService, EmbeddingResponse, Wire};
use super::embed::{EmbedPurpose, Embedder};
use super::openai_client::OpenAiClient;
use super::{Capabilities, ProviderError};
use figaro_config::ProviderSettings;

/// Maximum length of a text, in tokens, if nothing is known about its model: the limit of OpenAI's models.
const MAX_TOKENS: usize = 8191;

#[derive(Debug)]
struct OpenAiEmbeddings {
    client: OpenAiClient,
    model: String,
}

#[derive(Debug, Deserialize)]
struct OpenAiEmbedResponse {
    data: Vec<OpenAiEmbedding>,
    usage: Option<OpenAiUsage>,
}

#[derive(Debug, Deserialize)]
struct OpenAiEmbedding {
    /// Index of the text that the vector belongs to. Some services omit it and keep the order.
    #[serde(default)]
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Debug, Deserialize)]
struct OpenAiUsage {
    prompt_tokens: Option<u64>,
}

/// Builds an embedding model of a service with this dialect.
pub(super) fn embedder(
    settings: &ProviderSettings,
    model: &str,
    http: reqwest::Client,
    idle_limit: Duration,
) -> Arc<dyn Embedder> {
    let client = OpenAiClient::new(http, &settings.base_url, settings.given_key(), idle_limit);
    let wire = OpenAiEmbeddings { client, model: model.to_owned() };
    let max_tokens = Capabilities::known_window(settings.name, model).unwrap_or(MAX_TOKENS);
    Arc::new(EmbedService::new(format!("{}:{model}", settings.name), wire, max_tokens))
}

#[async_trait]
impl Wire for OpenAiEmbeddings {
    /// The dialect does not distinguish questions from passages.
    async fn ask(&self, _purpose: EmbedPurpose, texts: &[&str]) -> Result<EmbeddingResponse, ProviderError> {
        let body = json!({"model": self.model, "input": texts});
        let OpenAiEmbedResponse { mut data, usage } = self.client.post("/embeddings", &body).await?;
        data.sort_by_key(|entry| entry.index);
        Ok(EmbeddingResponse {
            vectors: data.into_iter().map(|entry| entry.embedding).collect(),
            tokens: usage.and_then(|usage| usage.prompt_tokens),
        })
    }
}
