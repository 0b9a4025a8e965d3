//! Vectors in Ollama's dialect, `POST /api/embed`.

use serde_json::{Value, json};

use super::installed::Installed;
use crate::model::checks::{non_empty_str, unknown_field};
use crate::model::dialect::DialectError;
use crate::model::request::VectorRequest;
use crate::model::vectors::texts;

/// Maximum number of texts the bot sends in a request. Ollama itself has no limit.
const MAX_TEXTS: usize = 64;

/// Checks and parses a request for vectors. Does not check that the model exists.
pub(super) fn read(body: &Value) -> Result<VectorRequest, DialectError> {
    let known = ["model", "input", "truncate", "dimensions", "options", "keep_alive"];
    if let Some(unknown) = unknown_field(body, &known) {
        return Err(format!("unknown field '{unknown}'").into());
    }
    let name = non_empty_str(body, "model").ok_or_else(|| "model is required".to_owned())?;
    let texts = texts(&body["input"], "input", MAX_TEXTS)?;
    if Installed::of(name).is_some_and(|model| !model.can("embedding")) {
        return Err("this model does not support embeddings".to_owned().into());
    }
    Ok(VectorRequest { model: name.to_owned(), texts, purpose: String::new() })
}

/// Returns the body of the answer.
pub(super) fn write(request: &VectorRequest, vectors: &[Vec<f32>]) -> Value {
    json!({
        "model": request.model, "embeddings": vectors, "total_duration": 14_143_917, "load_duration": 1_019_500,
        "prompt_eval_count": request.tokens(),
    })
}
