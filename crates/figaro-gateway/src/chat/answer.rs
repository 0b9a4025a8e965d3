//! Completion as one JSON object.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::super::error::GatewayError;
use super::super::handover::Handover;
use super::super::hub::Follower;
use super::super::said::TurnTranscript;
use figaro_agent::delivery::TurnClosing;
use figaro_domain::tool::Call;
use figaro_domain::usage::Usage;

/// Fields shared by all parts of a completion.
#[derive(Debug, Clone)]
pub(crate) struct CompletionFrame {
    id: String,
    created: i64,
    model: String,
}

impl CompletionFrame {
    /// Creates the frame for the completion of this turn.
    #[must_use]
    pub(crate) fn new(follower: &Follower, model: String, now: DateTime<Utc>) -> Self {
        Self { id: format!("chatcmpl-{}", follower.turn().id()), created: now.timestamp(), model }
    }

    /// Builds a chunk or the whole completion around these choices.
    #[must_use]
    pub(crate) fn of(&self, object: &str, choices: Value) -> Value {
        json!({"id": self.id, "object": object, "created": self.created, "model": self.model, "choices": choices})
    }
}

/// Builds the completion of a turn.
///
/// # Errors
/// Reason why there is none.
pub(crate) fn completion(
    frame: &CompletionFrame,
    follower: &Follower,
    said: &TurnTranscript,
) -> Result<Value, GatewayError> {
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

/// Converts a call that the caller is to make.
pub(crate) fn tool_call(call: &Call) -> Value {
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}})
}

/// Returns the finish reason of a completion.
pub(crate) const fn finish_reason(closing: &TurnClosing, has_calls: bool) -> &'static str {
    match (has_calls, closing.is_cut) {
        (true, _) => "tool_calls",
        (false, true) => "length",
        (false, false) => "stop",
    }
}

/// Converts the token usage of a turn.
#[must_use]
pub(crate) fn usage(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total(),
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    })
}
