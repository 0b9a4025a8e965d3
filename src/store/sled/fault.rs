//! What can go wrong inside this backend, before it is told to the caller as a [`StoreError`].

use std::io;
use std::path::Path;

use sled::transaction::TransactionError;

use super::StoreError;

/// A failure that does not know yet which store and which operation it belongs to.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// The engine, sled, failed.
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
            other => StoreError::Failed { operation, reason: other.reason() },
        }
    }
}

impl Fault {
    /// What happened, in words for people. Of an error that it has copied, sled keeps the kind and a debug form.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Engine(sled::Error::Io(error)) if error.kind() != io::ErrorKind::Other => {
                error.kind().to_string()
            }
            other => other.to_string(),
        }
    }

    /// Whether sled writes nothing from now on: after one failed write it refuses all others.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::Engine(sled::Error::Io(_)))
    }
}

impl From<TransactionError<sled::Error>> for Fault {
    fn from(error: TransactionError<sled::Error>) -> Self {
        let (TransactionError::Abort(error) | TransactionError::Storage(error)) = error;
        Self::Engine(error)
    }
}
