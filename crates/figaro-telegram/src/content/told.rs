//! Describes any value that Telegram sends, for kinds of which only the field names are known. Called by [`super`].

use chrono::DateTime;
use serde_json::{Map, Value};

use super::said::{name, words};
use figaro_base::text::one_line;

/// Fields whose value is shown without the field's name.
const BARE: [&str; 10] = [
    "title",
    "name",
    "text",
    "question",
    "description",
    "emoji",
    "type",
    "data",
    "option_text",
    "prize_description",
];
/// Last words of fields that only programs need; they are left out.
const SILENT: [&str; 9] =
    ["id", "ids", "entities", "width", "height", "size", "thumbnail", "color", "payload"];
/// Maximum length of a message's text, in characters.
const MAX_MESSAGE: usize = 300;

/// Describes a value; empty if there is nothing to tell.
pub(super) fn told(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => joined(items.iter().map(told), "; "),
        Value::Object(fields) if fields.contains_key("message_id") => message(fields),
        Value::Object(fields) => match is_somebody(fields).then(|| name(value)).flatten() {
            Some(name) => name,
            None => joined(fields.iter().map(|(name, value)| field(name, value)), ", "),
        },
        Value::Bool(_) | Value::Null => String::new(),
    }
}

fn joined(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(between)
}

/// Returns `true` for an account or a chat.
fn is_somebody(fields: &Map<String, Value>) -> bool {
    let is_chat = fields.get("type").and_then(Value::as_str);
    fields.contains_key("first_name")
        || matches!(is_chat, Some("private" | "group" | "supergroup" | "channel"))
}

fn field(name: &str, value: &Value) -> String {
    if SILENT.contains(&name.rsplit('_').next().unwrap_or(name)) || name.starts_with("file_") {
        return String::new();
    }
    let moment =
        value.as_i64().filter(|_| name.ends_with("date")).and_then(|at| DateTime::from_timestamp(at, 0));
    let words = match (moment, value) {
        (Some(moment), _) => moment.format("%Y-%m-%d %H:%M UTC").to_string(),
        // A field that is `true` is shown by its name alone. Fields named `is_…` are left out.
        (None, Value::Bool(true)) if !name.starts_with("is_") => return name.replace('_', " "),
        (None, value) => told(value),
    };
    match words.is_empty() || BARE.contains(&name) {
        true => words,
        false => format!("{} {words}", name.replace('_', " ")),
    }
}

/// Describes a message by the start of its text and its author.
fn message(fields: &Map<String, Value>) -> String {
    let typed = ["text", "caption"].into_iter().find_map(|name| fields.get(name)?.as_str());
    let words = typed.map(str::to_owned).or_else(|| Some(words(fields)?.text)).unwrap_or_default();
    let said = one_line(&words, MAX_MESSAGE);
    let by = fields.get("sender_chat").or_else(|| fields.get("from")).and_then(name);
    joined([said, by.map(|name| format!("(by {name})")).unwrap_or_default()].into_iter(), " ")
}
