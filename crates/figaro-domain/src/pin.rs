//! Pins: texts that the model sees with every question of a chat.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::conversation::EntryKey;
use figaro_base::ids::{ChatId, EntryId, MemoryId, MessageId, PinId, RunId, SessionId, TopicId, UserId};

/// Default importance of a pin.
pub const DEFAULT_IMPORTANCE: f32 = 5.0;
/// Importance from which a pin is shown in all sessions of its chat. Others are shown only in their own session.
pub const VITAL: f32 = 10.0;
/// Maximum number of pins of a chat.
pub const MAX_PINS: usize = 100;
/// Maximum number of pins made by rules.
pub(crate) const MAX_AUTO: usize = 20;
/// Maximum number of pins for lasting preferences.
pub(crate) const MAX_CONCEPT: usize = 20;
/// Importance of a pin for a lasting preference.
pub(crate) const OF_PREFERENCE: f32 = 7.0;
/// Maximum length of a pin, in characters.
pub const MAX_CONTENT_CHARS: usize = 2000;

/// Reason for a pin: who or what made it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinType {
    /// Requested by a person, or made by the model on their behalf.
    #[default]
    Manual,
    /// Found vital by a rule on a person's words.
    Auto,
    /// Formula or code.
    Code,
    /// Lasting preference found by the extraction worker.
    Concept,
    /// Kept by Figaro itself: time zone, consent or start of a session.
    System,
}

/// Fact that Figaro itself keeps. People can look at it. The model is not shown it, because it knows the fact from
/// elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemPin {
    /// Time zone of the chat.
    Zone,
    /// A person's consent to being remembered.
    Consent,
    /// Start of the current session in this topic, or outside of topics.
    Session(Option<TopicId>),
}

impl SystemPin {
    /// Format of times in the text, in UTC. Cards show them in the time zone of the chat.
    pub const TIME: &'static str = "%Y-%m-%d %H:%M UTC";
}

/// A pinned text with its source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pin {
    /// Unique id, never reused.
    pub id: PinId,
    /// Chat of the pin.
    pub chat: ChatId,
    /// Session in which it was pinned.
    pub session: SessionId,
    /// Text shown to the model.
    pub content: String,
    /// Stored message that it was pinned from, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_message_id: Option<EntryId>,
    /// Key of that message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<EntryKey>,
    /// Telegram message that it was pinned from, even if not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telegram: Option<MessageId>,
    /// Memory behind a lasting preference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryId>,
    /// Turn in which the model pinned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<RunId>,
    /// Importance, from 0 to 10. If space is short, the most important pins are shown.
    pub importance: f32,
    /// Reason for the pin.
    pub pin_type: PinType,
    /// Person who pinned it, or whose words it holds; `None` for Figaro itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<UserId>,
    /// Name of that person; in a group it attributes the words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `true` if it holds only a marked part of its source. An edit of the source does not change it.
    #[serde(default)]
    pub is_part: bool,
    /// Fact that Figaro itself keeps; `None` unless the type is [`PinType::System`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<SystemPin>,
    /// Time of pinning, UTC.
    pub created_at: DateTime<Utc>,
}

impl Pin {
    /// Creates a manual pin with default importance and without a source.
    #[must_use]
    pub fn new(chat: ChatId, session: SessionId, content: String, created_at: DateTime<Utc>) -> Self {
        Self {
            id: PinId::new(),
            chat,
            session,
            content,
            source_message_id: None,
            source: None,
            telegram: None,
            memory: None,
            turn: None,
            importance: DEFAULT_IMPORTANCE,
            pin_type: PinType::Manual,
            author: None,
            name: None,
            is_part: false,
            about: None,
            created_at,
        }
    }

    /// Creates a pin for a fact kept by Figaro. A chat has one of each kind, and one consent per person.
    #[must_use]
    pub fn system(
        about: SystemPin,
        chat: ChatId,
        session: SessionId,
        content: String,
        created_at: DateTime<Utc>,
    ) -> Self {
        let plain = Self::new(chat, session, content, created_at);
        Self { pin_type: PinType::System, importance: VITAL, about: Some(about), ..plain }
    }

    /// Creates the record of a person's consent to being remembered, with chat and time, as evidence.
    #[must_use]
    pub fn consent(
        user: UserId,
        chat: ChatId,
        session: SessionId,
        words: String,
        created_at: DateTime<Utc>,
    ) -> Self {
        let plain = Self::system(SystemPin::Consent, chat, session, words, created_at);
        Self { author: Some(user), ..plain }
    }

    /// Returns `true` if the pin is shown with the questions of a session.
    #[must_use]
    pub fn is_shown_in(&self, session: SessionId) -> bool {
        let is_of_chat = self.importance >= VITAL || self.pin_type == PinType::Concept;
        self.about.is_none() && (self.session == session || is_of_chat)
    }

    /// Returns `true` if this pin replaces another. Each fact kept by Figaro has one pin.
    #[must_use]
    pub fn replaces(&self, other: &Self) -> bool {
        self.about.is_some() && self.about == other.about && self.author == other.author
    }
}
