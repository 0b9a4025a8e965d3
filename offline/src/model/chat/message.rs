//! Messages of Chat Completions: role, reasoning field, conversion into the common form.

use serde_json::{Value, json};

use super::super::request::text_of;

/// Returns the name of the field with a model's reasoning. Only DeepSeek's reasoning must be sent back.
pub(super) fn reasoning_field(model: &str) -> &'static str {
    if gives_reasoning(model) { "reasoning_content" } else { "reasoning" }
}

/// Returns `true` if the model requires its reasoning in later requests, next to the calls it made.
pub(super) fn gives_reasoning(model: &str) -> bool {
    model.to_lowercase().contains("deepseek")
}

/// Returns `true` for instructions (`system` or `developer`), `false` for conversation.
pub(super) fn is_system(message: &Value) -> bool {
    matches!(message["role"].as_str(), Some("system" | "developer"))
}

/// Converts a message into items of the common form.
pub(super) fn items(message: &Value) -> Vec<Value> {
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
    if part["type"] == "input_audio" {
        let word = |name: &str| part["input_audio"][name].as_str().unwrap_or_default();
        let url = format!("data:audio/{};base64,{}", word("format"), word("data"));
        return json!({"type": "input_image", "image_url": url});
    }
    json!({"type": "input_text", "text": part["text"]})
}
