//! Brings the result of a call into the form of the protocol. A part that cannot be read becomes one that names its
//! kind.

use rmcp::model::TextContent;
use serde_json::{Value, json};

use super::results::word;

/// Field of `_meta` that marks an unreadable part. All parts are built anew, so no server can send it.
const UNKNOWN: &str = "figaro/unknown";
/// Fields of a result that are not data of the tool.
const NO_DATA: [&str; 5] = ["content", "structuredContent", "isError", "resultType", "_meta"];

/// Returns the kind of a part that cannot be read.
pub(in super::super) fn unknown_kind(text: &TextContent) -> Option<&str> {
    text.meta.as_ref()?.get(UNKNOWN)?.as_str()
}

pub(super) fn result(result: Value) -> Value {
    let Value::Object(mut fields) = result else { return json!({"content": parts(&result)}) };
    let has_content = fields.contains_key("content");
    // The server asks for input before it answers.
    if !has_content && fields.get("resultType").is_some_and(|kind| kind.is_string() && kind != "complete") {
        return Value::Object(fields);
    }
    let is_error = fields.get("isError").is_some_and(is_true);
    // An older version of the protocol calls the whole result `toolResult`.
    let content = [fields.remove("content"), fields.remove("toolResult")]
        .into_iter()
        .flatten()
        .find(|one| !one.is_null());
    let data = fields.remove("structuredContent").filter(|data| !data.is_null());
    fields.retain(|name, _| !NO_DATA.contains(&name.as_str()));
    let is_data = content.is_none() && data.is_none() && !fields.is_empty();
    let data = if is_data { Some(Value::Object(fields)) } else { data };
    let mut mended = json!({"content": parts(&content.unwrap_or_default()), "isError": is_error});
    if let Some(data) = data {
        mended["structuredContent"] = data;
    }
    mended
}

fn is_true(value: &Value) -> bool {
    *value == true || *value == 1 || value.as_str().is_some_and(|text| text.eq_ignore_ascii_case("true"))
}

fn parts(content: &Value) -> Vec<Value> {
    match content {
        Value::Null => Vec::new(),
        Value::Array(items) => items.iter().flat_map(parts).collect(),
        Value::Object(_) => vec![block(content)],
        Value::String(_) | Value::Number(_) | Value::Bool(_) => text(content).into_iter().collect(),
    }
}

/// Converts a part by its type. A missing or unknown type is guessed from the fields.
fn block(part: &Value) -> Value {
    let kind = part["type"].as_str().unwrap_or_default().to_ascii_lowercase();
    let by_kind = match kind.as_str() {
        "image" | "audio" => media(&kind, part),
        "resource_link" => link(part),
        "resource" => resource(part),
        _ => None,
    };
    let of_media =
        || part["mimeType"].as_str().and_then(|media_type| media(media_type.split('/').next()?, part));
    let by_fields =
        || text(&part["text"]).or_else(|| resource(part)).or_else(of_media).or_else(|| link(part));
    by_kind.or_else(by_fields).unwrap_or_else(|| unknown(&kind))
}

fn unknown(kind: &str) -> Value {
    json!({"type": "text", "text": "", "_meta": {UNKNOWN: kind}})
}

/// Converts text. A value that is no text is shown as its JSON.
fn text(value: &Value) -> Option<Value> {
    let words = match value {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Bool(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    };
    Some(json!({"type": "text", "text": words}))
}

fn media(kind: &str, part: &Value) -> Option<Value> {
    let data = part["data"].as_str().filter(|_| matches!(kind, "image" | "audio"))?;
    let media_type = part["mimeType"].as_str().unwrap_or(kind);
    Some(json!({"type": kind, "data": data, "mimeType": media_type}))
}

/// Converts an embedded document.
fn resource(part: &Value) -> Option<Value> {
    let inner = &part["resource"];
    let mut resource = match (text(&inner["text"]), inner["blob"].as_str()) {
        (Some(text), _) => json!({"text": text["text"]}),
        (None, Some(blob)) => json!({"blob": blob}),
        (None, None) => return None,
    };
    resource["uri"] = word(&inner["uri"]).or_else(|| word(&inner["name"])).unwrap_or_default().into();
    if let Some(media_type) = inner["mimeType"].as_str() {
        resource["mimeType"] = media_type.into();
    }
    Some(json!({"type": "resource", "resource": resource}))
}

/// Converts a reference to a document.
fn link(part: &Value) -> Option<Value> {
    let part = if part["resource"].is_object() { &part["resource"] } else { part };
    let uri = word(&part["uri"])?;
    let name = word(&part["name"]).or_else(|| word(&part["title"])).unwrap_or_else(|| uri.clone());
    let mut link = json!({"type": "resource_link", "uri": uri, "name": name});
    if let Some(words) = word(&part["description"]) {
        link["description"] = words.into();
    }
    Some(link)
}
