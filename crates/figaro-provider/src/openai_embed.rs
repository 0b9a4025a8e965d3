//! Vectors of OpenAI, and of the many that speak its dialect: `POST /embeddings`. Built by the descriptors of both.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;

use super::embed::service::{Answer, Service, Wire};
use super::embed::{Embedder, Purpose};
use super::openai_client::OpenAiClient;
use super::{Capabilities, ProviderError};
use figaro_config::ProviderSettings;

/// The most tokens of a text where nothing is known of its model: what those of OpenAI take.
const MAX_TOKENS: usize = 8191;

/// A model behind `/embeddings`.
#[derive(Debug)]
struct OpenAiEmbeddings {
    client: OpenAiClient,
    model: String,
}

#[derive(Debug, Deserialize)]
struct Listed {
    data: Vec<Entry>,
    usage: Option<Usage>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    /// Which of the texts it belongs to; some leave it out and keep the order.
    #[serde(default)]
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Debug, Deserialize)]
struct Usage {
    prompt_tokens: Option<u64>,
}

/// A model of a service that speaks the dialect.
pub(super) fn embedder(
    settings: &ProviderSettings,
    model: &str,
    http: reqwest::Client,
    idle_limit: Duration,
) -> Arc<dyn Embedder> {
    let client = OpenAiClient::new(http, &settings.base_url, settings.given_key(), idle_limit);
    let wire = OpenAiEmbeddings { client, model: model.to_owned() };
    let max_tokens = Capabilities::known_window(settings.name, model).unwrap_or(MAX_TOKENS);
    Arc::new(Service::new(format!("{}:{model}", settings.name), wire, max_tokens))
}

#[async_trait]
impl Wire for OpenAiEmbeddings {
    /// The dialect does not tell questions from passages.
    async fn ask(&self, _purpose: Purpose, texts: &[&str]) -> Result<Answer, ProviderError> {
        let body = json!({"model": self.model, "input": texts});
        let Listed { mut data, usage } = self.client.post("/embeddings", &body).await?;
        data.sort_by_key(|entry| entry.index);
        Ok(Answer {
            vectors: data.into_iter().map(|entry| entry.embedding).collect(),
            tokens: usage.and_then(|usage| usage.prompt_tokens),
        })
    }
}
