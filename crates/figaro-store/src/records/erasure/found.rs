//! What was found of what is to be erased.

use super::to_erase::ToErase;
use figaro_base::ids::SessionId;
use figaro_domain::conversation::Message;

/// What is to be erased, as it was when it was looked for.
#[derive(Debug)]
pub(crate) struct Found {
    /// The messages and sessions.
    pub(super) to_erase: ToErase,
    /// What is left of messages that had a trace of it.
    pub(super) traces: Vec<Message>,
    /// The sessions of the chat.
    pub(super) sessions: Vec<SessionId>,
}
