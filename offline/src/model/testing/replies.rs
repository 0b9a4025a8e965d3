//! Replies with faults, or delayed by a test.

use super::super::fault::{FaultKind, FaultPosition, Odd, StreamFault};
use super::super::reply::{ModelReply, ReplyKind};
use crate::gate::Gate;

impl ModelReply {
    /// Creates a reply with status 200 and a web page, as from a proxy or a wrong base URL.
    #[must_use]
    pub fn page(html: &str) -> Self {
        Self::of(ReplyKind::Odd(Odd::Page(html.to_owned())))
    }

    /// Creates a reply that streams these bytes, valid or not.
    #[must_use]
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::of(ReplyKind::Odd(Odd::Raw(bytes.into())))
    }

    /// Creates a reply that sends the headers of a stream, then nothing.
    #[must_use]
    pub fn silence() -> Self {
        Self::of(ReplyKind::Odd(Odd::Silence))
    }

    /// Creates a reply that never sends response headers.
    #[must_use]
    pub fn no_headers() -> Self {
        Self::of(ReplyKind::Odd(Odd::NoHeaders))
    }

    /// Breaks the connection after `events` events of the dialect.
    #[must_use]
    pub fn cut_after(self, events: usize) -> Self {
        self.fault(FaultPosition::Events(events), FaultKind::Break)
    }

    /// Breaks the connection after `pieces` pieces of text.
    #[must_use]
    pub fn break_after(self, pieces: usize) -> Self {
        self.fault(FaultPosition::Pieces(pieces), FaultKind::Break)
    }

    /// Stops sending after `pieces` pieces of text, but keeps the connection open.
    #[must_use]
    pub fn hang_after(self, pieces: usize) -> Self {
        self.fault(FaultPosition::Pieces(pieces), FaultKind::Hang)
    }

    /// Sends an error event of the service after `pieces` pieces of text, and ends the stream.
    #[must_use]
    pub fn fail_after(self, pieces: usize, message: &str) -> Self {
        self.fault(FaultPosition::Pieces(pieces), FaultKind::Error(message.to_owned()))
    }

    fn fault(self, after: FaultPosition, kind: FaultKind) -> Self {
        Self { fault: Some(StreamFault { after, kind }), ..self }
    }

    /// Delays the reply until the gate is open. The request is recorded before.
    #[must_use]
    pub fn behind(self, gate: &Gate) -> Self {
        Self { gate: Some(gate.clone()), ..self }
    }
}
