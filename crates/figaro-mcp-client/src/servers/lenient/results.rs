//! Brings errors, handshakes and lists of tools into the form of the protocol. Each is built anew from the fields
//! used here, so that nothing else in it can be odd. A tool that cannot be mended keeps a mark of its fault, and
//! [`super::super::tools`] leaves it out for that.

use serde_json::{Value, json};

/// Code of an error that has none: internal error.
const INTERNAL: i64 = -32603;
/// Protocol version assumed for a server that does not name one.
const VERSION: &str = "2025-03-26";

/// Returns a text, or a number as text.
pub(super) fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Converts an error. If it has no message, its whole JSON is the message.
pub(super) fn error(error: &Value) -> Value {
    let code = word(&error["code"]).and_then(|code| code.parse::<i32>().ok());
    let message =
        [&error["message"], error].into_iter().find_map(|said| said.as_str().filter(|said| !said.is_empty()));
    let message = message.map_or_else(|| error.to_string(), str::to_owned);
    json!({"code": code.map_or(INTERNAL, i64::from), "message": message})
}

/// Converts the result of the handshake.
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
        // A tool without a name is left out later for that reason.
        "name": word(&tool["name"]).unwrap_or_default(),
        "inputSchema": schema(schemas.into_iter().find(|schema| !schema.is_null())),
        "annotations": {},
    });
    let lines = |words: &Vec<Value>| words.iter().filter_map(word).collect::<Vec<_>>().join(" ");
    let description = &tool["description"];
    if let Some(words) = word(description).or_else(|| description.as_array().map(lines)) {
        mended["description"] = words.into();
    }
    // A hint that is no boolean is ignored: nobody has said that the tool does no harm.
    for hint in ["readOnlyHint", "destructiveHint", "openWorldHint"] {
        if let Some(is_so) = tool["annotations"][hint].as_bool() {
            mended["annotations"][hint] = is_so.into();
        }
    }
    mended
}

/// Returns the schema of arguments. If it is no schema, only its type is kept, and the tool is left out for that.
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
