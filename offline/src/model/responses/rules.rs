//! Rules of the Responses API, as far as the bot uses it. Reports the first violation, in words a developer can act on.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::checks::{is_object_text, non_empty_str, unknown_field, within};
use super::super::dialect::Validation;
use super::super::openai;

const ROLES: [&str; 4] = ["user", "assistant", "system", "developer"];
const PARAMETERS: [&str; 22] = [
    "model",
    "input",
    "instructions",
    "stream",
    "store",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_output_tokens",
    "max_tool_calls",
    "temperature",
    "top_p",
    "reasoning",
    "include",
    "text",
    "metadata",
    "truncation",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "stream_options",
];

/// Allowed values of `include`.
const INCLUDABLE: [&str; 4] = [
    "reasoning.encrypted_content",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "message.output_text.logprobs",
];

/// Name prefixes of models without hosted search.
const SEARCHLESS: [&str; 6] = ["gpt-3.5", "gpt-4.1-nano", "o1", "o3-mini", "gpt-4-", "chatgpt-4o"];

/// Checks the body of a request.
pub(super) fn check(body: &Value) -> Validation {
    if !body.is_object() {
        return Err("the body must be a JSON object".to_owned());
    }
    if let Some(unknown) = unknown_field(body, &PARAMETERS) {
        return Err(format!("Unknown parameter: '{unknown}' (or one we never send)."));
    }
    switches(body)?;
    let Some(items) = body["input"].as_array().filter(|items| !items.is_empty()) else {
        return Err("input must be a list with at least one item".to_owned());
    };
    let model = non_empty_str(body, "model").unwrap_or_default();
    for (at, item) in items.iter().enumerate() {
        self::item(item, model).map_err(|why| format!("input[{at}]: {why}"))?;
    }
    pairs(items)?;
    thoughts(body, items, model)?;
    tools(&body["tools"], model)?;
    format(body, items)
}

fn switches(body: &Value) -> Validation {
    let Some(model) = non_empty_str(body, "model") else {
        return Err("model must be a name".to_owned());
    };
    if non_empty_str(body, "instructions").is_none() {
        return Err("instructions must be text".to_owned());
    }
    if body["stream"] != true {
        return Err("stream must be true".to_owned());
    }
    if body["store"] != false {
        return Err("store must be false: nothing may be kept at the provider".to_owned());
    }
    if !body["max_output_tokens"].is_null() && body["max_output_tokens"].as_u64().is_none_or(|most| most < 16)
    {
        return Err("max_output_tokens must be at least 16".to_owned());
    }
    within(body, "temperature", 0.0, 2.0)?;
    within(body, "top_p", 0.0, 1.0)?;
    let refused = ["temperature", "top_p"].into_iter().find(|name| !body[name].is_null());
    match refused.filter(|_| openai::reasons(model)) {
        Some(name) => Err(format!("Unsupported parameter: '{name}' is not supported with this model.")),
        None => Ok(()),
    }
}

fn item(item: &Value, model: &str) -> Validation {
    let kind = item["type"].as_str().unwrap_or("message");
    let known: &[&str] = match kind {
        "message" => &["type", "role", "content", "id", "status"],
        "function_call" => &["type", "call_id", "name", "arguments", "id", "status"],
        "function_call_output" => &["type", "call_id", "output", "id", "status"],
        "reasoning" => &["type", "id", "summary", "encrypted_content", "content", "status"],
        other => return Err(format!("Invalid value: '{other}' is no type of item we send")),
    };
    if let Some(unknown) = unknown_field(item, known) {
        return Err(format!("Unknown parameter: '{unknown}'."));
    }
    match kind {
        "message" => message(item, model),
        "function_call" => call(item),
        "function_call_output" => output(item, model),
        _ => reasoning(item),
    }
}

fn call(item: &Value) -> Validation {
    if non_empty_str(item, "call_id").is_none() || !non_empty_str(item, "name").is_some_and(openai::is_name) {
        return Err("a function_call has a call_id and the name of a tool".to_owned());
    }
    if non_empty_str(item, "arguments").is_some_and(is_object_text) {
        return Ok(());
    }
    Err("arguments must be a JSON object written as a string".to_owned())
}

fn output(item: &Value, model: &str) -> Validation {
    match &item["output"] {
        _ if non_empty_str(item, "call_id").is_none() => {
            Err("a function_call_output has a call_id".to_owned())
        }
        Value::String(_) => Ok(()),
        Value::Array(parts) => parts.iter().try_for_each(|p| part(p, "input_", model)),
        _ => Err("output must be text or a list of parts".to_owned()),
    }
}

fn reasoning(item: &Value) -> Validation {
    if non_empty_str(item, "encrypted_content").is_none() {
        return Err("reasoning without encrypted_content means nothing when store is false".to_owned());
    }
    if item["summary"].is_array() {
        Ok(())
    } else {
        Err("reasoning has a summary, perhaps an empty list".to_owned())
    }
}

fn message(item: &Value, model: &str) -> Validation {
    let Some(role) = item["role"].as_str().filter(|r| ROLES.contains(r)) else {
        return Err(format!("role must be one of {}", ROLES.join(", ")));
    };
    let prefix = if role == "assistant" { "output_" } else { "input_" };
    match &item["content"] {
        Value::String(text) if !text.is_empty() => Ok(()),
        Value::Array(parts) if !parts.is_empty() => parts.iter().try_for_each(|p| part(p, prefix, model)),
        _ => Err("content must be text or a list of parts, and not empty".to_owned()),
    }
}

fn part(part: &Value, prefix: &str, model: &str) -> Validation {
    let kind = part["type"].as_str().unwrap_or_default();
    let known: &[&str] = match kind {
        "input_text" => &["type", "text"],
        "output_text" => &["type", "text", "annotations", "logprobs"],
        "input_image" => &["type", "image_url", "detail"],
        "refusal" => &["type", "refusal"],
        _ => &[],
    };
    let fits = match kind {
        "input_text" | "output_text" => part["text"].is_string(),
        "input_image" => part["image_url"].is_string(),
        "refusal" => part["refusal"].is_string(),
        _ => false,
    };
    let allowed = kind.starts_with(prefix) || (kind == "refusal" && prefix == "output_");
    if !fits || !allowed {
        return Err(format!("a part of type '{kind}' is unknown, incomplete, or not for this role"));
    }
    if let Some(unknown) = unknown_field(part, known) {
        return Err(format!("Unknown parameter: '{unknown}'."));
    }
    non_empty_str(part, "image_url").map_or(Ok(()), |url| openai::picture(url, model))
}

/// Checks reasoning: only reasoning models accept it, and only with the item that follows from it.
fn thoughts(body: &Value, items: &[Value], model: &str) -> Validation {
    let include = body["include"].as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(unknown) = include.iter().find(|name| !name.as_str().is_some_and(|n| INCLUDABLE.contains(&n)))
    {
        return Err(format!("Invalid value: {unknown} cannot be included"));
    }
    let is_reasoning = |item: &Value| item["type"] == "reasoning";
    if !openai::reasons(model) {
        if include.iter().any(|name| name == "reasoning.encrypted_content") {
            return Err("Encrypted content is not supported with this model.".to_owned());
        }
        if items.iter().any(is_reasoning) {
            return Err("Reasoning input items can only be provided to a reasoning model.".to_owned());
        }
    }
    let follows = |at: usize| {
        let rest = items.get(at + 1..).unwrap_or_default();
        let next = rest.iter().find(|item| !is_reasoning(item));
        next.is_some_and(|item| item["type"] == "function_call" || item["role"] == "assistant")
    };
    match items.iter().enumerate().find(|(at, item)| is_reasoning(item) && !follows(*at)) {
        Some((at, _)) => {
            Err(format!("input[{at}]: reasoning was provided without its required following item."))
        }
        None => Ok(()),
    }
}

/// Checks that each call has exactly one output before the next message, and each output an earlier call.
fn pairs(items: &[Value]) -> Validation {
    let mut seen = BTreeSet::new();
    let mut open = BTreeMap::new();
    let unanswered = |open: &BTreeMap<&str, usize>| match open.first_key_value() {
        Some((id, at)) => Err(format!("input[{at}]: No tool output found for function call {id}.")),
        None => Ok(()),
    };
    for (at, item) in items.iter().enumerate() {
        let id = item["call_id"].as_str().unwrap_or_default();
        match item["type"].as_str() {
            Some("function_call") if !seen.insert(id) => {
                return Err(format!("input[{at}]: call_id {id} is used twice"));
            }
            Some("function_call") => {
                open.insert(id, at);
            }
            Some("function_call_output") if open.remove(id).is_none() => {
                return Err(format!(
                    "input[{at}]: No tool call found for function call output with call_id {id}."
                ));
            }
            None | Some("message") if matches!(item["role"].as_str(), Some("user" | "assistant")) => {
                unanswered(&open)?;
            }
            _ => {}
        }
    }
    unanswered(&open)
}

fn tools(tools: &Value, model: &str) -> Validation {
    let list = match tools {
        Value::Null => return Ok(()),
        Value::Array(list) => list,
        _ => return Err("tools must be a list".to_owned()),
    };
    for (at, tool) in list.iter().enumerate() {
        let known: &[&str] = match tool["type"].as_str() {
            Some("function") => &["type", "name", "description", "parameters", "strict"],
            Some("web_search") if SEARCHLESS.iter().any(|name| model.starts_with(name)) => {
                return Err(format!("Hosted tool 'web_search' is not supported with {model}."));
            }
            Some("web_search") => &["type", "search_context_size", "user_location", "filters"],
            _ => return Err(format!("tools[{at}]: must be a function or web_search")),
        };
        if let Some(unknown) = unknown_field(tool, known) {
            return Err(format!("Unknown parameter: 'tools[{at}].{unknown}'."));
        }
    }
    openai::functions(list.iter().filter(|tool| tool["type"] == "function"))
}

/// Checks the answer format. The word “JSON” in the instructions does not count as a request for JSON.
fn format(body: &Value, items: &[Value]) -> Validation {
    let format = &body["text"]["format"];
    if format.is_null() {
        return Ok(());
    }
    openai::format(format, format)?;
    if format["type"] != "json_object" {
        return Ok(());
    }
    let searches =
        body["tools"].as_array().is_some_and(|tools| tools.iter().any(|t| t["type"] == "web_search"));
    if searches {
        return Err("Web Search cannot be used with JSON mode.".to_owned());
    }
    if openai::speaks_of_json(items.iter().map(|item| &item["content"])) {
        return Ok(());
    }
    Err("Response input messages must contain the word 'json' in some form to use 'text.format' of type \
         'json_object'."
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn body() -> Value {
        let schema = json!({
            "type": "object", "required": ["a"],
            "properties": {"a": {"type": "array", "items": {"type": "string"}}},
        });
        json!({
            "model": "gpt-5-mini", "instructions": "i", "stream": true, "store": false,
            "tools": [{"type": "function", "name": "t", "description": "d", "parameters": schema}],
            "input": [
                {"role": "developer", "content": "x"},
                {"role": "user", "content": [
                    {"type": "input_text", "text": "hi"},
                    {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
                ]},
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc"},
                {"type": "function_call", "call_id": "c1", "name": "t", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "ok"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
                {"role": "user", "content": "next"},
            ],
        })
    }

    /// The body with the value at this place.
    fn changed(pointer: &str, value: Value) -> Value {
        let mut body = body();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        match body.pointer_mut(parent).unwrap() {
            Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
            object => object[name] = value,
        }
        body
    }

    #[test]
    fn each_fault_of_the_input_is_told() {
        assert_eq!(check(&body()), Ok(()));
        let call = json!({"type": "function_call", "call_id": "c2", "name": "t", "arguments": "{}"});
        let output = json!({"type": "function_call_output", "call_id": "c9", "output": "x"});
        let thought = json!({"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "abc"});
        let spoken = json!({"role": "assistant", "content": [{"type": "input_text", "text": "x"}]});
        let cases = [
            ("/model", json!(""), "model must be"),
            ("/stream", json!(false), "stream must be true"),
            ("/store", json!(true), "store must be false"),
            ("/instructions", json!(null), "instructions must be text"),
            ("/user", json!("x"), "Unknown parameter: 'user'"),
            ("/max_output_tokens", json!(5), "at least 16"),
            ("/input", json!([]), "at least one item"),
            ("/input/1/role", json!("tool"), "input[1]: role must be one of"),
            ("/input/1/content", json!([]), "not empty"),
            ("/input/5", spoken, "'input_text' is unknown"),
            ("/input/3/arguments", json!("[]"), "arguments must be a JSON object"),
            ("/input/3/arguments", json!("{"), "arguments must be a JSON object"),
            ("/input/4", output, "No tool call found for function call output with call_id c9."),
            ("/input/6", call.clone(), "input[6]: No tool output found for function call c2."),
            ("/input/4", call, "input[3]: No tool output found for function call c1."),
            ("/input/2/encrypted_content", json!(null), "encrypted_content"),
            ("/input/2/foo", json!(1), "input[2]: Unknown parameter: 'foo'"),
            ("/input/5", thought, "input[5]: reasoning was provided without its required following item"),
            ("/input/1/content/1/image_url", json!("https://example.com/a.png"), "must be a data URL"),
            ("/input/1/content/1/image_url", json!("data:image/bmp;base64,AAAA"), "Invalid image data"),
            ("/model", json!("o3-mini"), "Images are not supported by the model 'o3-mini'"),
            ("/model", json!("gpt-4o"), "can only be provided to a reasoning model"),
            ("/temperature", json!(0.5), "'temperature' is not supported with this model"),
            ("/top_p", json!(1.5), "top_p must be a number between 0 and 1"),
            ("/include", json!(["all"]), "cannot be included"),
            ("/text", json!({"format": {"type": "xml"}}), "the format of an answer is one of"),
            ("/text", json!({"format": {"type": "json_object"}}), "must contain the word 'json'"),
        ];
        for (pointer, value, wanted) in cases {
            let told = check(&changed(pointer, value)).err();
            assert!(told.as_ref().is_some_and(|t| t.contains(wanted)), "{pointer} {wanted}: {told:?}");
        }
    }

    #[test]
    fn each_fault_of_the_tools_is_told() {
        let tool =
            |name: &str, schema: Value| json!({"type": "function", "name": name, "parameters": schema});
        let object = json!({"type": "object", "properties": {}});
        let many: Vec<Value> = (0..129).map(|n| tool(&format!("t{n}"), object.clone())).collect();
        let any_of = json!({"type": "object", "properties": {}, "anyOf": []});
        let cases = [
            ("/tools", json!(many), "129 tools are too many"),
            ("/tools", json!([tool("a", object.clone()), tool("a", object.clone())]), "used twice"),
            ("/tools/0", tool("bad name", object.clone()), "1 to 64"),
            ("/tools/0", tool("", object), "1 to 64"),
            ("/tools/0", tool("x", json!({"type": "object"})), "Invalid schema for function 'x'"),
            ("/tools/0", tool("x", any_of), "'anyOf' at the top level"),
            ("/tools/0/strict", json!(true), "'additionalProperties' is required"),
            ("/tools/0/foo", json!(true), "Unknown parameter: 'tools[0].foo'"),
            ("/tools/0", json!({"type": "mcp"}), "must be a function or web_search"),
            ("/tools/0/parameters/required", json!(["b"]), "'b' is required but"),
            ("/tools/0/parameters/properties/a", json!({"type": "array"}), "array schema missing items"),
        ];
        for (pointer, value, wanted) in cases {
            let told = check(&changed(pointer, value)).err();
            assert!(told.as_ref().is_some_and(|t| t.contains(wanted)), "{pointer} {wanted}: {told:?}");
        }
    }

    #[test]
    fn search_and_json_stand_beside_functions_but_not_beside_each_other() {
        let mut body = body();
        body["tools"].as_array_mut().unwrap().push(json!({"type": "web_search"}));
        assert_eq!(check(&body), Ok(()));
        body["text"] = json!({"format": {"type": "json_object"}});
        assert_eq!(check(&body), Err("Web Search cannot be used with JSON mode.".to_owned()));
        let schema = json!({"type": "object", "properties": {}});
        body["text"] =
            json!({"format": {"type": "json_schema", "name": "a", "schema": schema, "strict": false}});
        assert_eq!(check(&body), Ok(()));
        body["model"] = json!("o1");
        assert_eq!(check(&body), Err("Hosted tool 'web_search' is not supported with o1.".to_owned()));
    }
}
