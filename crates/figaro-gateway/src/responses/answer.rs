//! Response as one JSON object.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::super::handover::Handover;
use super::super::hub::Follower;
use figaro_agent::delivery::TurnClosing;
use figaro_domain::tool::Call;

/// Fields shared by all parts of a response.
#[derive(Debug, Clone)]
pub(crate) struct ResponseFrame {
    turn: String,
    created: i64,
    model: String,
}

impl ResponseFrame {
    /// Creates the frame for the response of this turn.
    pub(crate) fn new(follower: &Follower, model: String, now: DateTime<Utc>) -> Self {
        Self { turn: follower.turn().id().to_string(), created: now.timestamp(), model }
    }

    /// Returns the id of the message in the response.
    pub(crate) fn message_id(&self) -> String {
        format!("msg_{}", self.turn)
    }

    /// Builds the response with this status and output.
    pub(crate) fn of(&self, status: &str, output: Value) -> Value {
        json!({
            "id": format!("resp_{}", self.turn), "object": "response", "created_at": self.created, "status": status,
            "model": self.model, "output": output, "error": null, "incomplete_details": null, "instructions": null,
            "metadata": {}, "parallel_tool_calls": true, "temperature": null, "tool_choice": "auto", "tools": [],
            "top_p": null,
        })
    }

    /// Builds the complete response.
    pub(crate) fn response(
        &self,
        closing: &TurnClosing,
        words: Option<&str>,
        handed: Option<&Handover>,
    ) -> Value {
        let mut output = Vec::new();
        output.extend(words.map(|words| self.message(words, "completed")));
        let calls = handed.iter().flat_map(|handed| &handed.calls);
        output.extend(calls.map(|call| self.call(call, "completed")));
        let status = if closing.is_cut { "incomplete" } else { "completed" };
        let mut response = self.of(status, output.into());
        let usage = closing.usage;
        if let Some(response) = response.as_object_mut() {
            let usage = json!({
                "input_tokens": usage.input, "input_tokens_details": {"cached_tokens": usage.cached},
                "output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": usage.total(),
            });
            response.insert("usage".to_owned(), usage);
            if closing.is_cut {
                response.insert("incomplete_details".to_owned(), json!({"reason": "max_output_tokens"}));
            }
        }
        response
    }

    /// Builds the message of the response.
    pub(crate) fn message(&self, words: &str, status: &str) -> Value {
        let content = match words {
            "" => json!([]),
            words => json!([{"type": "output_text", "text": words, "annotations": []}]),
        };
        json!({"id": self.message_id(), "type": "message", "role": "assistant", "status": status, "content": content})
    }

    /// Converts a call that the caller is to make.
    pub(crate) fn call(&self, call: &Call, status: &str) -> Value {
        json!({
            "id": format!("fc_{}", call.id), "type": "function_call", "status": status, "call_id": call.id,
            "name": call.name, "arguments": call.arguments,
        })
    }
}
