//! What people have Figaro forget: what is erased, what was found to be erased, and what is said of it afterwards.

use chrono::{DateTime, Utc};

use super::conversation::{Conversation, EntryKey};
use figaro_base::ids::{ChatId, MessageId, SessionId, UserId};

/// What is to be erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Erasure {
    /// Messages of a chat. With a question goes what was answered to it; an answer goes alone.
    Said(ChatId, Vec<SaidAt>),
    /// A session with all that was said in it.
    Session(Conversation, SessionId),
    /// All that is kept of a private chat and of the person it is with.
    Chat(ChatId, UserId),
    /// What one person said in a group, and what is kept of them.
    Person(ChatId, UserId),
}

impl Erasure {
    /// A conversation outside Telegram that this person had, with this session in it. What belongs to a person in all their sessions
    /// stays. A conversation that is no part of a whole goes with all that is kept of it.
    #[must_use]
    pub fn of_external(conversation: Conversation, session: SessionId, user: UserId) -> Self {
        match conversation.topic {
            Some(_) => Self::Session(conversation, session),
            None => Self::Chat(conversation.chat, user),
        }
    }

    /// The chat that it is about.
    #[must_use]
    pub const fn chat(&self) -> ChatId {
        match self {
            Self::Said(chat, _) | Self::Chat(chat, _) | Self::Person(chat, _) => *chat,
            Self::Session(conversation, _) => conversation.chat,
        }
    }
}

/// Where a message is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaidAt {
    /// In a session.
    Session(EntryKey),
    /// Among what was said beside the bot.
    Background(MessageId),
}

impl SaidAt {
    /// Its number at Telegram, of one beside the bot.
    #[must_use]
    pub const fn background(&self) -> Option<MessageId> {
        match self {
            Self::Background(message) => Some(*message),
            Self::Session(_) => None,
        }
    }
}

/// A message that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Where it is kept.
    pub at: SaidAt,
    /// Whose it is to forget: the person who wrote it, or to whom it was answered. `None` where nobody is known.
    pub of: Option<UserId>,
    /// Whether the bot said it.
    pub is_answer: bool,
    /// Its whole text.
    pub text: String,
    /// When it was written, UTC.
    pub written_at: DateTime<Utc>,
}

/// How much was erased.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Erased {
    /// Messages of people, also those beside the bot.
    pub messages: usize,
    /// Answers of the bot.
    pub answers: usize,
    /// Whole sessions.
    pub sessions: usize,
    /// Notes.
    pub notes: usize,
    /// Records that went, or lost something.
    pub records: usize,
    /// Tasks.
    pub tasks: usize,
    /// Personas that a chat had written.
    pub personas: usize,
    /// Pins.
    pub pins: usize,
    /// Summaries.
    pub summaries: usize,
    /// Memories that were used.
    pub memories: usize,
    /// Profiles of people.
    pub profiles: usize,
}

impl Erased {
    /// Whether nothing was.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// What became of an erasure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgotten {
    /// It is done.
    Done(Erased),
    /// An answer is being written in the chat, for which what was to be erased may have been read; nothing was.
    Busy,
}
