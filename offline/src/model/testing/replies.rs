//! Replies that go wrong, or wait for a test.

use super::super::fault::{Fault, FaultKind, Odd, Place};
use super::super::reply::{Kind, Reply};
use crate::gate::Gate;

impl Reply {
    /// Success, and a web page: what a proxy or a base URL that is wrong gives.
    #[must_use]
    pub fn page(html: &str) -> Self {
        Self::of(Kind::Odd(Odd::Page(html.to_owned())))
    }

    /// These bytes as the stream, whatever they are.
    #[must_use]
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::of(Kind::Odd(Odd::Raw(bytes.into())))
    }

    /// The headers of a stream, then nothing.
    #[must_use]
    pub fn silence() -> Self {
        Self::of(Kind::Odd(Odd::Silence))
    }

    /// The connection is taken, and no headers of an answer come.
    #[must_use]
    pub fn no_headers() -> Self {
        Self::of(Kind::Odd(Odd::NoHeaders))
    }

    /// The connection breaks after so many events, whatever they are in the dialect.
    #[must_use]
    pub fn cut_after(self, events: usize) -> Self {
        self.fault(Place::Events(events), FaultKind::Break)
    }

    /// The connection breaks after so many pieces of text.
    #[must_use]
    pub fn break_after(self, pieces: usize) -> Self {
        self.fault(Place::Pieces(pieces), FaultKind::Break)
    }

    /// Nothing more comes after so many pieces of text, and the connection stays open.
    #[must_use]
    pub fn hang_after(self, pieces: usize) -> Self {
        self.fault(Place::Pieces(pieces), FaultKind::Hang)
    }

    /// After so many pieces of text the service tells of an error of its own within the stream, and ends it.
    #[must_use]
    pub fn fail_after(self, pieces: usize, message: &str) -> Self {
        self.fault(Place::Pieces(pieces), FaultKind::Error(message.to_owned()))
    }

    fn fault(self, after: Place, kind: FaultKind) -> Self {
        Self { fault: Some(Fault { after, kind }), ..self }
    }

    /// Only once the gate is open; the request counts as received before.
    #[must_use]
    pub fn behind(self, gate: &Gate) -> Self {
        Self { gate: Some(gate.clone()), ..self }
    }
}
