//! Error of actions that are not possible, and lookups of people and chats.

use super::state::TelegramState;
use super::world::{Chat, Person};

/// Error of an action that is not possible, with the reason as text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Impossible(String);

pub(super) type Possible<T> = Result<T, Impossible>;

/// Returns an error with this reason.
pub(super) fn no<T>(why: impl Into<String>) -> Possible<T> {
    Err(Impossible(why.into()))
}

/// Returns the person or bot with this user id. Errors if unknown.
pub(super) fn known(state: &TelegramState, user: i64) -> Possible<&Person> {
    state.world.people.get(&user).ok_or_else(|| Impossible(format!("nobody has the user id {user}")))
}

/// Returns the chat with this id. Errors if unknown.
pub(super) fn chat_mut(state: &mut TelegramState, chat: i64) -> Possible<&mut Chat> {
    state.world.chats.get_mut(&chat).ok_or_else(|| Impossible(format!("there is no chat {chat}")))
}
