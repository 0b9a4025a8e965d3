//! Rules of Chat Completions, as strict as the strictest server that speaks it. Reports the first violation.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::checks::{at_least, is_object_text, non_empty_str, unknown_field, within};
use super::super::dialect::Validation;
use super::super::openai;
use super::message::{gives_reasoning, is_system, reasoning_field};

const PARAMETERS: [&str; 23] = [
    "model",
    "messages",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "frequency_penalty",
    "presence_penalty",
    "response_format",
    "reasoning_effort",
    "stop",
    "seed",
    "n",
    "store",
    "user",
    "metadata",
    "service_tier",
    "web_search_options",
];

/// Fields that are allowed only together with `tools`.
const OF_TOOLS: [&str; 2] = ["tool_choice", "parallel_tool_calls"];

/// Checks the body of a request.
pub(super) fn check(body: &Value) -> Validation {
    if !body.is_object() {
        return Err("the body must be a JSON object".to_owned());
    }
    if let Some(unknown) = unknown_field(body, &PARAMETERS) {
        return Err(format!("Unrecognized request argument supplied: {unknown}"));
    }
    let Some(model) = non_empty_str(body, "model") else {
        return Err("you must provide a model parameter".to_owned());
    };
    switches(body)?;
    settings(body, model)?;
    let Some(messages) = body["messages"].as_array().filter(|messages| !messages.is_empty()) else {
        return Err("[] is too short - 'messages'".to_owned());
    };
    for (at, message) in messages.iter().enumerate() {
        self::message(message, model).map_err(|why| format!("Invalid 'messages[{at}]': {why}"))?;
    }
    order(messages)?;
    reasoning(messages, model)?;
    tools(body)?;
    format(body, messages)
}

fn switches(body: &Value) -> Validation {
    if body["stream"] != true {
        return Err("stream must be true".to_owned());
    }
    let options = &body["stream_options"];
    let is_known =
        unknown_field(options, &["include_usage"]).is_none() && options["include_usage"].is_boolean();
    if !(options.is_null() || is_known) {
        return Err("Invalid 'stream_options': include_usage is all it has, and true or false".to_owned());
    }
    if !body["n"].is_null() && body["n"] != 1 {
        return Err("n must be 1".to_owned());
    }
    if body["store"] == true {
        return Err("store must not be true: nothing may be kept at the provider".to_owned());
    }
    Ok(())
}

fn settings(body: &Value, model: &str) -> Validation {
    within(body, "temperature", 0.0, 2.0)?;
    within(body, "top_p", 0.0, 1.0)?;
    within(body, "frequency_penalty", -2.0, 2.0)?;
    within(body, "presence_penalty", -2.0, 2.0)?;
    at_least(body, "max_tokens", 1)?;
    at_least(body, "max_completion_tokens", 1)?;
    if !body["max_tokens"].is_null() && !body["max_completion_tokens"].is_null() {
        return Err("max_tokens and max_completion_tokens cannot both be set".to_owned());
    }
    let refused = ["max_tokens", "temperature", "top_p", "frequency_penalty", "presence_penalty"];
    let refused = refused.into_iter().find(|name| !body[name].is_null());
    match refused.filter(|_| openai::reasons(model)) {
        Some(name) => Err(format!("Unsupported parameter: '{name}' is not supported with this model.")),
        None => Ok(()),
    }
}

fn message(message: &Value, model: &str) -> Validation {
    let known: &[&str] = match message["role"].as_str() {
        Some("system" | "developer" | "user") => &["role", "content", "name"],
        Some("assistant") if gives_reasoning(model) && message[reasoning_field(model)].is_string() => {
            &["role", "content", "tool_calls", "refusal", "name", "reasoning_content"]
        }
        Some("assistant") => &["role", "content", "tool_calls", "refusal", "name"],
        Some("tool") => &["role", "content", "tool_call_id"],
        _ => return Err("role must be one of system, developer, user, assistant, tool".to_owned()),
    };
    if let Some(unknown) = unknown_field(message, known) {
        return Err(format!("Additional properties are not allowed ('{unknown}' was unexpected)"));
    }
    match message["role"].as_str() {
        Some("assistant") => assistant(message),
        Some("tool") if non_empty_str(message, "tool_call_id").is_none() => {
            Err("a tool message has a tool_call_id".to_owned())
        }
        Some("tool") if message["content"] == "" => Ok(()),
        Some("user") => content(&message["content"], Some(model)),
        _ => content(&message["content"], None),
    }
}

fn assistant(message: &Value) -> Validation {
    let calls = match &message["tool_calls"] {
        Value::Null => &[],
        Value::Array(calls) if !calls.is_empty() => calls.as_slice(),
        _ => return Err("[] is too short - 'tool_calls'".to_owned()),
    };
    let is_silent = message["content"].is_null() || message["content"] == "";
    match (is_silent, calls) {
        (true, []) => Err("an assistant message has content or tool_calls".to_owned()),
        (true, calls) => calls.iter().try_for_each(call),
        (false, calls) => {
            content(&message["content"], None)?;
            calls.iter().try_for_each(call)
        }
    }
}

fn call(call: &Value) -> Validation {
    let function = &call["function"];
    if let Some(unknown) = unknown_field(call, &["id", "type", "function"])
        .or_else(|| unknown_field(function, &["name", "arguments"]))
    {
        return Err(format!("Additional properties are not allowed ('{unknown}' was unexpected)"));
    }
    if non_empty_str(call, "id").is_none() || call["type"] != "function" {
        return Err("a tool call has an id and the type 'function'".to_owned());
    }
    if !non_empty_str(function, "name").is_some_and(openai::is_name) {
        return Err("a tool call has the name of a function".to_owned());
    }
    if non_empty_str(function, "arguments").is_some_and(is_object_text) {
        return Ok(());
    }
    Err("arguments must be a JSON object written as a string".to_owned())
}

/// Checks text or a list of parts. Pictures are allowed only if `model` is given and supports them.
fn content(content: &Value, model: Option<&str>) -> Validation {
    let parts = match content {
        Value::String(text) if !text.is_empty() => return Ok(()),
        Value::Array(parts) if !parts.is_empty() => parts,
        _ => return Err("content must be text or a list of parts, and not empty".to_owned()),
    };
    for part in parts {
        match (part["type"].as_str(), model) {
            (Some("text"), _)
                if part["text"].is_string() && unknown_field(part, &["type", "text"]).is_none() => {}
            (Some("image_url"), Some(model)) => image(part, model)?,
            (Some("input_audio"), Some(_)) => sound(part)?,
            (kind, _) => {
                let kind = kind.unwrap_or_default();
                return Err(format!("a part of type '{kind}' is unknown, incomplete, or not for this role"));
            }
        }
    }
    Ok(())
}

fn image(part: &Value, model: &str) -> Validation {
    let image = &part["image_url"];
    let unknown =
        unknown_field(part, &["type", "image_url"]).or_else(|| unknown_field(image, &["url", "detail"]));
    match (unknown, non_empty_str(image, "url")) {
        (Some(unknown), _) => {
            Err(format!("Additional properties are not allowed ('{unknown}' was unexpected)"))
        }
        (None, Some(url)) => openai::picture(url, model),
        (None, None) => Err("an image_url has a url".to_owned()),
    }
}

/// Checks a sound; which formats are taken depends on the server.
fn sound(part: &Value) -> Validation {
    let sound = &part["input_audio"];
    let unknown =
        unknown_field(part, &["type", "input_audio"]).or_else(|| unknown_field(sound, &["data", "format"]));
    match (unknown, non_empty_str(sound, "data").zip(non_empty_str(sound, "format"))) {
        (None, Some((_, "ogg" | "mp3" | "wav" | "m4a" | "flac" | "aac" | "mp4" | "webm"))) => Ok(()),
        _ => Err("an input_audio has data and a format, and nothing else".to_owned()),
    }
}

/// Checks the order: system messages first, each call directly followed by its one result, no model message at the end.
fn order(messages: &[Value]) -> Validation {
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let unanswered = |open: &BTreeSet<&str>| match open.first() {
        Some(id) => Err(format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
             'tool_call_id'. The following tool_call_ids did not have response messages: {id}"
        )),
        None => Ok(()),
    };
    for (at, message) in messages.iter().enumerate() {
        if message["role"] == "tool" {
            if !open.remove(message["tool_call_id"].as_str().unwrap_or_default()) {
                return Err(format!(
                    "Invalid 'messages[{at}]': messages with role 'tool' must be a response to a preceding message \
                     with 'tool_calls'."
                ));
            }
            continue;
        }
        unanswered(&open)?;
        if at > 0 && is_system(message) {
            return Err(format!("Invalid 'messages[{at}]': System message must be at the beginning."));
        }
        let ids =
            message["tool_calls"].as_array().into_iter().flatten().filter_map(|call| call["id"].as_str());
        for id in ids {
            open.insert(id);
            if !seen.insert(id) {
                return Err(format!("Invalid 'messages[{at}]': the tool call id {id} is used twice"));
            }
        }
    }
    unanswered(&open)?;
    match messages.last().and_then(|message| message["role"].as_str()) {
        Some("user" | "tool") => Ok(()),
        _ => Err("Expected last role User or Tool for serving".to_owned()),
    }
}

/// Checks that every message with calls carries reasoning, if any message does.
fn reasoning(messages: &[Value], model: &str) -> Validation {
    let field = reasoning_field(model);
    let lacks = |message: &Value| message["tool_calls"].is_array() && message[field].is_null();
    let is_there = messages.iter().any(|message| !message[field].is_null());
    match messages.iter().position(lacks).filter(|_| is_there) {
        Some(at) => Err(format!("Missing `{field}` field in the assistant message at message index {at}.")),
        None => Ok(()),
    }
}

fn tools(body: &Value) -> Validation {
    let list = match &body["tools"] {
        Value::Null => {
            let needless = OF_TOOLS.into_iter().find(|name| !body[name].is_null());
            return needless.map_or(Ok(()), |name| {
                Err(format!(
                    "Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified."
                ))
            });
        }
        Value::Array(list) if !list.is_empty() => list,
        _ => return Err("[] is too short - 'tools'".to_owned()),
    };
    for (at, tool) in list.iter().enumerate() {
        let known = ["name", "description", "parameters", "strict"];
        if let Some(unknown) =
            unknown_field(tool, &["type", "function"]).or_else(|| unknown_field(&tool["function"], &known))
        {
            return Err(format!("Unknown parameter: 'tools[{at}].{unknown}'."));
        }
        if tool["type"] != "function" {
            return Err(format!("tools[{at}]: must have the type 'function'"));
        }
    }
    openai::functions(list.iter().map(|tool| &tool["function"]))
}

fn format(body: &Value, messages: &[Value]) -> Validation {
    let format = &body["response_format"];
    if format.is_null() {
        return Ok(());
    }
    openai::format(format, &format["json_schema"])?;
    let is_free = format["type"] == "json_object";
    if is_free && !openai::speaks_of_json(messages.iter().map(|message| &message["content"])) {
        return Err(
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
                .to_owned(),
        );
    }
    Ok(())
}
