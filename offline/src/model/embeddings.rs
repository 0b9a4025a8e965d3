//! Vectors in OpenAI's dialect, `POST /v1/embeddings`.

use axum::Router;
use serde_json::{Value, json};

use super::checks::{non_empty_str, unknown_field};
use super::dialect::{DialectError, ModelCall, Service, VectorDialect};
use super::openai::OpenAi;
use super::request::VectorRequest;
use super::shared::SharedModel;
use super::vectors::{self, not_served, texts};

/// Maximum number of texts in a request.
const MAX_TEXTS: usize = 2048;
/// Maximum number of tokens in a text. A token is at most one word.
const MAX_TOKENS: usize = 8192;

#[derive(Debug)]
struct Embeddings;

pub(super) fn routes() -> Router<SharedModel> {
    Router::new().route("/v1/embeddings", vectors::route(&Embeddings))
}

impl VectorDialect for Embeddings {
    fn service(&self) -> &dyn Service {
        &OpenAi
    }

    fn read(&self, call: &ModelCall<'_>) -> Result<VectorRequest, DialectError> {
        let body = call.body;
        if let Some(unknown) =
            unknown_field(body, &["model", "input", "encoding_format", "dimensions", "user"])
        {
            return Err(format!("Unrecognized request argument supplied: {unknown}").into());
        }
        let model =
            non_empty_str(body, "model").ok_or_else(|| "you must provide a model parameter".to_owned())?;
        let texts = texts(&body["input"], "'input'", MAX_TEXTS)?;
        if texts.iter().any(String::is_empty) {
            return Err("'input' cannot be an empty string.".to_owned().into());
        }
        if let Some(words) =
            texts.iter().map(|text| text.split_whitespace().count()).find(|words| *words > MAX_TOKENS)
        {
            return Err(format!(
                "This model's maximum context length is {MAX_TOKENS} tokens, however you requested {words} tokens."
            )
            .into());
        }
        if !model.contains("embed") {
            return Err(not_served(&OpenAi, model));
        }
        Ok(VectorRequest { model: model.to_owned(), texts, purpose: String::new() })
    }

    /// Writes the vectors in reverse order, as only the indexes define the order.
    fn write(&self, request: &VectorRequest, vectors: &[Vec<f32>]) -> Value {
        let entries = vectors.iter().enumerate().rev();
        let entries =
            entries.map(|(at, vector)| json!({"object": "embedding", "index": at, "embedding": vector}));
        let tokens = request.tokens();
        json!({
            "object": "list", "data": entries.collect::<Vec<_>>(), "model": request.model,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        })
    }
}
