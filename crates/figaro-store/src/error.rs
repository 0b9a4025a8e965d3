//! What a caller of the store can do when a call fails.

/// Why the store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has it open. Where it is.
    #[error(
        "the store {0} is in use by another process: stop that one first, or give this one a STORE_URL of its own"
    )]
    InUse(String),
    /// The files are not a store, or were damaged.
    #[error(
        "the store {place} cannot be read ({reason}): move it away or restore a backup; nothing was changed"
    )]
    Unreadable {
        /// Where the store is.
        place: String,
        /// What the backend said.
        reason: String,
    },
    /// It has less than what was durable once: damage has set it back.
    #[error(
        "the store {place} has lost something: {loss}; restore a backup, or run `figaro store check {place} --accept-loss` to \
         go on without it"
    )]
    Lost {
        /// Its URL.
        place: String,
        /// What is missing.
        loss: String,
    },
    /// A copy or an import into it has not ended. Where the store is.
    #[error(
        "the store {0} is not whole yet: run the same `figaro store copy` or `figaro import` again, or remove it"
    )]
    Unfinished(String),
    /// Another version of Figaro wrote it.
    #[error(
        "the store {place} has format {found}, and this Figaro reads format {known} only: use the Figaro that made it, or \
         another STORE_URL; nothing was changed"
    )]
    OtherFormat {
        /// Where the store is.
        place: String,
        /// The format it has.
        found: u32,
        /// The format this build reads.
        known: u32,
    },
    /// One record cannot be read; it was set aside, not replaced.
    #[error("a stored record cannot be read and was set aside: {what}")]
    Record {
        /// The record that is meant.
        what: String,
    },
    /// The disk or the system refused; trying again later may help.
    #[error("the store could not {operation}: {reason}")]
    Failed {
        /// What was to be done.
        operation: &'static str,
        /// Where, and what the system said.
        reason: String,
    },
}

impl StoreError {
    /// A short stable name for metrics and logs.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::InUse(_) => "in_use",
            Self::Unreadable { .. } => "unreadable",
            Self::Lost { .. } => "lost",
            Self::Unfinished(_) => "unfinished",
            Self::OtherFormat { .. } => "other_format",
            Self::Record { .. } => "record",
            Self::Failed { .. } => "failed",
        }
    }
}
