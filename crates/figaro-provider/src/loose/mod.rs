//! Reads faulty JSON of services as far as its meaning is clear. Used by every dialect; valid JSON passes unchanged.

mod arguments;
mod clean;

use std::borrow::Cow;

use serde_json::Value;

pub(crate) use self::arguments::arguments;
use self::clean::clean;

/// Parses a text as JSON, after cleaning it if needed. `None` if it cannot be read.
pub(crate) fn value(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().or_else(|| serde_json::from_str(&clean(text)?).ok())
}

/// Returns a string as it is, any other value as its JSON, and null as an empty string.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Reads a count, which some services write as text or a float.
pub(crate) fn count(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Number(number) => Cow::Owned(number.to_string()),
        Value::String(text) => Cow::Borrowed(text.trim()),
        _ => return None,
    };
    let whole = text.strip_suffix(".0").unwrap_or(&text);
    whole.parse().ok()
}
