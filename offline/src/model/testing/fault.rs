//! How an answer of the offline model goes wrong.

/// What happens to a stream, and where.
#[derive(Debug, Clone)]
pub(in super::super) struct Fault {
    pub(in super::super) after: Place,
    pub(in super::super) kind: FaultKind,
}

/// So far into a stream.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Place {
    Events(usize),
    /// Events that carry text, of which every dialect has the same number.
    Pieces(usize),
}

#[derive(Debug, Clone)]
pub(in super::super) enum FaultKind {
    Break,
    Hang,
    Error(String),
}

/// A body that no dialect has.
#[derive(Debug, Clone)]
pub(in super::super) enum Odd {
    Raw(Vec<u8>),
    Page(String),
    Silence,
    NoHeaders,
}
