//! Embeddings of Ollama's models: `POST /api/embed`. Built by the descriptor.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;

use super::client::{OllamaClient, explained};
use crate::ProviderError;
use crate::embed::service::{EmbedService, EmbeddingResponse, Wire};
use crate::embed::{EmbedPurpose, Embedder};
use crate::http::error;
use figaro_base::secret::Redactor;
use figaro_config::ProviderSettings;

/// Maximum length of a text, in tokens. The server cuts a text that is too long for the model.
const MAX_TOKENS: usize = 8192;

#[derive(Debug)]
struct OllamaEmbeddings {
    client: OllamaClient,
    redactor: Redactor,
    model: String,
    /// Timeout of an answer, including the time to load the model.
    limit: Duration,
}

#[derive(Debug, Deserialize)]
struct OllamaEmbedResponse {
    embeddings: Vec<Vec<f32>>,
    prompt_eval_count: Option<u64>,
}

/// Builds an embedding model of the server in these settings.
pub(super) fn embedder(
    settings: &ProviderSettings,
    model: &str,
    http: reqwest::Client,
    limit: Duration,
) -> Arc<dyn Embedder> {
    let key = settings.given_key();
    let wire = OllamaEmbeddings {
        client: OllamaClient::new(http, &settings.base_url, key.as_ref()),
        redactor: Redactor::new(&key),
        model: model.to_owned(),
        limit,
    };
    Arc::new(EmbedService::new(format!("{}:{model}", settings.name), wire, MAX_TOKENS))
}

#[async_trait]
impl Wire for OllamaEmbeddings {
    /// The server does not distinguish questions from passages.
    async fn ask(&self, _purpose: EmbedPurpose, texts: &[&str]) -> Result<EmbeddingResponse, ProviderError> {
        let body = json!({"model": self.model, "input": texts});
        let asking = self.client.json("/api/embed", Some(&body));
        let answer = timeout(self.limit, asking).await.unwrap_or(Err(ProviderError::Stalled(self.limit)));
        let OllamaEmbedResponse { embeddings, prompt_eval_count } =
            answer.map_err(|error| error::presentable(explained(error, &self.model), &self.redactor))?;
        Ok(EmbeddingResponse { vectors: embeddings, tokens: prompt_eval_count })
    }
}
