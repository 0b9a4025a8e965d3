//! What can go wrong inside the store, before it is told to the caller as a [`StoreError`].

use super::StoreError;
use crate::engine::EngineError;

/// A failure that does not know yet which store and which operation it belongs to.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A value has no JSON.
    #[error(transparent)]
    Encode(#[from] serde_json::Error),
    /// A record cannot be read and stands in quarantine.
    #[error("{0} cannot be read")]
    Record(String),
    /// A copy or an import into the store has not ended.
    #[error("it is not whole yet")]
    Unfinished,
    /// Every number for a conversation outside Telegram was given.
    #[error("no number is left for another conversation")]
    NoNumber,
    /// The work ended in a panic, which says this.
    #[error("{0}")]
    Panic(String),
}

impl Fault {
    /// The failure as the caller of the store at this place is told.
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
