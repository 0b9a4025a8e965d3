//! Errors, greetings and lists of tools in the form of the protocol. Each is made anew of what is used here, so that nothing else
//! in it can be odd. A tool that cannot be mended keeps a mark of what is wrong, by which [`super::super::tools`] leaves it out.

use serde_json::{Value, json};

/// The code of an error without one: the server failed.
const INTERNAL: i64 = -32603;
/// The version of the protocol that a server speaks which does not say it.
const VERSION: &str = "2025-03-26";

/// A text, or a number in its place.
pub(super) fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// An error. One without a message says all that it has.
pub(super) fn error(error: &Value) -> Value {
    let code = word(&error["code"]).and_then(|code| code.parse::<i32>().ok());
    let message =
        [&error["message"], error].into_iter().find_map(|said| said.as_str().filter(|said| !said.is_empty()));
    let message = message.map_or_else(|| error.to_string(), str::to_owned);
    json!({"code": code.map_or(INTERNAL, i64::from), "message": message})
}

/// What a server says of itself.
pub(super) fn initialize(result: &Value) -> Value {
    let tools = &result["capabilities"]["tools"];
    let capabilities = if tools.is_object() || *tools == true { json!({"tools": {}}) } else { json!({}) };
    let info = |word: &str| self::word(&result["serverInfo"][word]).unwrap_or_default();
    json!({
        "protocolVersion": result["protocolVersion"].as_str().unwrap_or(VERSION),
        "capabilities": capabilities,
        "serverInfo": {"name": info("name"), "version": info("version")},
    })
}

/// A page of tools.
pub(super) fn tools(result: &Value) -> Value {
    let listed = result["tools"].as_array().or_else(|| result.as_array());
    let mut page = json!({"tools": listed.into_iter().flatten().map(tool).collect::<Vec<_>>()});
    if let Some(cursor) = word(&result["nextCursor"]) {
        page["nextCursor"] = cursor.into();
    }
    page
}

fn tool(tool: &Value) -> Value {
    let schemas = ["inputSchema", "input_schema", "parameters"].map(|word| &tool[word]);
    let mut mended = json!({
        // One without a name is left out for it.
        "name": word(&tool["name"]).unwrap_or_default(),
        "inputSchema": schema(schemas.into_iter().find(|schema| !schema.is_null())),
        "annotations": {},
    });
    let lines = |words: &Vec<Value>| words.iter().filter_map(word).collect::<Vec<_>>().join(" ");
    let description = &tool["description"];
    if let Some(words) = word(description).or_else(|| description.as_array().map(lines)) {
        mended["description"] = words.into();
    }
    // A hint of another kind is none: nobody has said that the tool does no harm.
    for hint in ["readOnlyHint", "destructiveHint"] {
        if let Some(is_so) = tool["annotations"][hint].as_bool() {
            mended["annotations"][hint] = is_so.into();
        }
    }
    mended
}

/// The schema of arguments. Of what is none only its type is told, and the tool is left out for it.
fn schema(schema: Option<&Value>) -> Value {
    let none = |kind: &str| json!({"type": kind});
    match schema {
        None | Some(Value::Null | Value::Bool(true)) => json!({}),
        Some(Value::Object(_)) => schema.cloned().unwrap_or_default(),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Object(written)) => Value::Object(written),
            Ok(_) | Err(_) => none("string"),
        },
        Some(Value::Array(_)) => none("array"),
        Some(Value::Number(_)) => none("number"),
        Some(Value::Bool(false)) => none("boolean"),
    }
}
