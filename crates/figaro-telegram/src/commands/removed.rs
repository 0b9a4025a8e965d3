//! Values that a button has just removed and another button can restore: for a minute, unless the chat has had data
//! erased since.

use std::collections::HashMap;
use std::hash::Hash;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;

use figaro_agent::eraser::{Erasures, UNDO};
use figaro_base::ids::ChatId;

/// Values that were removed within the last minute, by id.
#[derive(Debug)]
pub(super) struct RecentlyRemoved<K, V> {
    kept: Mutex<HashMap<K, RemovedValue<V>>>,
    erasures: Erasures,
}

#[derive(Debug)]
struct RemovedValue<V> {
    value: V,
    chat: ChatId,
    at: DateTime<Utc>,
}

impl<K: Eq + Hash, V> RecentlyRemoved<K, V> {
    /// Creates an empty store. Values removed before one of these erasures in the same chat cannot be restored.
    pub(super) fn after(erasures: Erasures) -> Self {
        Self { kept: Mutex::default(), erasures }
    }

    /// Keeps a value that was removed from a chat now.
    pub(super) fn keep(&self, id: K, value: V, chat: ChatId, now: DateTime<Utc>) {
        let mut kept = self.kept.lock();
        kept.retain(|_, one| now - one.at < UNDO);
        kept.insert(id, RemovedValue { value, chat, at: now });
    }

    /// Returns a value that can still be restored in this chat, with the time of its removal, and keeps it.
    pub(super) fn look(&self, id: &K, chat: ChatId, now: DateTime<Utc>) -> Option<(V, DateTime<Utc>)>
    where
        V: Clone,
    {
        let kept = self.kept.lock();
        let one = kept.get(id).filter(|one| self.is_free(one, chat, now))?;
        Some((one.value.clone(), one.at))
    }

    fn is_free(&self, one: &RemovedValue<V>, chat: ChatId, now: DateTime<Utc>) -> bool {
        one.chat == chat && now - one.at < UNDO && !self.erasures.has_since(chat, one.at)
    }

    /// Takes a value out to restore it in this chat; `None` if it can no longer be restored.
    pub(super) fn take(&self, id: &K, chat: ChatId, now: DateTime<Utc>) -> Option<V> {
        let taken = self.kept.lock().remove(id)?;
        self.is_free(&taken, chat, now).then_some(taken.value)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn what_was_removed_comes_back_once_in_its_chat_within_a_minute_and_not_after_an_erasure() {
        let (here, there) = (ChatId(1), ChatId(2));
        let at = |second: i64| DateTime::UNIX_EPOCH + TimeDelta::seconds(second);
        let erasures = Erasures::default();
        let removed = RecentlyRemoved::after(erasures.clone());
        removed.keep(1, "one", here, at(0));
        assert_eq!((removed.take(&1, here, at(59)), removed.take(&1, here, at(59))), (Some("one"), None));
        removed.keep(1, "one", here, at(0));
        assert_eq!(removed.take(&1, here, at(60)), None);
        removed.keep(1, "one", here, at(0));
        assert_eq!(removed.take(&1, there, at(1)), None);
        removed.keep(1, "one", here, at(10));
        removed.keep(2, "two", there, at(10));
        erasures.note(here, at(11));
        assert_eq!((removed.take(&1, here, at(12)), removed.take(&2, there, at(12))), (None, Some("two")));
        removed.keep(3, "three", here, at(13));
        assert_eq!(removed.look(&3, here, at(14)), Some(("three", at(13))));
        assert_eq!(removed.take(&3, here, at(14)), Some("three"), "it was removed after that");
        assert_eq!(removed.look(&3, here, at(14)), None);
    }
}
