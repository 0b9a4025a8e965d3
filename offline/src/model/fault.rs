//! How an answer of the offline model goes wrong. Planned by a test in a `Reply`, carried out by `respond`.

/// What happens to a stream, and where.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) after: Place,
    pub(super) kind: FaultKind,
}

/// So far into a stream.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
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
