//! End of a session, where messages are appended.

use crate::conversation::Session;
use figaro_base::ids::SessionId;

/// Position of the next message of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTail {
    /// Session of the message.
    pub session: SessionId,
    /// Record of the session; `None` if it cannot be read. Messages are stored anyway.
    pub record: Option<Session>,
    /// Index of the next message.
    pub next_index: u32,
}

impl SessionTail {
    /// Returns the end of a session without messages.
    #[must_use]
    pub(crate) const fn empty(session: Session) -> Self {
        Self { session: session.id, record: Some(session), next_index: 0 }
    }
}
