//! What can go wrong inside this backend, before it is told to the caller as a [`StoreError`].

use std::io;
use std::path::Path;

use sled::transaction::TransactionError;

use super::StoreError;

/// A failure that does not know yet which store and which operation it belongs to.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// sled failed.
    #[error(transparent)]
    Engine(#[from] sled::Error),
    /// The file system failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A value has no JSON.
    #[error(transparent)]
    Encode(#[from] serde_json::Error),
    /// A record cannot be read and stands in quarantine.
    #[error("{0} cannot be read")]
    Record(String),
}

impl Fault {
    /// The failure as the caller of the store is told.
    pub(super) fn into_error(self, path: &Path, operation: &'static str) -> StoreError {
        match self {
            Self::Record(what) => StoreError::Record { what },
            Self::Engine(error @ (sled::Error::Corruption { .. } | sled::Error::ReportableBug(_))) => {
                StoreError::Unreadable { path: path.to_owned(), reason: error.to_string() }
            }
            other => StoreError::Failed { operation, reason: other.to_string() },
        }
    }
}

impl From<TransactionError<sled::Error>> for Fault {
    fn from(error: TransactionError<sled::Error>) -> Self {
        let (TransactionError::Abort(error) | TransactionError::Storage(error)) = error;
        Self::Engine(error)
    }
}
