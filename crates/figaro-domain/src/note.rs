//! Notes: short items of a chat, grouped under keys such as a shopping list.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use figaro_base::ids::{ChatId, NoteId, RunId, UserId};

/// Maximum number of notes of a chat.
pub const MAX_NOTES: usize = 500;
/// Maximum length of a note, in characters.
pub const MAX_CONTENT_CHARS: usize = 2000;
/// Maximum length of a key, in characters.
pub const MAX_KEY_CHARS: usize = 64;

/// A note that the model keeps for a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Unique id of the note.
    pub id: NoteId,
    /// Chat of the note.
    pub chat: ChatId,
    /// Name of the list that the note is on, such as `shopping`.
    pub key: String,
    /// Text of the note; at most [`MAX_CONTENT_CHARS`] characters.
    pub content: String,
    /// Person who asked for the note, if known.
    pub author: Option<UserId>,
    /// Turn that added the note. The note is forgotten with the question of that turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<RunId>,
    /// Creation time, UTC.
    pub created_at: DateTime<Utc>,
}

impl Note {
    /// Returns `true` if both notes have the same key and text.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.key == other.key && self.content == other.content
    }
}

/// Normalizes a key: trimmed, lower case, single spaces. Returns `None` for an empty or overlong key.
#[must_use]
pub fn normal_key(key: &str) -> Option<String> {
    let key = key.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    (!key.is_empty() && key.chars().count() <= MAX_KEY_CHARS).then_some(key)
}

/// Groups notes by key, in the order in which keys and notes were first written.
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
