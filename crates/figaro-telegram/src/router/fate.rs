//! Outcomes of updates.

use figaro_domain::reception::Reception;

/// Outcome of an update after the router has handled it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UpdateFate {
    Settled,
    /// The task that answers the update settles it.
    Pending,
    /// The update is a question; its turn settles it.
    Asked,
    /// The message is refused for this reason; the notice to its author settles it.
    Refused(Reception),
    /// The message is stored as background and not answered, for this reason.
    Kept(Reception),
    /// The update is dropped, for this reason.
    Dropped(&'static str),
}

/// Arrival of an update: new, or left from before a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The update is new, and may be refused if the queue is full.
    New,
    /// The update was accepted before a restart, and is not refused.
    Accepted,
}
