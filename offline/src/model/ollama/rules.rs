//! Ollama's rules, including mistakes that Ollama silently ignores or cuts. Reports the first violation.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use serde_json::Value;

use super::super::checks::{
    OpenCalls, at_least, is_base64, non_empty_str, references, unknown_field, within,
};
use super::super::dialect::{DialectError, Validation};
use super::super::openai;
use super::installed::Installed;

const FIELDS: [&str; 10] =
    ["model", "messages", "stream", "format", "keep_alive", "tools", "options", "think", "truncate", "shift"];

const WHOLE_OPTIONS: [&str; 9] = [
    "num_keep",
    "seed",
    "num_predict",
    "top_k",
    "repeat_last_n",
    "num_ctx",
    "num_batch",
    "num_gpu",
    "num_thread",
];

const REAL_OPTIONS: [&str; 7] =
    ["top_p", "min_p", "typical_p", "temperature", "repeat_penalty", "presence_penalty", "frequency_penalty"];

/// Context length without `num_ctx`, in tokens.
const DEFAULT_CONTEXT: u64 = 4_096;

/// Assumed bytes of text per token. There is no tokenizer, so the estimate is cautious.
const BYTES_A_TOKEN: u64 = 6;

/// Checks the body of a request for an installed model.
pub(super) fn check(body: &Value) -> Result<(), DialectError> {
    if !body.is_object() {
        return Err("missing request body".to_owned().into());
    }
    let Some(model) = body["model"].as_str().and_then(Installed::of) else {
        return Err("model is required".to_owned().into());
    };
    fields(body)?;
    capable(body, model)?;
    let Some(messages) = body["messages"].as_array().filter(|messages| !messages.is_empty()) else {
        return Err("without messages a model is only loaded, and nothing is said".to_owned().into());
    };
    for (at, message) in messages.iter().enumerate() {
        self::message(message).map_err(|why| format!("messages[{at}]: {why}"))?;
    }
    if !model.can("vision") && messages.iter().any(|message| !message["images"].is_null()) {
        let message = "this model is missing data required for image input".to_owned();
        return Err(DialectError { status: StatusCode::INTERNAL_SERVER_ERROR, message });
    }
    order(messages)?;
    Ok(context(body, messages)?)
}

fn fields(body: &Value) -> Validation {
    if let Some(unknown) = unknown_field(body, &FIELDS) {
        return Err(format!("'{unknown}' is no field of a chat request, and would be passed over"));
    }
    if !body["stream"].is_null() && body["stream"] != true {
        return Err("stream must be true or left out".to_owned());
    }
    let is_flag = |name: &&str| body[name].is_null() || body[name].is_boolean();
    if let Some(name) = ["truncate", "shift"].into_iter().find(|name| !is_flag(name)) {
        return Err(format!("json: cannot unmarshal {name} into a bool"));
    }
    let format = &body["format"];
    if !(format.is_null() || format == "json" || format["type"] == "object") {
        return Err(format!("invalid format: {format}; expected \"json\" or a valid JSON Schema object"));
    }
    let keep = &body["keep_alive"];
    if !(keep.is_null() || keep.is_number() || keep.as_str().is_some_and(is_duration)) {
        return Err(format!("time: invalid duration {keep}"));
    }
    options(&body["options"])?;
    tools(&body["tools"])
}

/// Returns `true` for durations such as `5m` or `1h30m`.
fn is_duration(text: &str) -> bool {
    let starts = text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    starts && text.ends_with(['s', 'm', 'h'])
}

fn options(options: &Value) -> Validation {
    let Value::Object(set) = options else {
        return if options.is_null() { Ok(()) } else { Err("options must be an object".to_owned()) };
    };
    for (name, value) in set {
        match name.as_str() {
            known if WHOLE_OPTIONS.contains(&known) && value.is_i64() => {}
            known if WHOLE_OPTIONS.contains(&known) => {
                return Err(format!("option \"{name}\" must be of type integer"));
            }
            known if REAL_OPTIONS.contains(&known) && value.is_number() => {}
            known if REAL_OPTIONS.contains(&known) => {
                return Err(format!("option \"{name}\" must be of type float32"));
            }
            "stop" if value.as_array().is_some_and(|stop| stop.iter().all(Value::is_string)) => {}
            "stop" => return Err("option \"stop\" must be of an array of strings".to_owned()),
            _ => return Err(format!("invalid option provided: {name}")),
        }
    }
    at_least(options, "num_ctx", 1)?;
    within(options, "temperature", 0.0, 2.0)?;
    within(options, "top_p", 0.0, 1.0)?;
    within(options, "repeat_penalty", 0.0, 2.0)
}

fn tools(tools: &Value) -> Validation {
    let list = match tools {
        Value::Null => return Ok(()),
        Value::Array(list) => list,
        _ => return Err("json: cannot unmarshal tools into a list".to_owned()),
    };
    let mut names = BTreeSet::new();
    for (at, tool) in list.iter().enumerate() {
        let function = &tool["function"];
        let unknown = unknown_field(tool, &["type", "function"])
            .or_else(|| unknown_field(function, &["name", "description", "parameters"]));
        if let Some(unknown) = unknown {
            return Err(format!("tools[{at}]: '{unknown}' would be passed over"));
        }
        let name = non_empty_str(function, "name").unwrap_or_default();
        if tool["type"] != "function" || !openai::is_name(name) || !names.insert(name) {
            return Err(format!(
                "tools[{at}]: must be a function with a name of its own, of 1 to 64 of [a-zA-Z0-9_-]"
            ));
        }
        parameters(&function["parameters"]).map_err(|why| format!("tools[{at}] '{name}': {why}"))?;
    }
    Ok(())
}

/// Checks that Ollama's own types can represent a schema.
fn parameters(schema: &Value) -> Validation {
    if schema["type"] != "object" || !schema["properties"].is_object() {
        return Err("the parameters must have type 'object' and properties".to_owned());
    }
    references(schema)?;
    property(schema)
}

fn property(schema: &Value) -> Validation {
    if !schema.is_object() {
        return Err(format!("json: cannot unmarshal {schema} into Go value of type api.ToolProperty"));
    }
    let texts = |list: &Value| list.as_array().is_some_and(|all| all.iter().all(Value::is_string));
    let is_type = |kind: &Value| kind.is_null() || kind.is_string() || texts(kind);
    if !is_type(&schema["type"]) {
        return Err("json: a type is a string or a list of strings".to_owned());
    }
    if !schema["required"].is_null() && !texts(&schema["required"]) {
        return Err("json: required is a list of strings".to_owned());
    }
    if !schema["enum"].is_null() && !schema["enum"].is_array() {
        return Err("json: enum is a list".to_owned());
    }
    schema["anyOf"].as_array().into_iter().flatten().try_for_each(property)?;
    let properties = schema["properties"].as_object();
    properties.into_iter().flat_map(|all| all.values()).try_for_each(property)
}

fn capable(body: &Value, model: &Installed) -> Validation {
    let name = model.name;
    if !model.can("completion") {
        return Err(format!("\"{name}\" does not support chat"));
    }
    if body["tools"].as_array().is_some_and(|tools| !tools.is_empty()) && !model.can("tools") {
        return Err(format!("registry.ollama.ai/library/{name} does not support tools"));
    }
    match &body["think"] {
        Value::Null | Value::Bool(false) => Ok(()),
        Value::Bool(true) if model.can("thinking") => Ok(()),
        Value::String(level) if !matches!(level.as_str(), "high" | "medium" | "low" | "max") => {
            Err(format!("invalid think value: \"{level}\""))
        }
        Value::String(_) if model.can("thinking") => Ok(()),
        Value::Bool(_) | Value::String(_) => Err(format!("\"{name}\" does not support thinking")),
        _ => Err("think must be a boolean or string".to_owned()),
    }
}

fn message(message: &Value) -> Validation {
    let known: &[&str] = match message["role"].as_str() {
        Some("system") => &["role", "content"],
        Some("user") => &["role", "content", "images"],
        Some("assistant") => &["role", "content", "thinking", "tool_calls"],
        Some("tool") => &["role", "content", "tool_name", "tool_call_id"],
        _ => {
            return Err(
                "invalid role, must be one of [\"system\", \"user\", \"assistant\", \"tool\"]".to_owned()
            );
        }
    };
    if let Some(unknown) = unknown_field(message, known) {
        return Err(format!("'{unknown}' would be passed over in a message of this role"));
    }
    if !message["content"].is_string() {
        return Err(
            "json: cannot unmarshal content into Go struct field Message.content of type string".to_owned()
        );
    }
    if message["role"] == "tool" && non_empty_str(message, "tool_name").is_none() {
        return Err("a result names its tool in tool_name".to_owned());
    }
    let is_empty = ["images", "tool_calls"].iter().all(|name| message[name].is_null());
    if is_empty && message["role"] != "tool" && message["content"] == "" {
        return Err("a message must say something".to_owned());
    }
    images(&message["images"])?;
    let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    calls.iter().try_for_each(call)
}

fn images(images: &Value) -> Validation {
    let is_list = images.as_array().is_some_and(|all| !all.is_empty());
    if !images.is_null() && !is_list {
        return Err("images must be a list of base64 texts".to_owned());
    }
    let mut all = images.as_array().into_iter().flatten();
    match all.find(|image| !image.as_str().is_some_and(is_base64)) {
        Some(_) => {
            Err("illegal base64 data at input byte 0: an image is its bytes, and no address".to_owned())
        }
        None => Ok(()),
    }
}

fn call(call: &Value) -> Validation {
    let function = &call["function"];
    let unknown = unknown_field(call, &["id", "type", "function"])
        .or_else(|| unknown_field(function, &["index", "name", "arguments", "description"]));
    if let Some(unknown) = unknown {
        return Err(format!("'{unknown}' would be passed over in a tool call"));
    }
    if non_empty_str(function, "name").is_none() {
        return Err("a tool call has the name of its function".to_owned());
    }
    if function["arguments"].is_object() {
        return Ok(());
    }
    Err("json: cannot unmarshal arguments into Go struct field ToolCallFunction.arguments: they are an object".to_owned())
}

/// Checks the order that templates need: system message first, results directly after their calls.
fn order(messages: &[Value]) -> Validation {
    let mut open = OpenCalls::default();
    let unanswered = |open: &OpenCalls, at: usize| match open.first() {
        Some(call) => Err(format!("messages[{at}]: the call of {} has no result yet", call.name)),
        None => Ok(()),
    };
    for (at, message) in messages.iter().enumerate() {
        if message["role"] == "tool" {
            let name = message["tool_name"].as_str().unwrap_or_default();
            if open.answer(message["tool_call_id"].as_str(), name).is_none() {
                return Err(format!("messages[{at}]: a result of {name}, which was not called before"));
            }
            continue;
        }
        unanswered(&open, at)?;
        if at > 0 && message["role"] == "system" {
            return Err(format!("messages[{at}]: the system message comes first"));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            open.call(call["id"].as_str(), call["function"]["name"].as_str().unwrap_or_default());
        }
    }
    unanswered(&open, messages.len())?;
    if messages.last().is_some_and(|message| message["role"] == "user" || message["role"] == "tool") {
        return Ok(());
    }
    Err("the last word is the user's or a tool's".to_owned())
}

/// Checks that the conversation fits the context. Ollama would silently cut its beginning.
fn context(body: &Value, messages: &[Value]) -> Validation {
    let room = body["options"]["num_ctx"].as_u64().unwrap_or(DEFAULT_CONTEXT);
    let texts = messages.iter().map(|message| {
        message["content"].as_str().unwrap_or_default().len() + message["tool_calls"].to_string().len()
    });
    let bytes = u64::try_from(texts.sum::<usize>() + body["tools"].to_string().len()).unwrap_or(u64::MAX);
    let tokens = bytes / BYTES_A_TOKEN;
    if tokens <= room {
        return Ok(());
    }
    Err(format!(
        "about {tokens} tokens do not fit into num_ctx {room}: the oldest would be cut without a word"
    ))
}
