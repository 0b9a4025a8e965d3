//! Errors of the store, by what a caller can do about them.

/// Error of a store operation.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has the store at this place open.
    #[error(
        "the store {0} is in use by another process: a bot runs with this folder. Stop it first, a service with `systemctl stop figaro` or `systemctl --user stop figaro`"
    )]
    InUse(String),
    /// The files are not a store, or are damaged.
    #[error(
        "the store {place} cannot be read ({reason}): move it away or restore a backup; nothing was changed"
    )]
    Unreadable {
        /// Path of the store's folder.
        place: String,
        /// Error message of the engine.
        reason: String,
    },
    /// The store lost commits that were durable: damage has set it back.
    #[error(
        "the store {place} has lost something: {loss}; restore a backup, or run `figaro store check {place} --accept-loss` to \
         go on without it"
    )]
    Lost {
        /// URL of the store.
        place: String,
        /// Description of the lost commits.
        loss: String,
    },
    /// A copy or import into the store at this place has not ended.
    #[error(
        "the store {0} is not whole yet: run the same `figaro store copy` or `figaro import` again, or remove it"
    )]
    Unfinished(String),
    /// Another version of Figaro wrote the store.
    #[error(
        "the store {place} has format {found}, and this Figaro reads format {known} only: use the Figaro that made it, or \
         another STORE_URL; nothing was changed"
    )]
    OtherFormat {
        /// Path of the store's folder.
        place: String,
        /// Format of the store.
        found: u32,
        /// Format that this build reads.
        known: u32,
    },
    /// A record cannot be read; it was set aside, not replaced.
    #[error("a stored record cannot be read and was set aside: {what}")]
    Record {
        /// Table and key of the record.
        what: String,
    },
    /// The disk or the system refused; a retry later may help.
    #[error("the store could not {operation}: {reason}")]
    Failed {
        /// Failed operation, such as `read the notes`.
        operation: &'static str,
        /// Place of the store, and the error of the system.
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
