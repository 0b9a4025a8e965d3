//! One call of a method: within the limits, with what becomes of it when it fails, and with a note of the messages it sent.

use std::time::Duration;

use figaro_mcp::pace::messages;
use figaro_mcp::table::{Class, Method};
use serde_json::{Map, Value, json};

use super::{TelegramTools, ToolContext, ToolError, chat_number};
use crate::outbound::Urgency;
use figaro_base::ids::{ChatId, MessageId};
use figaro_domain::delivery::Author;
use figaro_mcp_client::client::{Answer, McpError};

/// A 429 whose wait is no longer than this is waited out and the call made once more.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// What a call that was made comes to.
#[derive(Debug)]
pub(super) struct Sent {
    /// The result, as Telegram gave it.
    pub(super) result: Value,
    /// Whether it sent the words that answer, in the chat and topic of the turn.
    pub(super) spoke: bool,
    /// Whether people may have written something of the result: names, descriptions, messages.
    pub(super) shows_words: bool,
}

impl TelegramTools {
    /// Makes a call that may be made.
    pub(super) async fn send(
        &self,
        method: &'static Method,
        args: Map<String, Value>,
        context: &ToolContext,
    ) -> Result<Sent, ToolError> {
        let count = if method.adds_messages() { messages(&args) } else { 0 };
        take(context, count)?;
        let call = Call { tools: self, method };
        let here = context.place.chat;
        let number = args.get("chat_id").map_or(Some(here), |chat| chat_number(chat).map(ChatId));
        let sent = call.send(&args, number.unwrap_or(here)).await.map_err(|failure| call.error(failure));
        if matches!(sent, Err(ToolError::ForModel(_))) {
            context.sends.iter().for_each(|sends| sends.give_back(count));
        }
        let result = sent?;
        // A chat that was named by its username has its number in what was sent.
        let spoke = match sent_in(&result).or(number) {
            Some(chat) => call.note_own(&args, &result, chat, context).await,
            None => false,
        };
        Ok(Sent { spoke, shows_words: call.shows_words(&result), result })
    }
}

/// A method that is called.
pub(super) struct Call<'a> {
    pub(super) tools: &'a TelegramTools,
    pub(super) method: &'static Method,
}

/// Why a call has no result.
pub(super) struct Failure {
    pub(super) fate: Fate,
    /// What Telegram or the server said.
    pub(super) words: String,
}

impl Call<'_> {
    /// Whether people may have written something of a result: names, descriptions, messages.
    fn shows_words(&self, result: &Value) -> bool {
        let others = ["reply_to_message", "external_reply", "forward_origin", "pinned_message"];
        let is_read = self.method.class == Class::Read && (result.is_object() || result.is_array());
        is_read || others.iter().any(|key| result.get(key).is_some())
    }

    /// Makes the call within the rate limits and gives its result; a short 429 is waited out once.
    pub(super) async fn send(&self, args: &Map<String, Value>, chat: ChatId) -> Result<Value, Failure> {
        let is_paced = self.method.class != Class::Read;
        for last in [false, true] {
            if is_paced {
                let together = if self.method.speaks() { messages(args) } else { 1 };
                self.tools.limiter.acquire_many(chat, together, Urgency::Answer).await;
            }
            let answer = match self.tools.mcp.call(&self.method.name, args.clone()).await {
                Ok(answer) => answer,
                Err(error @ McpError::Lost(_)) => return Err(Fate::Unknown.told(error)),
                Err(error @ (McpError::Unavailable(_) | McpError::Refused(_))) => {
                    return Err(Fate::Unsent.told(error));
                }
            };
            match retry_after(&answer) {
                Some(wait) if is_paced && !last && wait <= MAX_WAIT => self.tools.limiter.pause(chat, wait),
                _ if answer.is_error => {
                    return Err(Fate::of(&answer.content).told(describe_error(&answer.content)));
                }
                _ => return Ok(answer.content.get("result").cloned().unwrap_or(answer.content)),
            }
        }
        Err(Fate::Unsent.told("Telegram is limiting messages to this chat; try later"))
    }

    /// What the model is told of it.
    fn error(&self, Failure { fate, words }: Failure) -> ToolError {
        match fate {
            Fate::Refused => ToolError::ForModel(format!("Telegram refused: {words}")),
            Fate::Unsent => ToolError::ForModel(words),
            Fate::Unknown => self.unknown(&words),
        }
    }

    /// A call without an answer. What only reads does no harm twice.
    fn unknown(&self, words: &str) -> ToolError {
        if self.method.class == Class::Read {
            return ToolError::ForModel(words.to_owned());
        }
        let done = if self.method.adds_messages() { "sent" } else { "carried out" };
        ToolError::Unknown(format!("{words}. It may have been {done}: do not repeat it without checking"))
    }

    /// Remembers messages that were sent as the model's own; returns whether one of them spoke for the run.
    async fn note_own(
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
            if let Err(error) = recording.await {
                tracing::error!(%error, %chat, "a sent message could not be recorded as the model's own");
            }
        }
        let topic = context.place.topic.map(|topic| json!(topic));
        let is_here = chat == context.place.chat && args.get("message_thread_id") == topic.as_ref();
        has_sent && is_here && self.method.name == "sendMessage"
    }
}

/// The chat of a message that was sent, or of the first of several.
fn sent_in(result: &Value) -> Option<ChatId> {
    let first = result.get(0).unwrap_or(result);
    first.pointer("/chat/id").and_then(Value::as_i64).map(ChatId)
}

/// Takes so many messages from what the turn may send.
fn take(context: &ToolContext, count: usize) -> Result<(), ToolError> {
    let Some(sends) = &context.sends else { return Ok(()) };
    sends.take(count).map_err(|left| {
        ToolError::Denied(format!(
            "not allowed: in one run of a task tools send {} messages at most, and {left} of them are left. Leave the \
             rest out, and do not try again",
            sends.most()
        ))
    })
}

/// What became of a call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Telegram, or the server before it, did not take it.
    Refused,
    /// Telegram never saw it.
    Unsent,
    /// There is no answer: it was cancelled (499), or Telegram failed or fell silent (5xx).
    Unknown,
}

impl Fate {
    fn told(self, words: impl ToString) -> Failure {
        Failure { fate: self, words: words.to_string() }
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

fn retry_after(answer: &Answer) -> Option<Duration> {
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
            (failed(400), Fate::Refused),
            (failed(403), Fate::Refused),
            (failed(429), Fate::Refused),
            (failed(499), Fate::Unknown),
            (failed(500), Fate::Unknown),
            (failed(504), Fate::Unknown),
            (away(true), Fate::Unsent),
            (away(false), Fate::Unknown),
            (json!("the server said something else"), Fate::Unknown),
        ];
        for (content, expected) in cases {
            assert_eq!(Fate::of(&content), expected, "{content}");
        }
    }
}
