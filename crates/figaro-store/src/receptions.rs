//! The port for what became of messages that came in.

use std::fmt::Debug;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::error::StoreError;
use figaro_base::ids::{ChatId, MessageId, UserId};
use figaro_domain::reception::Received;

type Result<T> = std::result::Result<T, StoreError>;

/// What became of messages that came in: of each chat the newest, for some days.
#[async_trait]
pub trait ReceptionStore: Debug + Send + Sync {
    /// Notes this about messages of a chat, beside what is known of them; the oldest ones of the chat go. It is durable a
    /// moment later.
    async fn note_received(&self, chat: ChatId, messages: &[MessageId], received: Received) -> Result<()>;
    /// What is known of a message.
    async fn received(&self, chat: ChatId, message: MessageId) -> Result<Option<Received>>;
    /// The last message of a person in a chat before this one that was no command.
    async fn last_received(
        &self,
        chat: ChatId,
        user: &UserId,
        before: MessageId,
    ) -> Result<Option<(MessageId, Received)>>;
    /// Forgets messages that came in before this time, a bounded number at a time. Returns how many went.
    async fn expire_received(&self, before: DateTime<Utc>) -> Result<usize>;
}
