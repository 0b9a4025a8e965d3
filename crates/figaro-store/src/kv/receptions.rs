//! [`ReceptionStore`].

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::records::receptions;
use super::{KvStore, key};
use crate::{ReceptionStore, Result};
use figaro_base::ids::{ChatId, MessageId, UserId};
use figaro_domain::reception::Received;

#[async_trait]
impl ReceptionStore for KvStore {
    async fn note_received(&self, chat: ChatId, messages: &[MessageId], received: Received) -> Result<()> {
        self.change("note what became of a message", |tables, changes| {
            receptions::note(tables, changes, chat, messages, &received)
        })
        .await
    }

    async fn received(&self, chat: ChatId, message: MessageId) -> Result<Option<Received>> {
        self.read("look up what became of a message", move |tables| {
            tables.received.find(&key::telegram(chat, message))
        })
        .await
    }

    async fn last_received(
        &self,
        chat: ChatId,
        user: &UserId,
        before: MessageId,
    ) -> Result<Option<(MessageId, Received)>> {
        self.read("look up what became of messages", |tables| receptions::last(tables, chat, user, before))
            .await
    }

    async fn expire_received(&self, before: DateTime<Utc>) -> Result<usize> {
        self.change("forget what became of messages", move |tables, changes| {
            receptions::expire(tables, changes, before)
        })
        .await
    }
}
