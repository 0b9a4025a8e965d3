//! What a person can not do, and the looks for people and chats that may find none.

use super::state::TelegramState;
use super::world::{Chat, Person};

/// Something a person can not do; the words say why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Impossible(String);

pub(super) type Possible<T> = Result<T, Impossible>;

/// Says why something is not possible.
pub(super) fn no<T>(why: impl Into<String>) -> Possible<T> {
    Err(Impossible(why.into()))
}

/// The person or bot with this user id.
pub(super) fn known(state: &TelegramState, user: i64) -> Possible<&Person> {
    state.world.people.get(&user).ok_or_else(|| Impossible(format!("nobody has the user id {user}")))
}

/// The chat with this id.
pub(super) fn chat_mut(state: &mut TelegramState, chat: i64) -> Possible<&mut Chat> {
    state.world.chats.get_mut(&chat).ok_or_else(|| Impossible(format!("there is no chat {chat}")))
}
