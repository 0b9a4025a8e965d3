//! What becomes of an update.

/// What became of an update.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is dealt with.
    Settled,
    /// A turn or a task settles it.
    Pending,
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
