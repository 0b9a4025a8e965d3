//! OpenAI's Chat Completions, the dialect of compatible servers: `POST /v1/chat/completions`.

mod rules;
mod stream;
#[cfg(test)]
mod tests;

use axum::Router;
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::dialect::{Call, Dialect, Event, Refusal, Turn};
use super::request::{Asked, ModelRequest, text_of};
use super::{OfflineModel, http, openai};

#[derive(Debug)]
struct Chat;

pub(super) fn routes() -> Router<OfflineModel> {
    Router::new().route("/v1/chat/completions", http::route(&Chat))
}

impl Dialect for Chat {
    fn identify(&self, call: &Call<'_>) -> Result<(), Refusal> {
        openai::identify(call.headers)
    }

    fn serves(&self, _: &str) -> bool {
        true
    }

    fn gone(&self, model: &str) -> String {
        openai::gone(model)
    }

    fn check(&self, call: &Call<'_>) -> Result<(), Refusal> {
        Ok(rules::check(call.body)?)
    }

    fn asked(&self, call: &Call<'_>) -> Asked {
        let body = call.body;
        let list = |name: &str| body[name].as_array().map(Vec::as_slice).unwrap_or_default();
        let (system, spoken): (Vec<&Value>, Vec<&Value>) =
            list("messages").iter().partition(|message| is_system(message));
        let instructions: Vec<String> = system.iter().map(|message| text_of(&message["content"])).collect();
        let names = list("tools").iter().filter_map(|tool| tool["function"]["name"].as_str());
        Asked {
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            instructions: instructions.join("\n"),
            input: spoken.into_iter().flat_map(items).collect(),
            tools: names.map(ToOwned::to_owned).collect(),
            searches: body["web_search_options"].is_object(),
            json: matches!(body["response_format"]["type"].as_str(), Some("json_object" | "json_schema")),
            whole: false,
        }
    }

    fn error(&self, status: StatusCode, message: &str, _: Option<u64>) -> Value {
        openai::error(status, message)
    }

    fn content_type(&self, _: &ModelRequest) -> &'static str {
        "text/event-stream; charset=utf-8"
    }

    fn events(&self, turn: &Turn<'_>) -> Vec<Event> {
        stream::events(turn)
    }

    #[cfg(feature = "testing")]
    fn failure(&self, _: &Turn<'_>, _: usize, message: &str) -> Vec<u8> {
        stream::failure(message)
    }
}

/// Where a model's reasoning stands. DeepSeek's goes back where it came from; of others it must not come back.
fn reasoning_field(model: &str) -> &'static str {
    if gives_reasoning(model) { "reasoning_content" } else { "reasoning" }
}

fn gives_reasoning(model: &str) -> bool {
    model.to_lowercase().contains("deepseek")
}

fn is_system(message: &Value) -> bool {
    matches!(message["role"].as_str(), Some("system" | "developer"))
}

/// A message as items of the common form.
fn items(message: &Value) -> Vec<Value> {
    let content = &message["content"];
    match message["role"].as_str() {
        Some("tool") => vec![json!({
            "type": "function_call_output", "call_id": message["tool_call_id"], "output": text_of(content),
        })],
        Some("assistant") => {
            let text = text_of(content);
            let said = (!text.is_empty())
                .then(|| json!({"role": "assistant", "content": [{"type": "output_text", "text": text}]}));
            let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
                let function = &call["function"];
                json!({
                    "type": "function_call", "call_id": call["id"], "name": function["name"],
                    "arguments": function["arguments"],
                })
            });
            said.into_iter().chain(calls).collect()
        }
        _ => {
            let parts: Vec<Value> = match content {
                Value::Array(parts) => parts.iter().map(part).collect(),
                text => vec![json!({"type": "input_text", "text": text})],
            };
            vec![json!({"role": message["role"], "content": parts})]
        }
    }
}

fn part(part: &Value) -> Value {
    if part["type"] == "image_url" {
        return json!({"type": "input_image", "image_url": part["image_url"]["url"]});
    }
    json!({"type": "input_text", "text": part["text"]})
}
