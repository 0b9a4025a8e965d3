//! Result of searching for the data to erase.

use super::to_erase::ToErase;
use figaro_base::ids::SessionId;
use figaro_domain::conversation::Message;

/// Data to erase, as found by the search.
#[derive(Debug)]
pub(crate) struct ErasureMatches {
    pub(super) to_erase: ToErase,
    /// Rest of messages that contained traces of it.
    pub(super) traces: Vec<Message>,
    /// All sessions of the chat at that time.
    pub(super) sessions: Vec<SessionId>,
}
