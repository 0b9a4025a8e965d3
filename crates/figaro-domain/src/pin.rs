//! Pins: what a chat wants the model to see with every question.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::conversation::EntryKey;
use figaro_base::ids::{ChatId, EntryId, MemoryId, MessageId, PinId, RunId, SessionId, TopicId, UserId};

/// The importance of a pin that nobody said anything of.
pub const DEFAULT_IMPORTANCE: f32 = 5.0;
/// A pin from this importance on is shown in all sessions of its chat, others only in their own.
pub const VITAL: f32 = 10.0;
/// The most pins a chat may hold.
pub const MAX_PINS: usize = 100;
/// The most of them that were pinned by a rule of the data.
pub(crate) const MAX_AUTO: usize = 20;
/// The most of them that are lasting preferences.
pub(crate) const MAX_CONCEPT: usize = 20;
/// How much a lasting preference matters.
pub(crate) const OF_PREFERENCE: f32 = 7.0;
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

/// What Figaro itself keeps. People can look at it; it is not told to the model, which knows as much from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemPin {
    /// The time zone of the chat.
    Zone,
    /// That a person has agreed to what is remembered of them.
    Consent,
    /// The start of the session that goes on in this topic, or outside of topics.
    Session(Option<TopicId>),
}

impl SystemPin {
    /// The form of times in its words, in UTC; cards show them by the clock of the chat.
    pub const TIME: &'static str = "%Y-%m-%d %H:%M UTC";
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
    /// The memory whose words it holds, of a lasting preference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryId>,
    /// The turn in which the model pinned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<RunId>,
    /// How much it matters, from 0 to 10: where the room is small the most important ones are shown.
    pub importance: f32,
    /// Why it is pinned.
    pub pin_type: PinType,
    /// The person who pinned it, or whose words it holds; `None` for Figaro itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<UserId>,
    /// The name of that person: in a group it tells whose words they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// It holds only the part of its source that somebody marked, which stays as it is when the source is edited.
    #[serde(default)]
    pub is_part: bool,
    /// What it is that Figaro itself keeps; `None` unless the type is [`PinType::System`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<SystemPin>,
    /// When it was pinned, UTC.
    pub created_at: DateTime<Utc>,
}

impl Pin {
    /// A manual pin of these words, of the usual importance, without a source.
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

    /// What Figaro itself keeps of a chat. Of each kind, and of consents of each person, a chat has one.
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

    /// That a person has agreed, in a chat at a time, to what is remembered of them: for whoever asks them.
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

    /// Whether it is shown with the questions of a session.
    #[must_use]
    pub fn is_shown_in(&self, session: SessionId) -> bool {
        let is_of_chat = self.importance >= VITAL || self.pin_type == PinType::Concept;
        self.about.is_none() && (self.session == session || is_of_chat)
    }

    /// Whether it takes the place of another: what Figaro keeps is kept once.
    #[must_use]
    pub fn replaces(&self, other: &Self) -> bool {
        self.about.is_some() && self.about == other.about && self.author == other.author
    }
}
