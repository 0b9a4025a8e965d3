//! The port for the sessions of conversations as people see them: listed, named, switched to.

use std::fmt::Debug;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::error::StoreError;
use figaro_base::ids::{ChatId, SessionId};
use figaro_domain::conversation::{Conversation, Message, Session};
use figaro_domain::session::SessionChange;

type Result<T> = std::result::Result<T, StoreError>;

/// What is said in a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// The first words of a person in it.
    pub first_words: Option<String>,
    /// How many messages of people and of the model it has. Above 5,000 messages results of tools count too.
    pub messages: u32,
}

/// What is kept of a session beside its messages, and how much these matter.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SessionStats {
    /// Its summaries, those that are to be made anew too.
    pub summaries: usize,
    /// What people pinned in it, and what was pinned for them.
    pub pins: usize,
    /// The mean importance, from 0 to 10, of its newest 5,000 messages of people and the model; `None` without any.
    pub importance: Option<f32>,
    /// When its oldest message of people and the model was written, UTC.
    pub oldest: Option<DateTime<Utc>>,
    /// When its newest one was, UTC.
    pub newest: Option<DateTime<Utc>>,
}

/// The sessions of conversations.
#[async_trait]
pub trait SessionStore: Debug + Send + Sync {
    /// The sessions of a conversation, the one with the newest message first. One that nothing was said in and nothing was
    /// chosen for is left out, unless it is the current one.
    async fn sessions(&self, conversation: Conversation) -> Result<Vec<Session>>;
    /// The session that the next question of a conversation belongs to; `None` if it begins one.
    async fn current_session(&self, conversation: Conversation) -> Result<Option<SessionId>>;
    /// A session by its id; `None` if there is none.
    async fn session_by_id(&self, session: SessionId) -> Result<Option<Session>>;
    /// What is said in a session; nothing if there is none.
    async fn outline(&self, session: SessionId) -> Result<Outline>;
    /// What is kept of a session of this chat.
    async fn session_stats(&self, chat: ChatId, session: SessionId) -> Result<SessionStats>;
    /// Makes a session the current one of its conversation, durably, and gives up the turns that wait for a person there;
    /// `false` if it is no session of that conversation.
    async fn switch_session(&self, conversation: Conversation, session: SessionId) -> Result<bool>;
    /// Changes a session, durably, and gives it as it is then; `None` if there is none. The name that a person gave stays
    /// where the model names it.
    async fn change_session(&self, session: SessionId, change: SessionChange) -> Result<Option<Session>>;
    /// Counts that a model is asked to name a session, and gives the first `limit` messages of people and of the model in it.
    /// `None` if it has a name, was tried `tries` times, or is gone. It is durable a moment later.
    async fn begin_naming(&self, session: SessionId, tries: u8, limit: usize)
    -> Result<Option<Vec<Message>>>;
    /// Notes that a topic has the title that Telegram made up for it, unless somebody is known to have chosen another since.
    /// It is durable a moment later.
    async fn learn_untitled(&self, topic: Conversation) -> Result<()>;
    /// Notes that somebody has chosen the title of a topic, or that the bot has given it one. It is durable a moment later.
    async fn title_topic(&self, topic: Conversation) -> Result<()>;
    /// Whether a topic is known to have the title that Telegram made up for it.
    async fn is_untitled(&self, topic: Conversation) -> Result<bool>;
}
