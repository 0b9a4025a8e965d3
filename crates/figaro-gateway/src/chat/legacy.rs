//! Older forms of the dialect: calls without ids, and numbers written in other ways.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::messages::{ChatMessage, ChatToolCall};

/// Converts `function_call` and messages of the role `function` to tool calls and results. A result belongs to the
/// newest open call of its name.
pub(super) fn mended(messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    let mut open: Vec<(String, String)> = Vec::new();
    let mend = |(at, mut message): (usize, ChatMessage)| {
        if let Some(function) = message.function_call.take() {
            let id = format!("function-{at}");
            open.push((function.name.clone(), id.clone()));
            message.tool_calls.get_or_insert_default().push(ChatToolCall { id, function });
        }
        if message.role == "function" {
            let is_of = |(name, _): &(String, String)| message.name.as_ref() == Some(name);
            if let Some(call) = open.iter().rposition(is_of) {
                message.tool_call_id = Some(open.remove(call).1);
                "tool".clone_into(&mut message.role);
            }
        }
        message
    };
    messages.into_iter().enumerate().map(mend).collect()
}

/// Reads a token limit: a whole number in any notation.
///
/// # Errors
/// For anything else.
pub(crate) fn bound<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let value = Option::<Value>::deserialize(deserializer)?;
    let number = match &value {
        None | Some(Value::Null) => return Ok(None),
        Some(value) => value.as_f64().filter(|number| number.fract() == 0.0),
    };
    let number = number.filter(|number| (0.0..=f64::from(u32::MAX)).contains(number));
    let number = number.ok_or_else(|| serde::de::Error::custom("it is a whole number of tokens"))?;
    Ok(Some(number as u32))
}
