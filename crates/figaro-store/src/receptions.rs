//! What became of messages that came in.

use chrono::{DateTime, Utc};

use super::key;
use super::records::receptions;
use crate::{ReceptionStore, Result};
use figaro_base::ids::{ChatId, MessageId, UserId};
use figaro_domain::reception::Received;

impl ReceptionStore {
    /// Notes this about messages of a chat, beside what is known of them; the oldest ones of the chat go. It is durable a
    /// moment later.
    pub async fn note(&self, chat: ChatId, messages: &[MessageId], received: Received) -> Result<()> {
        self.0
            .change("note what became of a message", |tables, changes| {
                receptions::note(tables, changes, chat, messages, &received)
            })
            .await
    }

    /// What is known of a message.
    pub async fn find(&self, chat: ChatId, message: MessageId) -> Result<Option<Received>> {
        self.0
            .read("look up what became of a message", move |tables| {
                tables.received.find(&key::telegram(chat, message))
            })
            .await
    }

    /// The last message of a person in a chat before this one that was no command.
    pub async fn last(
        &self,
        chat: ChatId,
        user: &UserId,
        before: MessageId,
    ) -> Result<Option<(MessageId, Received)>> {
        self.0
            .read("look up what became of messages", |tables| receptions::last(tables, chat, user, before))
            .await
    }

    /// Forgets messages that came in before this time, a bounded number at a time. Returns how many went.
    pub async fn expire(&self, before: DateTime<Utc>) -> Result<usize> {
        self.0
            .change("forget what became of messages", move |tables, changes| {
                receptions::expire(tables, changes, before)
            })
            .await
    }
}
