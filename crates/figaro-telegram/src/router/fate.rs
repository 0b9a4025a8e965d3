//! What becomes of an update.

use figaro_domain::reception::Reception;

/// What became of an update.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is dealt with.
    Settled,
    /// What answers it settles it.
    Pending,
    /// It is a question that waits for its turn, which settles it.
    Asked,
    /// It is not taken, for this reason, and its writer is told so: what tells them settles it.
    Refused(Reception),
    /// It is dealt with: it is kept beside the conversation, and not answered for this reason.
    Kept(Reception),
    /// Nothing is to be done, for this reason.
    Dropped(&'static str),
}

/// Whether an update is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It comes from Telegram now: there may be no room for it.
    New,
    /// It was accepted before a restart, and is not refused any more.
    Accepted,
}
