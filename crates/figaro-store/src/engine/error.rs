//! Errors of engines.

use std::fmt::Display;

use figaro_base::system::plain;

/// Error of a storage engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// Another process has the store open.
    #[error("it is in use by another process")]
    InUse,
    /// The files are not a store of this engine, or are damaged. Nothing was changed.
    #[error("{0}")]
    Unreadable(String),
    /// Another commit was made since the view that a batch is based on.
    #[error("something else was written meanwhile")]
    Conflict,
    /// The storage failed, with the system's message.
    #[error("{0}")]
    Failed(String),
}

impl EngineError {
    /// Returns the error for a missing or damaged store, with this reason. The message of the engine or system only goes
    /// to the log: it does not help the user to repair the store.
    pub(crate) fn unreadable(reason: &str, said: &impl ToString) -> Self {
        tracing::debug!(said = said.to_string(), "the storage engine cannot read the store");
        Self::Unreadable(reason.to_owned())
    }

    /// Returns the error of a storage failure, with advice if the system's error allows it.
    pub(crate) fn failed(error: &impl Display) -> Self {
        Self::Failed(plain(error))
    }
}
