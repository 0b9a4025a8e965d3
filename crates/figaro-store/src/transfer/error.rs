//! Why a store could not be moved.

use std::io;

use crate::StoreError;
use crate::engine::EngineError;
use crate::fault::Fault;
use figaro_base::system::in_words;
use figaro_config::StoreUrl;

/// Why a store was not copied, exported or imported. What was done so far stays, to be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// One of the stores cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file that is written or read failed; what the system said.
    #[error("it cannot be written or read: {}", in_words(.0))]
    File(#[from] io::Error),
    /// A file or a store is not what it must be; what it is, and what to do.
    #[error("{0}")]
    Refused(String),
}

/// The words for what an engine answers about the store at this place, of which something was to be done.
pub(super) fn of(url: &StoreUrl, operation: &'static str) -> impl Fn(EngineError) -> TransferError + use<> {
    let place = url.to_string();
    move |error| Fault::from(error).into_error(&place, operation).into()
}
