//! The port for the names of conversations outside Telegram. The HTTP gateway and the terminal call it.

use std::fmt::Debug;

use async_trait::async_trait;

use super::error::StoreError;
use figaro_domain::conversation::Conversation;
use figaro_domain::external::ExternalName;

/// Conversations outside Telegram, by their names.
#[async_trait]
pub trait ExternalStore: Debug + Send + Sync {
    /// The conversation of this name; `None` if it was never kept, or was erased.
    async fn external(&self, name: &ExternalName) -> Result<Option<Conversation>, StoreError>;
    /// The conversation of this name. A new name gets a number that no other name has, had or will have, in one durable write.
    async fn keep_external(&self, name: &ExternalName) -> Result<Conversation, StoreError>;
    /// `true` if a conversation outside Telegram has a name. Without one nobody can ask for it any more.
    async fn is_named(&self, conversation: Conversation) -> Result<bool, StoreError>;
}
