//! What a brain can answer: parts of a turn at some pace, an error, or a fault of the connection.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;

use super::request::ModelRequest;

/// Decides what the offline model answers. Closures are brains too.
pub trait Brain: Send + Sync {
    /// The answer to a request that passed the checks.
    fn answer(&self, request: &ModelRequest) -> Reply;
}

impl<F: Fn(&ModelRequest) -> Reply + Send + Sync> Brain for F {
    fn answer(&self, request: &ModelRequest) -> Reply {
        self(request)
    }
}

/// A part of a model's turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Something said.
    Text(String),
    /// A tool called.
    Call {
        /// The tool's name.
        name: String,
        /// Its arguments, usually an object; a string is sent as it is, to test bad JSON.
        arguments: Value,
    },
}

/// One answer of the model.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) kind: Kind,
    pub(super) chunk_chars: usize,
    pub(super) delay: Duration,
    pub(super) gate: Option<Gate>,
    pub(super) cut_after: Option<usize>,
    pub(super) usage: Option<(u64, u64)>,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Turn(Vec<Part>),
    Status { status: u16, body: Value, retry_after: Option<u64> },
    Raw(Vec<u8>),
    Silence,
    NoHeaders,
}

impl Reply {
    fn of(kind: Kind) -> Self {
        Self { kind, chunk_chars: 12, delay: Duration::ZERO, gate: None, cut_after: None, usage: None }
    }

    /// A text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::turn(vec![Part::Text(text.to_owned())])
    }

    /// A call of one tool.
    #[must_use]
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::turn(vec![Part::Call { name: name.to_owned(), arguments }])
    }

    /// Several parts in order: texts, calls, or both.
    #[must_use]
    pub fn turn(parts: Vec<Part>) -> Self {
        Self::of(Kind::Turn(parts))
    }

    /// A complete answer that says nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self::turn(Vec::new())
    }

    /// An error answer in OpenAI's shape.
    #[must_use]
    pub fn status(status: u16, message: &str) -> Self {
        let kind = if status == 429 { "rate_limit_error" } else { "server_error" };
        Self::status_body(
            status,
            json!({"error": {"message": message, "type": kind, "param": null, "code": null}}),
        )
    }

    /// An error answer with a body of its own.
    #[must_use]
    pub fn status_body(status: u16, body: Value) -> Self {
        Self::of(Kind::Status { status, body, retry_after: None })
    }

    /// These bytes as the stream, whatever they are.
    #[must_use]
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::of(Kind::Raw(bytes.into()))
    }

    /// The headers of a stream, then nothing.
    #[must_use]
    pub fn silence() -> Self {
        Self::of(Kind::Silence)
    }

    /// Not even headers.
    #[must_use]
    pub fn no_headers() -> Self {
        Self::of(Kind::NoHeaders)
    }

    /// An error answer that says when to come again, in seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        if let Kind::Status { retry_after, .. } = &mut self.kind {
            *retry_after = Some(seconds);
        }
        self
    }

    /// Text in pieces of so many characters (0: word by word), with a pause before each.
    #[must_use]
    pub fn paced(self, chunk_chars: usize, delay: Duration) -> Self {
        Self { chunk_chars, delay, ..self }
    }

    /// The connection breaks after so many events.
    #[must_use]
    pub fn cut_after(self, events: usize) -> Self {
        Self { cut_after: Some(events), ..self }
    }

    /// Only once the gate is open; the request counts as received before.
    #[must_use]
    pub fn behind(self, gate: &Gate) -> Self {
        Self { gate: Some(gate.clone()), ..self }
    }

    /// Billed as so many tokens in and out instead of an estimate.
    #[must_use]
    pub fn usage(self, input_tokens: u64, output_tokens: u64) -> Self {
        Self { usage: Some((input_tokens, output_tokens)), ..self }
    }
}

/// Holds answers back until a test opens it. Clones are the same gate.
#[derive(Clone)]
pub struct Gate(watch::Sender<bool>);

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Lets everything through from now on.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    pub(super) async fn opened(&self) {
        // The sender lives in `self`, so waiting can not fail.
        drop(self.0.subscribe().wait_for(|open| *open).await);
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gate").field(&*self.0.borrow()).finish()
    }
}
