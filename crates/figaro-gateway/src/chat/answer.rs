//! A whole completion.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::super::error::ApiError;
use super::super::handover::Handover;
use super::super::hub::Follower;
use super::super::said::Said;
use figaro_agent::delivery::TurnClosing;
use figaro_domain::tool::Call;
use figaro_domain::usage::Usage;

/// What all parts of a completion have in common.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    id: String,
    created: i64,
    model: String,
}

impl Frame {
    /// Of the completion that this turn is.
    #[must_use]
    pub(crate) fn new(follower: &Follower, model: String, now: DateTime<Utc>) -> Self {
        Self { id: format!("chatcmpl-{}", follower.turn().id()), created: now.timestamp(), model }
    }

    /// A part of it, or the whole.
    #[must_use]
    pub(crate) fn of(&self, object: &str, choices: Value) -> Value {
        json!({"id": self.id, "object": object, "created": self.created, "model": self.model, "choices": choices})
    }
}

/// The completion that a turn has come to.
///
/// # Errors
/// Why it has none.
pub(crate) fn completion(frame: &Frame, follower: &Follower, said: &Said) -> Result<Value, ApiError> {
    let closing = said.ended(follower.turn())?;
    let handover = follower.turn().handover();
    let content = match &handover {
        Some(Handover { words, .. }) => words.clone().map_or(Value::Null, Value::String),
        None => Value::String(said.whole()),
    };
    let mut message = json!({"role": "assistant", "content": content, "refusal": null});
    if let (Some(handover), Some(message)) = (&handover, message.as_object_mut()) {
        message.insert("tool_calls".to_owned(), handover.calls.iter().map(tool_call).collect());
    }
    let choice = json!({
        "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(closing, handover.is_some()),
    });
    let mut body = frame.of("chat.completion", json!([choice]));
    if let Some(body) = body.as_object_mut() {
        body.insert("usage".to_owned(), usage(closing.usage));
    }
    Ok(body)
}

/// A call for the caller to make.
pub(crate) fn tool_call(call: &Call) -> Value {
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}})
}

/// Why a completion ends.
pub(crate) const fn finish_reason(closing: &TurnClosing, has_calls: bool) -> &'static str {
    match (has_calls, closing.is_cut) {
        (true, _) => "tool_calls",
        (false, true) => "length",
        (false, false) => "stop",
    }
}

/// What a turn has used.
#[must_use]
pub(crate) fn usage(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total(),
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    })
}
