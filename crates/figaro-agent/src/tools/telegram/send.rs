//! A single method call: rate limits, error handling, and a record of sent messages.

use std::time::Duration;

use figaro_mcp::pace::messages;
use figaro_mcp::table::{Class, Method};
use serde_json::{Map, Value, json};

use super::{TelegramTools, ToolContext, ToolError, chat_number};
use crate::outbound::Urgency;
use figaro_base::ids::{ChatId, MessageId};
use figaro_domain::delivery::Author;
use figaro_mcp_client::client::{McpError, ToolCallOutput};

/// Maximum wait of a 429 answer that is waited out; the call is then made once more.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// Outcome of a successful call.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) result: Value,
    /// `true` if it sent the words that answer, in the turn's chat and topic.
    pub(super) spoke: bool,
    /// `true` if the result may contain words of people: names, descriptions, messages.
    pub(super) shows_words: bool,
}

impl TelegramTools {
    /// Makes an allowed call.
    pub(super) async fn send(
        &self,
        method: &'static Method,
        args: Map<String, Value>,
        context: &ToolContext,
    ) -> Result<Sent, ToolError> {
        let count = if method.adds_messages() { messages(&args) } else { 0 };
        context.take_sends(count)?;
        let call = MethodRequest { tools: self, method };
        let here = context.place.chat;
        let number = args.get("chat_id").map_or(Some(here), |chat| chat_number(chat).map(ChatId));
        let sent = call.send(&args, number.unwrap_or(here)).await.map_err(|failure| call.error(failure));
        if matches!(sent, Err(ToolError::ForModel(_))) {
            context.give_back_sends(count);
        }
        let result = sent?;
        // For a chat named by username, the sent message has the number.
        let spoke = match sent_in(&result).or(number) {
            Some(chat) => call.note_own(&args, &result, chat, context),
            None => false,
        };
        Ok(Sent { spoke, shows_words: call.shows_words(&result), result })
    }
}

pub(super) struct MethodRequest<'a> {
    pub(super) tools: &'a TelegramTools,
    pub(super) method: &'static Method,
}

pub(super) struct CallFailure {
    pub(super) fate: CallFate,
    /// Message of Telegram or the server.
    pub(super) words: String,
}

impl MethodRequest<'_> {
    /// Returns `true` if a result may contain words of people: names, descriptions, messages.
    fn shows_words(&self, result: &Value) -> bool {
        let others = ["reply_to_message", "external_reply", "forward_origin", "pinned_message"];
        let is_read = self.method.class == Class::Read && (result.is_object() || result.is_array());
        is_read || others.iter().any(|key| result.get(key).is_some())
    }

    /// Makes the call within the rate limits. Waits out a short 429 once.
    pub(super) async fn send(&self, args: &Map<String, Value>, chat: ChatId) -> Result<Value, CallFailure> {
        let is_paced = self.method.class != Class::Read;
        for last in [false, true] {
            if is_paced {
                let together = if self.method.speaks() { messages(args) } else { 1 };
                self.tools.limiter.acquire_many(chat, together, Urgency::Answer).await;
            }
            let answer = match self.tools.mcp.call(&self.method.name, args.clone()).await {
                Ok(answer) => answer,
                Err(error @ McpError::Lost(_)) => return Err(CallFate::Unknown.told(error)),
                Err(error @ (McpError::Unavailable(_) | McpError::Refused(_))) => {
                    return Err(CallFate::Unsent.told(error));
                }
            };
            match retry_after(&answer) {
                Some(wait) if is_paced && !last && wait <= MAX_WAIT => self.tools.limiter.pause(chat, wait),
                _ if answer.is_error => {
                    return Err(CallFate::of(&answer.content).told(describe_error(&answer.content)));
                }
                _ => return Ok(answer.content.get("result").cloned().unwrap_or(answer.content)),
            }
        }
        Err(CallFate::Unsent.told("Telegram is limiting messages to this chat; try later"))
    }

    /// Converts a failure for the model.
    fn error(&self, CallFailure { fate, words }: CallFailure) -> ToolError {
        match fate {
            CallFate::Refused => ToolError::ForModel(format!("Telegram refused: {words}")),
            CallFate::Unsent => ToolError::ForModel(words),
            CallFate::Unknown => self.unknown(&words),
        }
    }

    /// Makes the error of a call without an answer. Calls that only read may be repeated.
    fn unknown(&self, words: &str) -> ToolError {
        if self.method.class == Class::Read {
            return ToolError::ForModel(words.to_owned());
        }
        let done = if self.method.adds_messages() { "sent" } else { "carried out" };
        ToolError::Unknown(format!("{words}. It may have been {done}: do not repeat it without checking"))
    }

    /// Records sent messages as the model's own. Returns `true` if one of them answers the person.
    fn note_own(
        &self,
        args: &Map<String, Value>,
        result: &Value,
        chat: ChatId,
        context: &ToolContext,
    ) -> bool {
        if !self.method.adds_messages() {
            return false;
        }
        let sent = result.as_array().map_or(std::slice::from_ref(result), Vec::as_slice);
        let ids = sent.iter().filter_map(|message| message.get("message_id").and_then(Value::as_i64));
        let mut has_sent = false;
        for id in ids {
            has_sent = true;
            let recording = self.tools.outbox.record_own(chat, MessageId(id), Author::Model, context.now);
            if let Err(error) = recording {
                tracing::error!(%error, %chat, "a sent message could not be recorded as the model's own");
            }
        }
        let topic = context.place.topic.map(|topic| json!(topic));
        let is_here = chat == context.place.chat && args.get("message_thread_id") == topic.as_ref();
        has_sent && is_here && self.method.name == "sendMessage"
    }
}

/// Returns the chat of the first sent message.
fn sent_in(result: &Value) -> Option<ChatId> {
    let first = result.get(0).unwrap_or(result);
    first.pointer("/chat/id").and_then(Value::as_i64).map(ChatId)
}

/// Fate of a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallFate {
    /// Telegram or the server rejected the call.
    Refused,
    /// The call did not reach Telegram.
    Unsent,
    /// No answer: the call was cancelled (499), or Telegram failed or timed out (5xx).
    Unknown,
}

impl CallFate {
    fn told(self, words: impl ToString) -> CallFailure {
        CallFailure { fate: self, words: words.to_string() }
    }

    fn of(content: &Value) -> Self {
        let error = content.get("error");
        let code = error.and_then(|error| error.get("error_code")).and_then(Value::as_i64);
        match code {
            _ if error.is_some_and(|error| error.get("unsent") == Some(&Value::Bool(true))) => Self::Unsent,
            Some(400..499) => Self::Refused,
            Some(_) | None => Self::Unknown,
        }
    }
}

fn retry_after(answer: &ToolCallOutput) -> Option<Duration> {
    let seconds = answer.content.get("error")?.get("retry_after")?.as_u64()?;
    answer.is_error.then_some(Duration::from_secs(seconds))
}

fn describe_error(content: &Value) -> String {
    let error = content.get("error").unwrap_or(content);
    error.get("description").and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_a_failed_call_is_told_by_its_error() {
        let failed = |code: i64| json!({"ok": false, "error": {"error_code": code, "description": "x"}});
        let away = |unsent: bool| json!({"ok": false, "error": {"error_code": 503, "unsent": unsent}});
        let cases = [
            (failed(400), CallFate::Refused),
            (failed(403), CallFate::Refused),
            (failed(429), CallFate::Refused),
            (failed(499), CallFate::Unknown),
            (failed(500), CallFate::Unknown),
            (failed(504), CallFate::Unknown),
            (away(true), CallFate::Unsent),
            (away(false), CallFate::Unknown),
            (json!("the server said something else"), CallFate::Unknown),
        ];
        for (content, expected) in cases {
            assert_eq!(CallFate::of(&content), expected, "{content}");
        }
    }
}
