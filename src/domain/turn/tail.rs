//! The end of a session, where messages are appended.

use super::changes::{Change, ChangeSet};
use crate::domain::conversation::{Message, Session};
use crate::ids::SessionId;

/// Where the next message of a session goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTail {
    /// The session.
    pub session: SessionId,
    /// Its record. `None` if that cannot be read: the messages are kept all the same.
    pub record: Option<Session>,
    /// The index of the next message.
    pub next_index: u32,
}

impl SessionTail {
    /// The end of a session that has no messages yet.
    #[must_use]
    pub const fn empty(session: Session) -> Self {
        Self { session: session.id, record: Some(session), next_index: 0 }
    }

    /// Appends messages in this order. Sets their session and index, also in the slice.
    pub fn append(self, messages: &mut [Message]) -> ChangeSet {
        let mut changes = ChangeSet::default();
        for (message, index) in messages.iter_mut().zip(self.next_index..) {
            (message.session, message.index) = (self.session, index);
            changes.add_message(message.clone());
        }
        let written_at = messages.iter().map(|message| message.created_at).max();
        if let (Some(record), Some(written_at)) = (self.record, written_at) {
            let updated_at = record.updated_at.max(written_at);
            changes.add(Change::PutSession(Session { updated_at, ..record }));
        }
        changes
    }
}
