//! The port for what people have Figaro forget.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio::sync::Notify;

use super::error::StoreError;
use figaro_base::ids::{ChatId, MessageId, UserId};
use figaro_domain::erasure::{Erasure, Forgotten, Said, SaidAt};

type Result<T> = std::result::Result<T, StoreError>;

/// What words are looked for, and in which messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidSearch {
    /// The chat, with all its topics.
    pub chat: ChatId,
    /// What stands in a message, in any case and order: each word, or a part of one.
    pub words: String,
    /// Only what is this person's to forget; `None` for everybody's.
    pub of: Option<UserId>,
    /// The newest so many are given.
    pub limit: usize,
}

/// Erases what people want forgotten. What is erased is found by no later read. Its bytes are in the files of the store until
/// these are rewritten; that this is to be done is stored in the same write.
#[async_trait]
pub trait ErasureStore: Debug + Send + Sync {
    /// The message that Telegram calls so, or one that is a part of it; `None` if it is not kept.
    async fn said(&self, chat: ChatId, message: MessageId) -> Result<Option<Said>>;
    /// The message that is kept there; `None` if there is none, or it is of another chat.
    async fn said_at(&self, chat: ChatId, at: SaidAt) -> Result<Option<Said>>;
    /// The messages with some words, the newest first.
    async fn said_with(&self, search: &SaidSearch) -> Result<Vec<Said>>;
    /// Erases, in one durable write. What is not there any more is passed over.
    async fn erase(&self, what: &Erasure, now: DateTime<Utc>) -> Result<Forgotten>;
    /// Since when something is erased and still in the files of the store; `None` if nothing is.
    async fn rewrite_due(&self) -> Result<Option<DateTime<Utc>>>;
    /// Rewrites the files of the store with only what is in it. Others read and write meanwhile. It begins `now`: what is
    /// erased while it runs stays due since then.
    async fn rewrite(&self, now: DateTime<Utc>) -> Result<()>;
    /// Wakes whoever waits for something to be erased.
    fn erasure_news(&self) -> Arc<Notify>;
}
