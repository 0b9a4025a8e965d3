//! [`ExternalStore`]: names of conversations outside Telegram.

use super::key;
use super::records::external;
use crate::{ExternalStore, Result};
use figaro_domain::conversation::ConversationId;
use figaro_domain::external::ExternalName;

impl ExternalStore {
    /// Returns the conversation with this name; `None` if it was never stored, or was erased.
    pub fn find(&self, name: &ExternalName) -> Result<Option<ConversationId>> {
        let key = key::id(name);
        self.0.read("look up a conversation", move |tables| tables.external.get(&key))
    }

    /// Returns the conversation with this name. A new name gets a number that is never used for another name, in one
    /// durable write.
    pub async fn keep(&self, name: &ExternalName) -> Result<ConversationId> {
        // Only the first question of a conversation waits for a write.
        if let Some(known) = self.find(name)? {
            return Ok(known);
        }
        let name = name.clone();
        self.0
            .change_durably("keep the name of a conversation", move |tables, changes| {
                external::keep(tables, changes, &name)
            })
            .await
    }

    /// Returns `true` if a conversation outside Telegram has a name. Without one it can no longer be addressed.
    pub fn is_named(&self, conversation: ConversationId) -> Result<bool> {
        let key = key::conversation(conversation);
        self.0.read("look up a conversation", move |tables| tables.external_names.contains(&key))
    }
}
