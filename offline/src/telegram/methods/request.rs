//! Call as its method sees it: typed arguments, chat and topic.

use figaro_mcp::table::Method;
use serde_json::Value;

use super::super::args::Args;
use super::super::entities;
use super::super::error::BotApiError;
use super::super::state::TelegramState;
#[cfg(feature = "testing")]
use super::super::world::Chat;
use super::super::world::{ChatType, MemberStatus};

/// `result` of a method, or its error.
pub(super) type MethodOutcome = Result<Value, BotApiError>;

/// Call whose arguments passed the table's check.
pub(super) struct CheckedRequest<'a> {
    pub(super) method: &'a Method,
    pub(super) args: &'a Args,
    /// Arrival time, in Unix time.
    pub(super) now: i64,
}

impl CheckedRequest<'_> {
    /// Returns an argument; `None` if missing or null.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.args.fields.get(name).filter(|v| !v.is_null())
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.value(name)?.as_str()
    }

    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.value(name)?.as_i64()
    }

    /// Returns a boolean argument; `false` if missing.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.value(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns a list argument; empty if missing.
    pub(super) fn list(&self, name: &str) -> &[Value] {
        self.value(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Returns a text and its entities, as Telegram stores them.
    pub(super) fn formatted(&self, text: &str, entities: &str) -> (String, Vec<Value>) {
        entities::finish(self.text(text).unwrap_or_default(), self.list(entities))
    }

    /// Returns the chat of the call, if the bot can act there.
    pub(super) fn chat(&self, state: &TelegramState) -> Result<i64, BotApiError> {
        self.chat_named(state, "chat_id")
    }

    /// Returns the chat that a parameter names, if the bot can act there.
    pub(super) fn chat_named(&self, state: &TelegramState, parameter: &str) -> Result<i64, BotApiError> {
        let found = self.value(parameter).and_then(|id| state.world.find(id));
        let Some(chat) = found.and_then(|id| state.world.chats.get(&id)) else {
            return Err(BotApiError::bad("chat not found"));
        };
        if let Some(to) = chat.migrated_to {
            return Err(BotApiError::migrated(to));
        }
        let kind = if chat.kind == ChatType::Supergroup { "supergroup" } else { chat.kind.name() };
        match (chat.standing(state.world.bot.id), chat.kind) {
            (MemberStatus::Owner | MemberStatus::Admin | MemberStatus::Member, _) => Ok(chat.id),
            (MemberStatus::Kicked, ChatType::Private) => {
                Err(BotApiError::forbidden("bot was blocked by the user"))
            }
            (MemberStatus::Kicked, _) => {
                Err(BotApiError::forbidden(&format!("bot was kicked from the {kind} chat")))
            }
            (MemberStatus::Left, ChatType::Private) => Err(BotApiError::bad("chat not found")),
            (MemberStatus::Left, _) => {
                Err(BotApiError::forbidden(&format!("bot is not a member of the {kind} chat")))
            }
        }
    }

    /// Returns the topic of the call. The General topic has no id: 1 is refused, as by Telegram.
    pub(super) fn thread(&self, state: &TelegramState, chat: i64) -> Result<Option<i64>, BotApiError> {
        let Some(thread) = self.number("message_thread_id") else {
            return Ok(None);
        };
        let known = state.world.chats.get(&chat).is_some_and(|c| c.topics.contains_key(&thread));
        if known { Ok(Some(thread)) } else { Err(BotApiError::bad("message thread not found")) }
    }

    /// Counts a message to a chat against the flood limits, if a test enabled them.
    #[cfg(feature = "testing")]
    pub(super) fn count_message(&self, state: &mut TelegramState, chat: i64) -> Result<(), BotApiError> {
        let group = state.world.chats.get(&chat).is_some_and(Chat::is_group).then_some(chat);
        state.testing.count_message(group).map_err(BotApiError::retry_after)
    }
}
