//! The newest message of each private chat: an answer quotes its question where others have come in between.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use figaro_base::ids::{ChatId, MessageId};
use figaro_domain::chat::Place;

/// So many chats are remembered; beyond that all are forgotten, and answers quote nothing for a while.
const MAX_CHATS: usize = 10_000;

/// The newest message of each private chat since the start, of either side. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Newest(Arc<Mutex<HashMap<ChatId, MessageId>>>);

impl Newest {
    /// Notes a message of a chat. In a group every answer quotes its question anyway.
    pub(crate) fn note(&self, place: &Place, message: impl Into<Option<MessageId>>) {
        let Some(message) = message.into().filter(|_| !place.is_group()) else { return };
        let mut newest = self.0.lock();
        if newest.len() >= MAX_CHATS && !newest.contains_key(&place.chat) {
            newest.clear();
        }
        let known = newest.entry(place.chat).or_insert(message);
        *known = message.max(*known);
    }

    /// Whether a newer message than this one is known in its chat.
    #[must_use]
    pub(crate) fn is_behind(&self, chat: ChatId, message: MessageId) -> bool {
        let newest = self.0.lock();
        newest.get(&chat).is_some_and(|newest| *newest > message)
    }
}
