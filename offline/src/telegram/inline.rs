//! Inline queries, guest queries, and messages that the bot has in chats it is no member of.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::error::BotApiError;

/// Inline and guest queries of people, and the messages that came of them. Not kept over a restart.
#[derive(Debug, Default)]
pub(super) struct InlineWorld {
    /// `true` if BotFather's inline mode and guest mode are off.
    pub(super) is_off: bool,
    /// Answers to queries by their id; `None` until the bot answers. Only one answer is possible.
    pub(super) queries: BTreeMap<String, InlineQueryState>,
    /// Content of messages by `inline_message_id`, each version since the message was sent.
    pub(super) messages: BTreeMap<String, Vec<Value>>,
}

/// A query of a person.
#[derive(Debug, Clone)]
pub(super) struct InlineQueryState {
    /// `User` object of the person.
    #[cfg_attr(not(feature = "testing"), expect(dead_code, reason = "only tests choose results"))]
    pub(super) from: Value,
    /// Text of the query.
    #[cfg_attr(not(feature = "testing"), expect(dead_code, reason = "only tests choose results"))]
    pub(super) query: String,
    /// Arguments of the bot's answer.
    pub(super) answer: Option<Map<String, Value>>,
}

impl InlineWorld {
    /// Returns an unanswered query. Errors as Telegram does for one that is unknown, too old, or answered.
    pub(super) fn open_query(&mut self, id: &str) -> Result<&mut InlineQueryState, BotApiError> {
        let open = self.queries.get_mut(id).filter(|query| query.answer.is_none());
        open.ok_or_else(|| {
            BotApiError::bad("query is too old and response timeout expired or query ID is invalid")
        })
    }

    /// Sends the message of a result, with this `inline_message_id`, into a chat that the bot is no member of.
    pub(super) fn send(&mut self, id: String, result: &Value) {
        let content = &result["input_message_content"];
        let mut message = json!({"text": content["message_text"]});
        for name in ["entities", "rich_message"] {
            if let Some(value) = content.get(name) {
                message[name] = value.clone();
            }
        }
        if let Some(keyboard) = result.get("reply_markup") {
            message["reply_markup"] = keyboard.clone();
        }
        self.messages.insert(id, vec![message]);
    }
}
