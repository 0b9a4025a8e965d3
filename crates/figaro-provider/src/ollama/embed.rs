//! Vectors of Ollama's models: `POST /api/embed`. Built by the descriptor.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;

use super::client::{Client, explained};
use crate::ProviderError;
use crate::embed::service::{Answer, Service, Wire};
use crate::embed::{Embedder, Purpose};
use crate::http::error;
use figaro_base::secret::Redactor;
use figaro_config::ProviderSettings;

/// The most tokens of a text. What is too long for the model is cut by the server.
const MAX_TOKENS: usize = 8192;

/// A model of one server.
#[derive(Debug)]
struct OllamaEmbeddings {
    client: Client,
    redactor: Redactor,
    model: String,
    /// How long an answer may take: the model may have to be loaded for it.
    limit: Duration,
}

#[derive(Debug, Deserialize)]
struct Listed {
    embeddings: Vec<Vec<f32>>,
    prompt_eval_count: Option<u64>,
}

/// A model of the server of these settings.
pub(super) fn embedder(
    settings: &ProviderSettings,
    model: &str,
    http: reqwest::Client,
    limit: Duration,
) -> Arc<dyn Embedder> {
    let key = settings.given_key();
    let wire = OllamaEmbeddings {
        client: Client::new(http, &settings.base_url, key.as_ref()),
        redactor: Redactor::new(&key),
        model: model.to_owned(),
        limit,
    };
    Arc::new(Service::new(format!("{}:{model}", settings.name), wire, MAX_TOKENS))
}

#[async_trait]
impl Wire for OllamaEmbeddings {
    /// The server does not tell questions from passages.
    async fn ask(&self, _purpose: Purpose, texts: &[&str]) -> Result<Answer, ProviderError> {
        let body = json!({"model": self.model, "input": texts});
        let asking = self.client.json("/api/embed", Some(&body));
        let answer = timeout(self.limit, asking).await.unwrap_or(Err(ProviderError::Stalled(self.limit)));
        let Listed { embeddings, prompt_eval_count } =
            answer.map_err(|error| error::presentable(explained(error, &self.model), &self.redactor))?;
        Ok(Answer { vectors: embeddings, tokens: prompt_eval_count })
    }
}
