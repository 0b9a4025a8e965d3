//! The store of personas that chats write for themselves.

use std::fmt::Debug;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::error::StoreError;
use figaro_base::ids::{ChatId, MessageId, PersonaId};
use figaro_domain::persona::{OwnPersona, PersonaQuestion};

type Result<T> = std::result::Result<T, StoreError>;

/// What became of a persona that was to be stored.
#[derive(Debug, Clone, PartialEq)]
pub enum PersonaSaved {
    /// It was stored as a new persona, and its chat has chosen it; also if that had been done before.
    New(OwnPersona),
    /// It was stored in place of the one with its id.
    Changed(OwnPersona),
    /// The chat has another persona of this name; nothing was stored.
    NameTaken,
    /// The chat has as many personas as it may; nothing was stored.
    Full,
    /// The persona that was to be changed is gone; nothing was stored.
    Gone,
}

/// A persona that is to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonaToSave {
    /// The persona as it is to be.
    pub persona: OwnPersona,
    /// The message that asked for its words, if one did.
    pub question: Option<MessageId>,
    /// Whether it takes the place of the one with its id.
    pub changes: bool,
}

/// The personas that chats write for themselves.
#[async_trait]
pub trait PersonaStore: Debug + Send + Sync {
    /// A chat's own personas, oldest first.
    async fn personas(&self, chat: ChatId) -> Result<Vec<OwnPersona>>;
    /// One of a chat's own personas; `None` if it has none with this id.
    async fn persona(&self, chat: ChatId, persona: PersonaId) -> Result<Option<OwnPersona>>;
    /// Stores a persona in one durable write: a new one, which its chat then has chosen and which its question is about from
    /// now on; or one in place of another, of which the id, the author and the time stay. What a chat has chosen follows a
    /// new name. One that is there already with the same name, words and settings is not stored again.
    async fn save_persona(&self, save: PersonaToSave) -> Result<PersonaSaved>;
    /// Removes a persona, durably, and returns it; `None` if the chat has none with this id. A chat that had chosen it has
    /// chosen none then.
    async fn remove_persona(&self, chat: ChatId, persona: PersonaId) -> Result<Option<OwnPersona>>;
    /// Remembers, durably, that a message asks for the words of a persona. Questions of the chat from before `since` are
    /// forgotten.
    async fn ask_persona(
        &self,
        chat: ChatId,
        message: MessageId,
        question: &PersonaQuestion,
        since: DateTime<Utc>,
    ) -> Result<()>;
    /// What a message asks about a persona; `None` for any other message.
    async fn persona_question(&self, chat: ChatId, message: MessageId) -> Result<Option<PersonaQuestion>>;
}
