//! The port for what people sent beside words: whoever builds a prompt fetches it, Telegram has it.

use std::fmt::Debug;

use async_trait::async_trait;

/// Why a file is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// It has more bytes than were asked for.
    #[error("it is too big")]
    TooBig,
    /// It is gone, or was never one.
    #[error("it is gone ({0})")]
    Gone(String),
    /// It cannot be had now.
    #[error("it cannot be fetched now ({0})")]
    Unavailable(String),
}

/// Fetches what people sent.
#[async_trait]
pub trait Files: Debug + Send + Sync {
    /// The content of a file, by the handle its message came with, if it has at most so many bytes.
    async fn fetch(&self, file_id: &str, most: usize) -> Result<Vec<u8>, FileError>;
}
