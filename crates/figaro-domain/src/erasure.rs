//! Erasure of data at a person's request: requests, found messages and results.

use chrono::{DateTime, Utc};

use super::conversation::{ConversationId, EntryKey};
use figaro_base::ids::{ChatId, MessageId, SessionId, UserId};

/// Data to be erased at the request of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Erasure {
    /// Messages of a chat. A question is erased with its answers; an answer is erased alone.
    Said(ChatId, Vec<SaidAt>),
    /// A session with all its messages.
    Session(ConversationId, SessionId),
    /// Everything stored about a private chat and its person.
    Chat(ChatId, UserId),
    /// Messages of one person in a group, and everything stored about them.
    Person(ChatId, UserId),
}

impl Erasure {
    /// Returns the erasure of a person's external conversation with this session. Data shared by the person's sessions
    /// stays. A conversation without a topic is erased completely.
    #[must_use]
    pub fn of_external(conversation: ConversationId, session: SessionId, user: UserId) -> Self {
        match conversation.topic {
            Some(_) => Self::Session(conversation, session),
            None => Self::Chat(conversation.chat, user),
        }
    }

    /// Returns the chat of the erasure.
    #[must_use]
    pub const fn chat(&self) -> ChatId {
        match self {
            Self::Said(chat, _) | Self::Chat(chat, _) | Self::Person(chat, _) => *chat,
            Self::Session(conversation, _) => conversation.chat,
        }
    }
}

/// Storage place of a message: a session or the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaidAt {
    /// A message of a session, by its key.
    Session(EntryKey),
    /// A background message, which was not addressed to the bot.
    Background(MessageId),
}

impl SaidAt {
    /// Returns Telegram's id of a background message; `None` for a message of a session.
    #[must_use]
    pub const fn background(&self) -> Option<MessageId> {
        match self {
            Self::Background(message) => Some(*message),
            Self::Session(_) => None,
        }
    }
}

/// A message found for erasure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundMessage {
    /// Storage place of the message.
    pub at: SaidAt,
    /// Person who may erase the message: its writer, or the person it answers. `None` if unknown.
    pub of: Option<UserId>,
    /// `true` for an answer of the bot.
    pub is_answer: bool,
    /// Full text of the message.
    pub text: String,
    /// Time of writing, UTC.
    pub written_at: DateTime<Utc>,
}

/// Numbers of erased items, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Erased {
    /// Messages of people, including background messages.
    pub messages: usize,
    /// Answers of the bot.
    pub answers: usize,
    /// Sessions erased completely.
    pub sessions: usize,
    /// Notes of the chat.
    pub notes: usize,
    /// Records erased completely or in part.
    pub records: usize,
    /// Scheduled tasks.
    pub tasks: usize,
    /// Personas written for a chat.
    pub personas: usize,
    /// Pins of the chat.
    pub pins: usize,
    /// Documents of the chat.
    pub documents: usize,
    /// Summaries of sessions.
    pub summaries: usize,
    /// Memories of people.
    pub memories: usize,
    /// Profiles of people.
    pub profiles: usize,
}

impl Erased {
    /// Returns `true` if nothing was erased.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Result of an erasure: done, or refused for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgotten {
    /// Completed, with the numbers of erased items.
    Done(Erased),
    /// Nothing was erased: a running answer in the chat may already have read the data.
    Busy,
}
