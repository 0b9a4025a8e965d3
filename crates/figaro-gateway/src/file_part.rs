//! Files of a question, as its parts name them. Used by the dialects.

/// File of a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FilePart {
    /// Its content, sent along.
    Content { name: String, bytes: Vec<u8> },
    /// Id of a stored file.
    Id(String),
}
