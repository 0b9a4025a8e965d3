//! Errors in the form of the protocol.

use serde_json::{Value, json};

/// The code of an error without one: the server failed.
const INTERNAL: i64 = -32603;

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
