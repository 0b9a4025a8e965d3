//! Newest message of each private chat: an answer quotes its question if other messages came in between.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use figaro_base::ids::{ChatId, MessageId};
use figaro_domain::chat::Place;

/// Maximum number of remembered chats. Beyond it all are dropped, and answers quote nothing for a while.
const MAX_CHATS: usize = 10_000;

/// Newest message of each private chat since the start, by the person or the bot. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Newest(Arc<Mutex<HashMap<ChatId, MessageId>>>);

impl Newest {
    /// Records a message of a private chat; ignores groups, where every answer quotes its question.
    pub(crate) fn note(&self, place: &Place, message: impl Into<Option<MessageId>>) {
        let Some(message) = message.into().filter(|_| !place.is_group()) else { return };
        let mut newest = self.0.lock();
        if newest.len() >= MAX_CHATS && !newest.contains_key(&place.chat) {
            newest.clear();
        }
        let known = newest.entry(place.chat).or_insert(message);
        *known = message.max(*known);
    }

    /// Returns `true` if a newer message than this one is known in its chat.
    #[must_use]
    pub(crate) fn is_behind(&self, chat: ChatId, message: MessageId) -> bool {
        let newest = self.0.lock();
        newest.get(&chat).is_some_and(|newest| *newest > message)
    }
}
