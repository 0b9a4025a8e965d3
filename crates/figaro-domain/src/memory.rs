//! Memories: lasting facts about a person, taken from what they said.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::conversation::EntryKey;
use figaro_base::ids::{ChatId, EntryId, MemoryId, UserId};

/// Maximum length of a memory, in characters.
pub const MAX_CONTENT_CHARS: usize = 500;
/// Loss of a memory's worth per day of age.
const WORTH_A_DAY: f64 = 0.1;

/// Returns the label of a memory in a prompt, such as `M1` for the first.
#[must_use]
pub fn label(number: usize) -> String {
    format!("M{number}")
}

/// Parses the number of a label; `None` if the text is no label.
#[must_use]
pub fn numbered(label: &str) -> Option<usize> {
    let number = label.trim().strip_prefix(['M', 'm'])?;
    number.parse().ok().filter(|number| *number > 0)
}

/// A lasting fact about a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Unique id, never reused.
    pub id: MemoryId,
    /// Person that the memory is about.
    pub user: UserId,
    /// Chat in which they stated it.
    pub chat: ChatId,
    /// Text of the fact.
    pub content: String,
    /// Message that states the fact.
    pub source_message_id: EntryId,
    /// Key of that message.
    pub source: EntryKey,
    /// Messages behind earlier texts of the memory and behind memories merged into it. The text may still hold their
    /// content, so erasing any of them erases the memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub older_sources: Vec<EntryId>,
    /// `true` for a lasting preference. If stated in a private chat, it becomes a pin of that chat.
    #[serde(default)]
    pub is_preference: bool,
    /// Number of answers that used the memory.
    #[serde(default)]
    pub access_count: u32,
    /// Time of the last answer that used it, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_accessed_at: Option<DateTime<Utc>>,
    /// Creation time, UTC.
    pub created_at: DateTime<Utc>,
    /// Time of the last change of its text, UTC.
    pub updated_at: DateTime<Utc>,
    /// Time of removal, UTC; `None` while the memory is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<DateTime<Utc>>,
}

impl Memory {
    /// Returns `true` unless the memory was removed.
    #[must_use]
    pub const fn is_active(&self) -> bool {
        self.deleted_at.is_none()
    }

    /// Returns `true` if the memory may be used in a chat. A private fact is used only in its private chat, a fact from a
    /// group in that group and in the person's private chat.
    #[must_use]
    pub fn is_used_in(&self, chat: ChatId) -> bool {
        self.chat == chat || (self.chat.is_group() && Some(chat.0) == self.user.telegram_id())
    }

    /// Returns `true` if the memory may be part of a prompt for this person's questions in this chat.
    #[must_use]
    pub fn is_shown_to(&self, user: &UserId, chat: ChatId) -> bool {
        self.is_active() && self.user == *user && self.is_used_in(chat)
    }

    /// Returns all messages that the text may come from.
    pub fn sources(&self) -> impl Iterator<Item = EntryId> {
        std::iter::once(self.source_message_id).chain(self.older_sources.iter().copied())
    }

    /// Returns the worth of the memory at a time: `access_count − 0.1 × age_days`. Above the limit the memory with the least
    /// worth is removed.
    #[must_use]
    pub fn worth(&self, now: DateTime<Utc>) -> f64 {
        let days = (now - self.created_at).as_seconds_f64() / 86_400.0;
        f64::from(self.access_count) - WORTH_A_DAY * days.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use figaro_base::ids::SessionId;

    fn memory(user: i64, chat: i64, is_removed: bool) -> Memory {
        Memory {
            id: MemoryId::new(),
            user: UserId::telegram(user),
            chat: ChatId(chat),
            content: String::new(),
            source_message_id: EntryId::new(),
            older_sources: Vec::new(),
            is_preference: false,
            source: EntryKey { session: SessionId::new(), index: 0 },
            access_count: 0,
            last_accessed_at: None,
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
            deleted_at: is_removed.then_some(DateTime::UNIX_EPOCH),
        }
    }

    #[test]
    fn labels_are_read_as_they_are_written() {
        for number in [1, 7, 50] {
            assert_eq!(numbered(&label(number)), Some(number));
        }
        for other in ["", "M", "M0", "N1", "M-1", "M1.5", "one"] {
            assert_eq!(numbered(other), None, "{other}");
        }
    }

    proptest! {
        /// People 1 to 4, each with a private chat of their number, in groups that all of them are in.
        #[test]
        fn nobody_sees_what_another_said_and_what_was_said_in_private_is_shown_there_alone(
            said in prop::collection::vec((1_i64..5, -4_i64..1, any::<bool>()), 1..40),
            asker in 1_i64..5,
            place in -4_i64..1,
        ) {
            let chat = |user: i64, place: i64| if place == 0 { user } else { place };
            let (user, here) = (UserId::telegram(asker), ChatId(chat(asker, place)));
            for (writer, place, is_removed) in said {
                let there = chat(writer, place);
                let memory = memory(writer, there, is_removed);
                let is_shown = memory.is_shown_to(&user, here);
                prop_assert!(!is_shown || (writer == asker && !is_removed));
                // In private all of one's own; in a group what was said in it.
                let wanted = writer == asker && !is_removed && (there == here.0 || here.0 == asker);
                prop_assert_eq!(is_shown, wanted);
            }
        }
    }
}
