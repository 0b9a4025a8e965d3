//! The port for pins.

use std::fmt::Debug;

use async_trait::async_trait;

use super::error::StoreError;
use figaro_base::ids::{ChatId, MessageId, PinId};
use figaro_domain::conversation::{Conversation, Message};
use figaro_domain::pin::Pin;

type Result<T> = std::result::Result<T, StoreError>;

/// What became of a pin that was to be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinAdded {
    /// It was stored.
    New,
    /// The chat has one with the same words, which stays; nothing was stored. Its id.
    Already(PinId),
    /// The chat has as many pins as it may; nothing was stored.
    Full,
}

/// The pins of chats. What a full chat takes in is decided by [`figaro_domain::pinning`].
#[async_trait]
pub trait PinStore: Debug + Send + Sync {
    /// All pins of a chat, oldest first.
    async fn pins(&self, chat: ChatId) -> Result<Vec<Pin>>;
    /// Adds a pin to its chat, durably.
    async fn add_pin(&self, pin: &Pin) -> Result<PinAdded>;
    /// Removes a pin, durably, and gives it; `None` if the chat has none with this id, or if Figaro itself keeps it.
    async fn remove_pin(&self, chat: ChatId, pin: PinId) -> Result<Option<Pin>>;
    /// Puts a removed pin back as it was, durably, whatever has been added since.
    async fn restore_pin(&self, pin: &Pin) -> Result<()>;
    /// Makes a pin more or less important, from 0 to 10, durably, and gives it; `None` as for [`Self::remove_pin`].
    async fn weigh_pin(&self, chat: ChatId, pin: PinId, importance: f32) -> Result<Option<Pin>>;
    /// Has the pins of an edited message say what it says now, durably; those that were pinned for what it says no more go.
    async fn follow_edit(&self, chat: ChatId, message: MessageId, words: &str) -> Result<()>;
    /// Keeps a pin of Figaro's own, durably, in place of the one that it replaces.
    async fn keep_pin(&self, pin: &Pin) -> Result<()>;
    /// The stored message that a Telegram message of a conversation carries, or a part of it: the newest such one, looked for
    /// among the last few thousand of its sessions. `None` where there is none or a later try has replaced it.
    async fn carried_by(&self, conversation: Conversation, message: MessageId) -> Result<Option<Message>>;
}
