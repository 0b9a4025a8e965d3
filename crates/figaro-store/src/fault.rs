//! Errors inside the store, before they become a [`StoreError`].

use super::StoreError;
use crate::engine::EngineError;

/// A failure that does not know yet its store and operation.
#[derive(Debug, thiserror::Error)]
pub(super) enum StoreFault {
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A value cannot be encoded as JSON.
    #[error(transparent)]
    Encode(#[from] serde_json::Error),
    /// A record cannot be read and is in quarantine.
    #[error("{0} cannot be read")]
    Record(String),
    /// A copy or import into the store has not ended.
    #[error("it is not whole yet")]
    Unfinished,
    /// All numbers for conversations outside Telegram are used.
    #[error("no number is left for another conversation")]
    NoNumber,
    /// The work panicked with this message.
    #[error("{0}")]
    Panic(String),
}

impl StoreFault {
    /// Converts the fault into the error for the caller of the store.
    pub(super) fn into_error(self, place: &str, operation: &'static str) -> StoreError {
        match self {
            Self::Record(what) => StoreError::Record { what },
            Self::Unfinished => StoreError::Unfinished(place.to_owned()),
            Self::Engine(EngineError::InUse) => StoreError::InUse(place.to_owned()),
            Self::Engine(EngineError::Unreadable(reason)) => {
                StoreError::Unreadable { place: place.to_owned(), reason }
            }
            other => StoreError::Failed { operation, reason: format!("{place}: {other}") },
        }
    }
}
