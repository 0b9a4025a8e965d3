//! The end of a session, where messages are appended.

use crate::conversation::Session;
use figaro_base::ids::SessionId;

/// Where the next message of a session goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTail {
    /// The session that the message is appended to.
    pub session: SessionId,
    /// Its record. `None` if that cannot be read: the messages are kept all the same.
    pub record: Option<Session>,
    /// The index of the next message.
    pub next_index: u32,
}

impl SessionTail {
    /// The end of a session that has no messages yet.
    #[must_use]
    pub(crate) const fn empty(session: Session) -> Self {
        Self { session: session.id, record: Some(session), next_index: 0 }
    }
}
