//! What was found of what is to be erased.

use super::needles::Needles;
use super::to_erase::ToErase;
use super::tried::Tried;
use figaro_base::ids::SessionId;
use figaro_domain::conversation::Message;

/// What is to be erased, as it was when it was looked for.
#[derive(Debug)]
pub(crate) struct Found {
    /// The messages and sessions.
    pub(super) to_erase: ToErase,
    /// The texts that go.
    pub(super) texts: Needles,
    /// The same, and each of their sentences.
    pub(super) sentences: Needles,
    /// The same, and the ids of records that lose something.
    pub(super) parts: Needles,
    /// What calls that named no record may repeat.
    pub(super) tried: Tried,
    /// What is left of messages that had a trace of it.
    pub(super) traces: Vec<Trace>,
    /// The sessions of the chat.
    pub(super) sessions: Vec<SessionId>,
}

/// A message that stays and had a trace of what goes.
#[derive(Debug)]
pub(super) struct Trace {
    /// The message without it.
    pub(super) message: Message,
    /// Whether a tool has read what goes: the record of its call has it too.
    pub(super) has_read: bool,
}
