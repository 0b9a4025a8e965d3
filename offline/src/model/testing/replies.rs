//! Replies that go wrong, or wait for a test.

use super::super::fault::{FaultKind, FaultPosition, Odd, StreamFault};
use super::super::reply::{ModelReply, ReplyKind};
use crate::gate::Gate;

impl ModelReply {
    /// Success, and a web page: what a proxy or a base URL that is wrong gives.
    #[must_use]
    pub fn page(html: &str) -> Self {
        Self::of(ReplyKind::Odd(Odd::Page(html.to_owned())))
    }

    /// These bytes as the stream, whatever they are.
    #[must_use]
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::of(ReplyKind::Odd(Odd::Raw(bytes.into())))
    }

    /// The headers of a stream, then nothing.
    #[must_use]
    pub fn silence() -> Self {
        Self::of(ReplyKind::Odd(Odd::Silence))
    }

    /// The connection is taken, and no headers of an answer come.
    #[must_use]
    pub fn no_headers() -> Self {
        Self::of(ReplyKind::Odd(Odd::NoHeaders))
    }

    /// The connection breaks after so many events, whatever they are in the dialect.
    #[must_use]
    pub fn cut_after(self, events: usize) -> Self {
        self.fault(FaultPosition::Events(events), FaultKind::Break)
    }

    /// The connection breaks after so many pieces of text.
    #[must_use]
    pub fn break_after(self, pieces: usize) -> Self {
        self.fault(FaultPosition::Pieces(pieces), FaultKind::Break)
    }

    /// Nothing more comes after so many pieces of text, and the connection stays open.
    #[must_use]
    pub fn hang_after(self, pieces: usize) -> Self {
        self.fault(FaultPosition::Pieces(pieces), FaultKind::Hang)
    }

    /// After so many pieces of text the service tells of an error of its own within the stream, and ends it.
    #[must_use]
    pub fn fail_after(self, pieces: usize, message: &str) -> Self {
        self.fault(FaultPosition::Pieces(pieces), FaultKind::Error(message.to_owned()))
    }

    fn fault(self, after: FaultPosition, kind: FaultKind) -> Self {
        Self { fault: Some(StreamFault { after, kind }), ..self }
    }

    /// Only once the gate is open; the request counts as received before.
    #[must_use]
    pub fn behind(self, gate: &Gate) -> Self {
        Self { gate: Some(gate.clone()), ..self }
    }
}
