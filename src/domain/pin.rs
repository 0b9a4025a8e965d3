//! Pins: what a chat wants the model to see with every question.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::conversation::EntryKey;
use crate::ids::{ChatId, EntryId, MessageId, PinId, SessionId, UserId};

/// The importance of a pin that nobody said anything of.
pub const DEFAULT_IMPORTANCE: f32 = 5.0;
/// A pin from this importance on is shown in all sessions of its chat, others only in their own.
pub const VITAL: f32 = 10.0;
/// The most pins a chat may hold.
pub const MAX_PINS: usize = 100;
/// The most characters of a pin.
pub const MAX_CONTENT_CHARS: usize = 2000;

/// Why something is pinned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinType {
    /// A person, or the model for them, asked for it.
    #[default]
    Manual,
    /// A rule of the data found it vital.
    Auto,
    /// A formula or code.
    Code,
    /// A lasting preference that the extraction worker found.
    Concept,
    /// Figaro itself keeps it: the zone, a consent, the start of a session.
    System,
}

/// Something pinned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pin {
    /// The id, unique for ever.
    pub id: PinId,
    /// The chat that it belongs to.
    pub chat: ChatId,
    /// The session that it was pinned in.
    pub session: SessionId,
    /// The words that are shown to the model.
    pub content: String,
    /// The stored message that it was pinned from, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_message_id: Option<EntryId>,
    /// Where that message stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<EntryKey>,
    /// The Telegram message that it was pinned from, also one that is not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telegram: Option<MessageId>,
    /// How much it matters, from 0 to 10: where the room is small the most important ones are shown.
    pub importance: f32,
    /// Why it is pinned.
    pub pin_type: PinType,
    /// The person who pinned it, or whose words it holds; `None` for Figaro itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<UserId>,
    /// When it was pinned, UTC.
    pub created_at: DateTime<Utc>,
}

impl Pin {
    /// Whether it is shown with the questions of a session.
    #[must_use]
    pub fn is_shown_in(&self, session: SessionId) -> bool {
        self.session == session || self.importance >= VITAL
    }
}
