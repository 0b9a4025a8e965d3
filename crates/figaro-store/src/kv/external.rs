//! [`ExternalStore`]: names of conversations outside Telegram.

use async_trait::async_trait;

use super::records::external;
use super::{KvStore, key};
use crate::{ExternalStore, Result};
use figaro_domain::conversation::Conversation;
use figaro_domain::external::ExternalName;

#[async_trait]
impl ExternalStore for KvStore {
    async fn external(&self, name: &ExternalName) -> Result<Option<Conversation>> {
        let key = key::id(name);
        self.read("look up a conversation", move |tables| tables.external.get(&key)).await
    }

    async fn keep_external(&self, name: &ExternalName) -> Result<Conversation> {
        // Only the first question of a conversation waits for a write.
        if let Some(known) = self.external(name).await? {
            return Ok(known);
        }
        let name = name.clone();
        self.change_durably("keep the name of a conversation", move |tables, changes| {
            external::keep(tables, changes, &name)
        })
        .await
    }

    async fn is_named(&self, conversation: Conversation) -> Result<bool> {
        let key = key::conversation(conversation);
        self.read("look up a conversation", move |tables| tables.external_names.contains(&key)).await
    }
}
