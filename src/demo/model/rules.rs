//! What the Responses API accepts from us: the first complaint about a request, in words a developer can act on.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

const MOST_TOOLS: usize = 100;
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

type Checked = Result<(), String>;

/// Checks the body of a request.
pub(super) fn check(body: &Value) -> Checked {
    let Value::Object(fields) = body else {
        return Err("the body must be a JSON object".to_owned());
    };
    if let Some(unknown) = fields.keys().find(|k| !PARAMETERS.contains(&k.as_str())) {
        return Err(format!("Unknown parameter: '{unknown}' (or one we never send)."));
    }
    switches(fields)?;
    let Some(items) = body["input"].as_array().filter(|items| !items.is_empty()) else {
        return Err("input must be a list with at least one item".to_owned());
    };
    for (at, item) in items.iter().enumerate() {
        self::item(item).map_err(|why| format!("input[{at}]: {why}"))?;
    }
    pairs(items)?;
    match &body["tools"] {
        Value::Null => Ok(()),
        Value::Array(tools) => self::tools(tools),
        _ => Err("tools must be a list".to_owned()),
    }
}

fn switches(fields: &Map<String, Value>) -> Checked {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).is_some_and(|t| !t.is_empty());
    if !text("model") {
        return Err("model must be a name".to_owned());
    }
    if !text("instructions") {
        return Err("instructions must be text".to_owned());
    }
    if fields.get("stream") != Some(&Value::Bool(true)) {
        return Err("stream must be true".to_owned());
    }
    if fields.get("store") != Some(&Value::Bool(false)) {
        return Err("store must be false: nothing may be kept at the provider".to_owned());
    }
    match fields.get("max_output_tokens") {
        None | Some(Value::Null) => Ok(()),
        Some(limit) if limit.as_u64().is_some_and(|l| l >= 16) => Ok(()),
        Some(_) => Err("max_output_tokens must be at least 16".to_owned()),
    }
}

fn item(item: &Value) -> Checked {
    let text = |name: &str| item[name].as_str().filter(|t| !t.is_empty());
    match item["type"].as_str() {
        None | Some("message") => message(item),
        Some("function_call") => {
            if text("call_id").is_none() || !text("name").is_some_and(is_tool_name) {
                return Err("a function_call has a call_id and the name of a tool".to_owned());
            }
            let arguments = text("arguments").and_then(|a| serde_json::from_str::<Value>(a).ok());
            match arguments {
                Some(Value::Object(_)) => Ok(()),
                _ => Err("arguments must be a JSON object written as a string".to_owned()),
            }
        }
        Some("function_call_output") => match &item["output"] {
            _ if text("call_id").is_none() => Err("a function_call_output has a call_id".to_owned()),
            Value::String(_) => Ok(()),
            Value::Array(parts) => parts.iter().try_for_each(|p| part(p, "input_")),
            _ => Err("output must be text or a list of parts".to_owned()),
        },
        Some("reasoning") if text("encrypted_content").is_none() => {
            Err("reasoning without encrypted_content means nothing when store is false".to_owned())
        }
        Some("reasoning") if item["summary"].is_array() => Ok(()),
        Some("reasoning") => Err("reasoning has a summary, perhaps an empty list".to_owned()),
        Some(other) => Err(format!("Invalid value: '{other}' is no type of item we send")),
    }
}

fn message(item: &Value) -> Checked {
    let Some(role) = item["role"].as_str().filter(|r| ROLES.contains(r)) else {
        return Err(format!("role must be one of {}", ROLES.join(", ")));
    };
    let prefix = if role == "assistant" { "output_" } else { "input_" };
    match &item["content"] {
        Value::String(text) if !text.is_empty() => Ok(()),
        Value::Array(parts) if !parts.is_empty() => parts.iter().try_for_each(|p| part(p, prefix)),
        _ => Err("content must be text or a list of parts, and not empty".to_owned()),
    }
}

fn part(part: &Value, prefix: &str) -> Checked {
    let kind = part["type"].as_str().unwrap_or_default();
    let text = |name: &str| part[name].as_str().is_some_and(|t| !t.is_empty());
    let fits = match kind {
        "input_text" | "output_text" => part["text"].is_string(),
        "input_image" => text("image_url") || text("file_id"),
        "input_file" => text("file_data") || text("file_url") || text("file_id"),
        "refusal" => {
            return if prefix == "output_" { Ok(()) } else { Err("only a model refuses".to_owned()) };
        }
        _ => false,
    };
    if !fits || !kind.starts_with(prefix) {
        return Err(format!("a part of type '{kind}' is unknown, incomplete, or not for this role"));
    }
    Ok(())
}

/// Every call has exactly one output before anybody speaks again, and every output an earlier call.
fn pairs(items: &[Value]) -> Checked {
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

fn tools(tools: &[Value]) -> Checked {
    if tools.len() > MOST_TOOLS {
        return Err(format!("{} tools are too many, {MOST_TOOLS} is the most we send", tools.len()));
    }
    let mut names = BTreeSet::new();
    for (at, tool) in tools.iter().enumerate() {
        let name = tool["name"].as_str().unwrap_or_default();
        if tool["type"] != "function" || !is_tool_name(name) {
            return Err(format!("tools[{at}]: must be a function with a name of 1 to 64 of [a-zA-Z0-9_-]"));
        }
        if !names.insert(name) {
            return Err(format!("tools[{at}]: the name {name} is used twice"));
        }
        parameters(&tool["parameters"])
            .map_err(|why| format!("Invalid schema for function '{name}': {why}"))?;
    }
    Ok(())
}

fn is_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn parameters(schema: &Value) -> Checked {
    let Some(properties) = schema["properties"].as_object().filter(|_| schema["type"] == "object") else {
        return Err("it must have type 'object' and properties".to_owned());
    };
    if let Some(key) = ["oneOf", "anyOf", "allOf", "enum", "not"].iter().find(|k| schema.get(**k).is_some()) {
        return Err(format!("it must not have '{key}' at the top level"));
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| !properties.contains_key(*name)) {
        return Err(format!("'{missing}' is required but not one of the properties"));
    }
    arrays(schema)
}

/// OpenAI refuses an array that does not say what it holds, however deep.
fn arrays(schema: &Value) -> Checked {
    match schema {
        Value::Object(map)
            if map.get("type") == Some(&Value::from("array")) && !map.contains_key("items") =>
        {
            Err("array schema missing items".to_owned())
        }
        Value::Object(map) => map.values().try_for_each(arrays),
        Value::Array(list) => list.iter().try_for_each(arrays),
        _ => Ok(()),
    }
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
            "model": "m", "instructions": "i", "stream": true, "store": false,
            "tools": [{"type": "function", "name": "t", "description": "d", "parameters": schema}],
            "input": [
                {"role": "developer", "content": "x"},
                {"role": "user", "content": [
                    {"type": "input_text", "text": "hi"},
                    {"type": "input_image", "image_url": "data:image/png;base64,AA"},
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
        let many: Vec<Value> = (0..101).map(|n| tool(&format!("t{n}"), object.clone())).collect();
        let any_of = json!({"type": "object", "properties": {}, "anyOf": []});
        let cases = [
            ("/tools", json!(many), "101 tools are too many"),
            ("/tools", json!([tool("a", object.clone()), tool("a", object.clone())]), "used twice"),
            ("/tools/0", tool("bad name", object.clone()), "1 to 64"),
            ("/tools/0", tool("", object), "1 to 64"),
            ("/tools/0", tool("x", json!({"type": "object"})), "Invalid schema for function 'x'"),
            ("/tools/0", tool("x", any_of), "'anyOf' at the top level"),
            ("/tools/0/parameters/required", json!(["b"]), "'b' is required but"),
            ("/tools/0/parameters/properties/a", json!({"type": "array"}), "array schema missing items"),
        ];
        for (pointer, value, wanted) in cases {
            let told = check(&changed(pointer, value)).err();
            assert!(told.as_ref().is_some_and(|t| t.contains(wanted)), "{pointer} {wanted}: {told:?}");
        }
    }
}
