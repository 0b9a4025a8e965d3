//! Faults in answers of the offline model. Planned by a test in a `ModelReply`, carried out by `respond`.

/// Fault of a stream, and its position.
#[derive(Debug, Clone)]
pub(super) struct StreamFault {
    pub(super) after: FaultPosition,
    pub(super) kind: FaultKind,
}

/// Position in a stream, as a number of events sent before.
#[derive(Debug, Clone, Copy)]
pub(super) enum FaultPosition {
    /// Number of events of any kind.
    Events(usize),
    /// Number of events with text; the same in every dialect.
    Pieces(usize),
}

#[derive(Debug, Clone)]
pub(super) enum FaultKind {
    /// Resets the connection.
    Break,
    /// Sends nothing more, but keeps the connection open.
    Hang,
    /// Sends an error event of the service with this message.
    Error(String),
}

/// Response that no dialect defines.
#[derive(Debug, Clone)]
pub(super) enum Odd {
    /// Headers of a stream and these bytes.
    Raw(Vec<u8>),
    /// Web page with this HTML.
    Page(String),
    /// Headers of a stream, then nothing.
    Silence,
    /// Connection accepted, but no response headers.
    NoHeaders,
}

/// One-time fault of a request for vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VectorFault {
    /// Error response in the format of the dialect.
    Status {
        /// HTTP status code of the response.
        status: u16,
        /// Error message for the client.
        message: String,
        /// Delay before a retry, in seconds; `None` omits it.
        retry_after: Option<u64>,
    },
    /// No vector for the last text.
    OneMissing,
    /// One number fewer in the last vector than in the others.
    OneShorter,
    /// All zeros in the last vector.
    OneWithoutDirection,
    /// Status 200 with a web page instead of JSON.
    Page,
    /// Connection accepted, but no response.
    Silence,
}

impl VectorFault {
    /// Creates an error response without a retry delay.
    #[must_use]
    pub fn status(status: u16, message: &str) -> Self {
        Self::Status { status, message: message.to_owned(), retry_after: None }
    }
}
