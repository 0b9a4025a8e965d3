//! Outcomes of received messages.

use chrono::{DateTime, Utc};

use super::key;
use super::records::receptions;
use crate::{ReceptionStore, Result};
use figaro_base::ids::{ChatId, MessageId, UserId};
use figaro_domain::reception::ReceivedMessage;

impl ReceptionStore {
    /// Adds outcomes to messages of a chat; the oldest messages of the chat are deleted. Durable a moment later.
    pub fn note(&self, chat: ChatId, messages: &[MessageId], received: ReceivedMessage) -> Result<()> {
        self.0.change("note what became of a message", |tables, changes| {
            receptions::note(tables, changes, chat, messages, &received)
        })
    }

    /// Returns the recorded outcome of a message.
    pub fn find(&self, chat: ChatId, message: MessageId) -> Result<Option<ReceivedMessage>> {
        self.0.read("look up what became of a message", move |tables| {
            tables.received.find(&key::telegram(chat, message))
        })
    }

    /// Returns the last message of a person in a chat before this one that was not a command.
    pub fn last(
        &self,
        chat: ChatId,
        user: &UserId,
        before: MessageId,
    ) -> Result<Option<(MessageId, ReceivedMessage)>> {
        self.0.read("look up what became of messages", |tables| receptions::last(tables, chat, user, before))
    }

    /// Deletes messages received before this time, a bounded number at a time. Returns the number deleted.
    pub fn expire(&self, before: DateTime<Utc>) -> Result<usize> {
        self.0.change("forget what became of messages", move |tables, changes| {
            receptions::expire(tables, changes, before)
        })
    }
}
