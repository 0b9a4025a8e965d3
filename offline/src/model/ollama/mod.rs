//! Ollama's native API: `POST /api/chat`, with `/api/tags` and `/api/show` to find out what there is.

mod rules;
mod stream;
#[cfg(test)]
mod tests;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Map, Value, json};

use super::checks::{OpenCalls, picture_type, unknown_field};
use super::dialect::{Call, Dialect, Event, Refusal, Turn};
use super::request::{Asked, ModelRequest};
use super::{OfflineModel, http};

/// A model that is installed.
#[derive(Debug)]
struct Installed {
    name: &'static str,
    family: &'static str,
    size: &'static str,
    context: u64,
    capabilities: &'static [&'static str],
}

const MODELS: [Installed; 4] = [
    Installed {
        name: "llama3.2:latest",
        family: "llama",
        size: "3.2B",
        context: 131_072,
        capabilities: &["completion", "tools"],
    },
    Installed {
        name: "qwen3-vl:8b",
        family: "qwen3vl",
        size: "8.8B",
        context: 262_144,
        capabilities: &["completion", "vision", "tools", "thinking"],
    },
    Installed {
        name: "gemma3:4b",
        family: "gemma3",
        size: "4.3B",
        context: 131_072,
        capabilities: &["completion", "vision"],
    },
    Installed {
        name: "nomic-embed-text:latest",
        family: "nomic-bert",
        size: "137M",
        context: 2_048,
        capabilities: &["embedding"],
    },
];

impl Installed {
    /// A name without a tag means the latest.
    fn of(name: &str) -> Option<&'static Self> {
        let is_it = |known: &str| known == name || known.strip_suffix(":latest") == Some(name);
        MODELS.iter().find(|model| is_it(model.name))
    }

    fn can(&self, capability: &str) -> bool {
        self.capabilities.contains(&capability)
    }

    fn details(&self) -> Value {
        json!({
            "parent_model": "", "format": "gguf", "family": self.family, "families": [self.family],
            "parameter_size": self.size, "quantization_level": "Q4_K_M",
        })
    }
}

#[derive(Debug)]
struct Ollama;

pub(super) fn routes() -> Router<OfflineModel> {
    Router::new()
        .route("/api/chat", http::route(&Ollama))
        .route("/api/tags", get(tags))
        .route("/api/show", post(show))
}

async fn tags(State(model): State<OfflineModel>) -> Response {
    let at = model.0.runtime.now().to_rfc3339();
    let listed = MODELS.iter().filter(|known| !model.is_retired(known.name)).map(|known| {
        json!({
            "name": known.name, "model": known.name, "modified_at": at, "size": 2_019_393_189_u64,
            "digest": "a80c4f17acd55265feec403c7aef86be0c25983ab279d83f3bcd3abbcb5b8b72", "details": known.details(),
        })
    });
    Json(json!({"models": listed.collect::<Vec<_>>()})).into_response()
}

async fn show(State(model): State<OfflineModel>, Json(body): Json<Value>) -> Response {
    let name = body["model"].as_str().unwrap_or_default();
    if let Some(why) = unknown_field(&body, &["model", "verbose"])
        .map(|unknown| format!("unknown field '{unknown}'"))
        .or_else(|| name.is_empty().then(|| "model is required".to_owned()))
    {
        #[cfg(feature = "testing")]
        model.0.records.add_violation(&why);
        return http::refusal(&Ollama, &why.into());
    }
    let Some(known) = Installed::of(name).filter(|_| !model.is_retired(name)) else {
        let gone = Refusal { status: StatusCode::NOT_FOUND, message: Ollama.gone(name) };
        return http::refusal(&Ollama, &gone);
    };
    let mut info = Map::new();
    info.insert("general.architecture".to_owned(), known.family.into());
    info.insert(format!("{}.context_length", known.family), known.context.into());
    let shown = json!({
        "modelfile": "", "parameters": "", "template": "{{ .Prompt }}", "details": known.details(),
        "model_info": info, "capabilities": known.capabilities, "modified_at": model.0.runtime.now().to_rfc3339(),
    });
    Json(shown).into_response()
}

impl Dialect for Ollama {
    /// It knows no keys.
    fn identify(&self, _: &Call<'_>) -> Result<(), Refusal> {
        Ok(())
    }

    fn serves(&self, model: &str) -> bool {
        Installed::of(model).is_some()
    }

    fn gone(&self, model: &str) -> String {
        format!("model '{model}' not found")
    }

    fn check(&self, call: &Call<'_>) -> Result<(), Refusal> {
        rules::check(call.body)
    }

    fn asked(&self, call: &Call<'_>) -> Asked {
        let body = call.body;
        let list = |name: &str| body[name].as_array().map(Vec::as_slice).unwrap_or_default();
        let (system, spoken): (Vec<&Value>, Vec<&Value>) =
            list("messages").iter().partition(|message| message["role"] == "system");
        let instructions: Vec<&str> =
            system.iter().filter_map(|message| message["content"].as_str()).collect();
        let names = list("tools").iter().filter_map(|tool| tool["function"]["name"].as_str());
        let mut open = OpenCalls::default();
        Asked {
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            instructions: instructions.join("\n"),
            input: spoken.into_iter().flat_map(|message| items(message, &mut open)).collect(),
            tools: names.map(ToOwned::to_owned).collect(),
            searches: false,
            json: !body["format"].is_null(),
            whole: false,
        }
    }

    fn error(&self, _: StatusCode, message: &str, _: Option<u64>) -> Value {
        json!({"error": message})
    }

    fn content_type(&self, _: &ModelRequest) -> &'static str {
        "application/x-ndjson"
    }

    fn events(&self, turn: &Turn<'_>) -> Vec<Event> {
        stream::events(turn)
    }

    #[cfg(feature = "testing")]
    fn failure(&self, _: &Turn<'_>, _: usize, message: &str) -> Vec<u8> {
        stream::failure(message)
    }
}

/// A message as items of the common form.
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
