//! Vectors in Ollama's dialect, `POST /api/embed`.

use serde_json::{Value, json};

use super::Ollama;
use super::installed::Installed;
use crate::model::checks::{non_empty_str, unknown_field};
use crate::model::dialect::{Call, Refusal, Service};
use crate::model::vectors::{VectorDialect, VectorRequest, not_served, texts};

/// So many texts we send at most; the server has no bound.
const MAX_TEXTS: usize = 64;

#[derive(Debug)]
pub(super) struct Embed;

impl VectorDialect for Embed {
    fn service(&self) -> &dyn Service {
        &Ollama
    }

    fn read(&self, call: &Call<'_>) -> Result<VectorRequest, Refusal> {
        let body = call.body;
        let known = ["model", "input", "truncate", "dimensions", "options", "keep_alive"];
        if let Some(unknown) = unknown_field(body, &known) {
            return Err(format!("unknown field '{unknown}'").into());
        }
        let name = non_empty_str(body, "model").ok_or_else(|| "model is required".to_owned())?;
        let texts = texts(&body["input"], "input", MAX_TEXTS)?;
        let Some(model) = Installed::of(name) else { return Err(not_served(&Ollama, name)) };
        if !model.can("embedding") {
            return Err("this model does not support embeddings".to_owned().into());
        }
        Ok(VectorRequest { model: name.to_owned(), texts, purpose: String::new() })
    }

    fn write(&self, request: &VectorRequest, vectors: &[Vec<f32>]) -> Value {
        json!({
            "model": request.model, "embeddings": vectors, "total_duration": 14_143_917, "load_duration": 1_019_500,
            "prompt_eval_count": request.tokens(),
        })
    }
}
