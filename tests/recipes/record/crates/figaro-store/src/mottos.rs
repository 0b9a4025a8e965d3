//! Mottos of chats.

use super::key;
use crate::{MottoStore, Result};
use figaro_base::ids::ChatId;
use figaro_domain::motto::Motto;

impl MottoStore {
    /// Stores the motto of a turn, durably.
    pub async fn put(&self, motto: Motto) -> Result<()> {
        self.0
            .change_durably("store a motto", move |tables, changes| {
                changes.put(&tables.mottos, key::motto(motto.chat, motto.turn), &motto)
            })
            .await
    }

    /// Returns the mottos of a chat, oldest first.
    pub fn of_chat(&self, chat: ChatId) -> Result<Vec<Motto>> {
        self.0.read("read the mottos", move |tables| tables.mottos.list(&key::chat(chat)))
    }
}
