//! Content fields of a message, from the arguments of the call that sends or edits it.

use serde_json::{Map, Value, json};

use super::super::error::BotApiError;
use super::request::CheckedRequest;
use super::rich;

/// Returns the fields of a text or caption. Errors on empty text.
pub(super) fn text_content(
    field: &str,
    text: String,
    entities: Vec<Value>,
) -> Result<Map<String, Value>, BotApiError> {
    let mut content = Map::new();
    if text.is_empty() {
        return if field == "text" { Err(BotApiError::bad("message text is empty")) } else { Ok(content) };
    }
    content.insert(field.to_owned(), Value::String(text));
    if !entities.is_empty() {
        let name = if field == "text" { "entities" } else { "caption_entities" };
        content.insert(name.to_owned(), Value::Array(entities));
    }
    Ok(content)
}

/// Returns the fields of a `rich_message`. Markup is not parsed and becomes one paragraph.
pub(super) fn rich_content(request: &CheckedRequest<'_>) -> Result<Map<String, Value>, BotApiError> {
    let rich = request.value("rich_message").cloned().unwrap_or_default();
    let mut blocks = match (&rich["blocks"], rich["markdown"].as_str().or(rich["html"].as_str())) {
        (Value::Array(blocks), None) if !blocks.is_empty() => json!(blocks),
        (Value::Null, Some(markup)) if !markup.is_empty() => json!([{"type": "paragraph", "text": markup}]),
        _ => {
            return Err(BotApiError::bad("rich message must have exactly one of markdown, html, blocks"));
        }
    };
    rich::finish(&mut blocks)?;
    let mut message = json!({ "blocks": blocks });
    if rich["is_rtl"] == true {
        message["is_rtl"] = json!(true);
    }
    Ok(object(json!({ "rich_message": message })))
}

/// Returns the fields of the caption; empty without one.
pub(super) fn caption(request: &CheckedRequest<'_>) -> Result<Map<String, Value>, BotApiError> {
    let (text, entities) = request.formatted("caption", "caption_entities");
    let mut content = text_content("caption", text, entities)?;
    for (argument, field) in
        [("show_caption_above_media", "show_caption_above_media"), ("has_spoiler", "has_media_spoiler")]
    {
        if request.flag(argument) {
            content.insert(field.to_owned(), json!(true));
        }
    }
    Ok(content)
}

/// Returns the fields of an object; empty for any other value.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
