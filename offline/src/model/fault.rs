//! How an answer of the offline model goes wrong. Planned by a test in a `ModelReply`, carried out by `respond`.

/// What happens to a stream, and where.
#[derive(Debug, Clone)]
pub(super) struct StreamFault {
    pub(super) after: FaultPosition,
    pub(super) kind: FaultKind,
}

/// So far into a stream.
#[derive(Debug, Clone, Copy)]
pub(super) enum FaultPosition {
    /// Events of any kind.
    Events(usize),
    /// Events that carry text, of which every dialect has the same number.
    Pieces(usize),
}

#[derive(Debug, Clone)]
pub(super) enum FaultKind {
    /// The connection is reset.
    Break,
    /// Nothing more comes, and the connection stays open.
    Hang,
    /// An error of the service with this message, in the stream.
    Error(String),
}

/// A body that no dialect has.
#[derive(Debug, Clone)]
pub(super) enum Odd {
    /// These bytes, with the headers of a stream.
    Raw(Vec<u8>),
    /// A web page with this HTML.
    Page(String),
    /// The headers of a stream, and no body.
    Silence,
    /// The connection is taken, and no headers of an answer come.
    NoHeaders,
}

/// How a request for vectors goes wrong, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VectorFault {
    /// An error answer in the dialect's own shape.
    Status {
        /// The HTTP status.
        status: u16,
        /// What it says.
        message: String,
        /// The seconds after which to come again.
        retry_after: Option<u64>,
    },
    /// The last text gets no vector.
    OneMissing,
    /// The last vector has a number less than the others.
    OneShorter,
    /// The last vector is all zeros.
    OneWithoutDirection,
    /// Success, and a web page.
    Page,
    /// The connection is taken, and nothing comes.
    Silence,
}

impl VectorFault {
    /// An error answer that says no time to come again.
    #[must_use]
    pub fn status(status: u16, message: &str) -> Self {
        Self::Status { status, message: message.to_owned(), retry_after: None }
    }
}
