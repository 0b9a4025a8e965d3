//! What an engine says when it cannot do what it was asked.

use std::fmt::Display;

use figaro_base::system::plain;

/// Why an engine failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// Another process has it open.
    #[error("it is in use by another process")]
    InUse,
    /// What is there is no store of this engine, or a damaged one. Nothing was changed.
    #[error("{0}")]
    Unreadable(String),
    /// Something else was committed since the view that a batch is based on.
    #[error("something else was written meanwhile")]
    Conflict,
    /// The storage failed; what happened, in the system's words.
    #[error("{0}")]
    Failed(String),
}

impl EngineError {
    /// There is no store, or a damaged one, for this reason. What the engine or the system says of it goes into the log alone: its
    /// words help nobody who has to put it right.
    pub(crate) fn unreadable(reason: &str, said: &impl ToString) -> Self {
        tracing::debug!(said = said.to_string(), "the storage engine cannot read the store");
        Self::Unreadable(reason.to_owned())
    }

    /// A failure of the storage, in words that say what to do where the system's do.
    pub(crate) fn failed(error: &impl Display) -> Self {
        Self::Failed(plain(error))
    }
}
