//! What services send as JSON and is not quite, read as far as its meaning is plain. Used by every dialect: what is valid
//! passes as it is.

mod arguments;
mod clean;

use std::borrow::Cow;

use serde_json::Value;

pub(crate) use self::arguments::arguments;
use self::clean::clean;

/// The value of a text: as JSON, else without what only spoils it. None if it cannot be read.
pub(crate) fn value(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().or_else(|| serde_json::from_str(&clean(text)?).ok())
}

/// A string as it is; what came as another value, as its JSON; nothing as an empty one.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A count, which some write as a text or a float.
pub(crate) fn count(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Number(number) => Cow::Owned(number.to_string()),
        Value::String(text) => Cow::Borrowed(text.trim()),
        _ => return None,
    };
    let whole = text.strip_suffix(".0").unwrap_or(&text);
    whole.parse().ok()
}
