//! Ollama's native API: `POST /api/chat`, with `/api/tags` and `/api/show` to list and describe models.

mod embed;
mod installed;
mod rules;
mod stream;
#[cfg(test)]
mod tests;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Map, Value, json};

use self::installed::Installed;
use super::checks::{OpenCalls, picture_type, unknown_field};
use super::dialect::{Dialect, DialectError, ModelCall, ModelTurn, Service, VectorDialect, WireEvent};
use super::request::{ModelRequest, RequestContent, VectorRequest};
use super::respond;
use super::shared::SharedModel;
use super::vectors;

#[derive(Debug)]
struct OllamaDialect;

pub(super) fn routes() -> Router<SharedModel> {
    Router::new()
        .route("/api/chat", respond::route(&OllamaDialect))
        .route("/api/embed", vectors::route(&OllamaDialect))
        .route("/api/tags", get(tags))
        .route("/api/show", post(show))
}

async fn tags(State(shared): State<SharedModel>) -> Response {
    let at = shared.now().to_rfc3339();
    let listed = installed::MODELS.iter().filter(|known| !shared.is_retired(known.name)).map(|known| {
        json!({
            "name": known.name, "model": known.name, "modified_at": at, "size": 2_019_393_189_u64,
            "digest": "a80c4f17acd55265feec403c7aef86be0c25983ab279d83f3bcd3abbcb5b8b72", "details": known.details(),
        })
    });
    Json(json!({"models": listed.collect::<Vec<_>>()})).into_response()
}

async fn show(State(shared): State<SharedModel>, Json(body): Json<Value>) -> Response {
    let name = body["model"].as_str().unwrap_or_default();
    if let Some(why) = unknown_field(&body, &["model", "verbose"])
        .map(|unknown| format!("unknown field '{unknown}'"))
        .or_else(|| name.is_empty().then(|| "model is required".to_owned()))
    {
        #[cfg(feature = "testing")]
        shared.records().add_violation(&why);
        return respond::refusal(&OllamaDialect, &why.into());
    }
    let Some(known) = Installed::of(name).filter(|_| !shared.is_retired(name)) else {
        let gone = DialectError { status: StatusCode::NOT_FOUND, message: OllamaDialect.gone(name) };
        return respond::refusal(&OllamaDialect, &gone);
    };
    let mut info = Map::new();
    info.insert("general.architecture".to_owned(), known.family.into());
    info.insert(format!("{}.context_length", known.family), known.context.into());
    let shown = json!({
        "modelfile": "", "parameters": "", "template": "{{ .Prompt }}", "details": known.details(),
        "model_info": info, "capabilities": known.capabilities, "modified_at": shared.now().to_rfc3339(),
    });
    Json(shown).into_response()
}

impl Service for OllamaDialect {
    /// Accepts everyone, as Ollama has no keys.
    fn identify(&self, _: &HeaderMap, _: &Uri) -> Result<(), DialectError> {
        Ok(())
    }

    fn serves(&self, model: &str) -> bool {
        Installed::of(model).is_some()
    }

    fn gone(&self, model: &str) -> String {
        format!("model '{model}' not found")
    }

    fn error(&self, _: StatusCode, message: &str, _: Option<u64>) -> Value {
        json!({"error": message})
    }
}

impl Dialect for OllamaDialect {
    fn service(&self) -> &dyn Service {
        self
    }

    fn check(&self, call: &ModelCall<'_>) -> Result<(), DialectError> {
        rules::check(call.body)
    }

    fn asked(&self, call: &ModelCall<'_>) -> RequestContent {
        let body = call.body;
        let list = |name: &str| body[name].as_array().map(Vec::as_slice).unwrap_or_default();
        let (system, spoken): (Vec<&Value>, Vec<&Value>) =
            list("messages").iter().partition(|message| message["role"] == "system");
        let instructions: Vec<&str> =
            system.iter().filter_map(|message| message["content"].as_str()).collect();
        let names = list("tools").iter().filter_map(|tool| tool["function"]["name"].as_str());
        let mut open = OpenCalls::default();
        RequestContent {
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            instructions: instructions.join("\n"),
            input: spoken.into_iter().flat_map(|message| items(message, &mut open)).collect(),
            tools: names.map(ToOwned::to_owned).collect(),
            searches: false,
            json: !body["format"].is_null(),
            whole: false,
        }
    }

    fn content_type(&self, _: &ModelRequest) -> &'static str {
        "application/x-ndjson"
    }

    fn events(&self, turn: &ModelTurn<'_>) -> Vec<WireEvent> {
        stream::events(turn)
    }

    #[cfg(feature = "testing")]
    fn failure(&self, _: &ModelTurn<'_>, _: usize, message: &str) -> Vec<u8> {
        stream::failure(message)
    }
}

impl VectorDialect for OllamaDialect {
    fn service(&self) -> &dyn Service {
        self
    }

    fn read(&self, call: &ModelCall<'_>) -> Result<VectorRequest, DialectError> {
        let asked = embed::read(call.body)?;
        if self.serves(&asked.model) { Ok(asked) } else { Err(vectors::not_served(self, &asked.model)) }
    }

    fn write(&self, request: &VectorRequest, vectors: &[Vec<f32>]) -> Value {
        embed::write(request, vectors)
    }
}

/// Converts a message into items of the common form.
fn items(message: &Value, open: &mut OpenCalls) -> Vec<Value> {
    let content = message["content"].as_str().unwrap_or_default();
    match message["role"].as_str() {
        Some("tool") => {
            let name = message["tool_name"].as_str().unwrap_or_default();
            let key = open.answer(message["tool_call_id"].as_str(), name).map(|call| call.key);
            vec![json!({"type": "function_call_output", "call_id": key, "output": content})]
        }
        Some("assistant") => {
            let said = (!content.is_empty())
                .then(|| json!({"role": "assistant", "content": [{"type": "output_text", "text": content}]}));
            let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
                let function = &call["function"];
                let key = open.call(call["id"].as_str(), function["name"].as_str().unwrap_or_default());
                let arguments = function["arguments"].to_string();
                json!({
                    "type": "function_call", "call_id": key, "name": function["name"], "arguments": arguments,
                })
            });
            said.into_iter().chain(calls).collect()
        }
        _ => {
            let mut parts = vec![json!({"type": "input_text", "text": content})];
            let images = message["images"].as_array().into_iter().flatten().filter_map(Value::as_str);
            parts.extend(images.map(|data| {
                let kind = picture_type(data).unwrap_or("application/octet-stream");
                json!({"type": "input_image", "image_url": format!("data:{kind};base64,{data}")})
            }));
            vec![json!({"role": message["role"], "content": parts})]
        }
    }
}
