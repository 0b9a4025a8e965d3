//! The port for pins.

use std::fmt::Debug;

use async_trait::async_trait;

use super::error::StoreError;
use crate::domain::pin::Pin;
use crate::ids::ChatId;

type Result<T> = std::result::Result<T, StoreError>;

/// The pins of chats.
#[async_trait]
pub trait PinStore: Debug + Send + Sync {
    /// All pins of a chat, oldest first.
    async fn pins(&self, chat: ChatId) -> Result<Vec<Pin>>;
}
