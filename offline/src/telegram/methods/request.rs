//! One call as its method sees it: the arguments by type, and the chat and topic they name.

use figaro_mcp::table::Method;
use serde_json::Value;

use super::super::args::Args;
use super::super::entities;
use super::super::error::Refusal;
use super::super::state::State;
#[cfg(feature = "testing")]
use super::super::world::Chat;
use super::super::world::{ChatKind, Standing};

/// What a method answers: its `result`, or why it does nothing.
pub(super) type Outcome = Result<Value, Refusal>;

/// A call whose arguments passed the table's check.
pub(super) struct Request<'a> {
    pub(super) method: &'a Method,
    pub(super) args: &'a Args,
    /// Unix time of its arrival.
    pub(super) now: i64,
}

impl Request<'_> {
    /// An argument that is there and not null.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.args.fields.get(name).filter(|v| !v.is_null())
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.value(name)?.as_str()
    }

    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.value(name)?.as_i64()
    }

    /// A switch, which is off unless the call turns it on.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.value(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A list, empty if the call has none.
    pub(super) fn list(&self, name: &str) -> &[Value] {
        self.value(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Text with its entities, as Telegram stores it.
    pub(super) fn formatted(&self, text: &str, entities: &str) -> (String, Vec<Value>) {
        entities::finish(self.text(text).unwrap_or_default(), self.list(entities))
    }

    /// The chat the call is about, if the bot can act there.
    pub(super) fn chat(&self, state: &State) -> Result<i64, Refusal> {
        self.chat_named(state, "chat_id")
    }

    /// The same for the chat that another parameter names.
    pub(super) fn chat_named(&self, state: &State, parameter: &str) -> Result<i64, Refusal> {
        let found = self.value(parameter).and_then(|id| state.world.find(id));
        let Some(chat) = found.and_then(|id| state.world.chats.get(&id)) else {
            return Err(Refusal::bad("chat not found"));
        };
        if let Some(to) = chat.migrated_to {
            return Err(Refusal::migrated(to));
        }
        let kind = if chat.kind == ChatKind::Supergroup { "supergroup" } else { chat.kind.name() };
        match (chat.standing(state.world.bot.id), chat.kind) {
            (Standing::Owner | Standing::Admin | Standing::Member, _) => Ok(chat.id),
            (Standing::Kicked, ChatKind::Private) => Err(Refusal::forbidden("bot was blocked by the user")),
            (Standing::Kicked, _) => Err(Refusal::forbidden(&format!("bot was kicked from the {kind} chat"))),
            (Standing::Left, ChatKind::Private) => Err(Refusal::bad("chat not found")),
            (Standing::Left, _) => {
                Err(Refusal::forbidden(&format!("bot is not a member of the {kind} chat")))
            }
        }
    }

    /// The topic the call names. The General topic has no id of its own: naming it as 1 is refused, as by Telegram.
    pub(super) fn thread(&self, state: &State, chat: i64) -> Result<Option<i64>, Refusal> {
        let Some(thread) = self.number("message_thread_id") else {
            return Ok(None);
        };
        let known = state.world.chats.get(&chat).is_some_and(|c| c.topics.contains_key(&thread));
        if known { Ok(Some(thread)) } else { Err(Refusal::bad("message thread not found")) }
    }

    /// Counts a message to a chat against the flood limits, if a test wants them.
    #[cfg(feature = "testing")]
    pub(super) fn count_message(&self, state: &mut State, chat: i64) -> Result<(), Refusal> {
        let group = state.world.chats.get(&chat).is_some_and(Chat::is_group).then_some(chat);
        state.testing.count_message(group).map_err(Refusal::retry_after)
    }
}
