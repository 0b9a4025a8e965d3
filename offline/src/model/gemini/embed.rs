//! Vectors in Gemini's dialect, `POST /v1beta/models/{model}:batchEmbedContents`.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::known::EMBEDDING;
use super::{contents, proto};
use crate::model::dialect::DialectError;
use crate::model::request::VectorRequest;

/// Maximum number of texts in a request.
const MAX_TEXTS: usize = 100;

const TASKS: [&str; 8] = [
    "RETRIEVAL_QUERY",
    "RETRIEVAL_DOCUMENT",
    "SEMANTIC_SIMILARITY",
    "CLASSIFICATION",
    "CLUSTERING",
    "QUESTION_ANSWERING",
    "FACT_VERIFICATION",
    "CODE_RETRIEVAL_QUERY",
];

/// Checks and parses a request for vectors of this model.
pub(super) fn read(body: &Value, model: &str) -> Result<VectorRequest, DialectError> {
    let body = proto::read(body, &proto::BATCH_EMBED, "")?;
    let requests = body["requests"].as_array().filter(|list| (1..=MAX_TEXTS).contains(&list.len()));
    let requests = requests.ok_or_else(|| format!("requests must be a list of 1 to {MAX_TEXTS}"))?;
    if model != EMBEDDING {
        let message = format!(
            "models/{model} is not found for API version v1beta, or is not supported for embedContent. Call ListModels to \
             see the list of available models and their supported methods."
        );
        return Err(DialectError { status: StatusCode::NOT_FOUND, message });
    }
    let mut read = VectorRequest { model: model.to_owned(), ..VectorRequest::default() };
    for request in requests {
        let (text, task) = one(request, model)?;
        read.texts.push(text);
        read.purpose = task;
    }
    Ok(read)
}

/// Returns the body of the answer. It contains no token counts.
pub(super) fn write(vectors: &[Vec<f32>]) -> Value {
    let values = vectors.iter().map(|vector| json!({"values": vector}));
    json!({"embeddings": values.collect::<Vec<_>>()})
}

/// Returns the text and the task type of one request in a batch.
fn one(request: &Value, model: &str) -> Result<(String, String), DialectError> {
    if request["model"] != format!("models/{model}") {
        return Err("the model of each request must be that of the batch, with its models/"
            .to_owned()
            .into());
    }
    let parts = contents::parts(&request["content"]);
    let [part] = parts else { return Err("we send one part a text".to_owned().into()) };
    let text = part["text"].as_str().filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| "content contains an empty Part.".to_owned())?;
    let task = request["taskType"].as_str().filter(|task| TASKS.contains(task));
    let task = task.ok_or_else(|| "taskType must be one of those there are: we always say it".to_owned())?;
    Ok((text.to_owned(), task.to_owned()))
}
