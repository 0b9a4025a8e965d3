//! Errors of moving a store.

use std::io;

use crate::StoreError;
use crate::engine::EngineError;
use crate::fault::StoreFault;
use figaro_base::system::in_words;
use figaro_config::StoreUrl;

/// Error of copying, exporting or importing a store. The work done so far stays, and can be continued.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// One of the stores cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Writing or reading the file failed, with the system's error.
    #[error("it cannot be written or read: {}", in_words(.0))]
    File(#[from] io::Error),
    /// A file or store is not what it must be; the text says what it is, and what to do.
    #[error("{0}")]
    Refused(String),
}

/// Returns a converter of engine errors about the store at this place, for this operation.
pub(super) fn of(url: &StoreUrl, operation: &'static str) -> impl Fn(EngineError) -> TransferError + use<> {
    let place = url.to_string();
    move |error| StoreFault::from(error).into_error(&place, operation).into()
}
