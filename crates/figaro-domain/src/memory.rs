//! Memories: lasting facts about a person, taken from what they said.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::conversation::EntryKey;
use figaro_base::ids::{ChatId, EntryId, MemoryId, UserId};

/// The most characters of a memory.
pub const MAX_CONTENT_CHARS: usize = 500;
/// So much each day of its age takes from what makes a memory worth keeping.
const WORTH_A_DAY: f64 = 0.1;

/// How the model names one of the memories that it is shown: the first is `M1`.
#[must_use]
pub fn label(number: usize) -> String {
    format!("M{number}")
}

/// The number in a label; `None` for what is no label.
#[must_use]
pub fn numbered(label: &str) -> Option<usize> {
    let number = label.trim().strip_prefix(['M', 'm'])?;
    number.parse().ok().filter(|number| *number > 0)
}

/// A fact about a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// The id, unique for ever.
    pub id: MemoryId,
    /// The person that it belongs to.
    pub user: UserId,
    /// The chat in which they said it.
    pub chat: ChatId,
    /// The fact.
    pub content: String,
    /// The message in which they said it.
    pub source_message_id: EntryId,
    /// Where that message stands.
    pub source: EntryKey,
    /// The messages that earlier words of it were said in, and those of memories that were merged into it: it may still hold
    /// what they say, and goes with each of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub older_sources: Vec<EntryId>,
    /// It is a lasting preference: of what is said in private the chat gets a pin.
    #[serde(default)]
    pub is_preference: bool,
    /// How many answers have used it.
    #[serde(default)]
    pub access_count: u32,
    /// When an answer used it last, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_accessed_at: Option<DateTime<Utc>>,
    /// When it was made, UTC.
    pub created_at: DateTime<Utc>,
    /// When its words were changed last, UTC.
    pub updated_at: DateTime<Utc>,
    /// When it was removed, UTC; `None` while it is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<DateTime<Utc>>,
}

impl Memory {
    /// Whether it is used.
    #[must_use]
    pub const fn is_active(&self) -> bool {
        self.deleted_at.is_none()
    }

    /// Whether it may be used in a chat: what was said in private only there, what was said in a group there and in the
    /// private chat of the person.
    #[must_use]
    pub fn is_used_in(&self, chat: ChatId) -> bool {
        self.chat == chat || (self.chat.is_group() && Some(chat.0) == self.user.telegram_id())
    }

    /// Whether it may stand in a prompt for what this person asks in this chat.
    #[must_use]
    pub fn is_shown_to(&self, user: &UserId, chat: ChatId) -> bool {
        self.is_active() && self.user == *user && self.is_used_in(chat)
    }

    /// The messages that its words may be from.
    pub fn sources(&self) -> impl Iterator<Item = EntryId> {
        std::iter::once(self.source_message_id).chain(self.older_sources.iter().copied())
    }

    /// What it is worth at a time: `access_count − 0.1 × age_days`. Above the limit the one that is worth least expires.
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
