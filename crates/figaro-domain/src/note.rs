//! Notes: short items a chat keeps under keys of its own, such as a shopping list.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use figaro_base::ids::{ChatId, NoteId, RunId, UserId};

/// The most notes a chat may hold.
pub const MAX_NOTES: usize = 500;
/// The most characters of a note.
pub const MAX_CONTENT_CHARS: usize = 2000;
/// The most characters of a key.
pub const MAX_KEY_CHARS: usize = 64;

/// A note that the model keeps for a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The id of the note.
    pub id: NoteId,
    /// The chat that it belongs to.
    pub chat: ChatId,
    /// The name of the list it is on, such as `shopping`.
    pub key: String,
    /// The text of the note.
    pub content: String,
    /// The person who asked for it, if known.
    pub author: Option<UserId>,
    /// The turn that added it: it is forgotten with the question of that turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<RunId>,
    /// When it was added, UTC.
    pub created_at: DateTime<Utc>,
}

impl Note {
    /// Whether both say the same under the same key.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.key == other.key && self.content == other.content
    }
}

/// A key as it is stored: trimmed, lower case, single spaces. Empty or overlong keys have none.
#[must_use]
pub fn normal_key(key: &str) -> Option<String> {
    let key = key.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    (!key.is_empty() && key.chars().count() <= MAX_KEY_CHARS).then_some(key)
}

/// Notes by key, both in the order in which they were first written.
#[must_use]
pub fn by_key(notes: &[Note]) -> Vec<(&str, Vec<&Note>)> {
    let mut keys: Vec<(&str, Vec<&Note>)> = Vec::new();
    for note in notes {
        match keys.iter_mut().find(|(key, _)| *key == note.key) {
            Some((_, list)) => list.push(note),
            None => keys.push((&note.key, vec![note])),
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_forgiving() {
        assert_eq!(normal_key("  Shopping   List "), Some("shopping list".to_owned()));
        assert_eq!(normal_key("   "), None);
        assert_eq!(normal_key(&"x".repeat(65)), None);
    }
}
