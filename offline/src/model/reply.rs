//! What a brain can answer, in any dialect: parts of a turn at some pace, an error, or a fault of the connection.

use std::fmt;
use std::time::Duration;

use serde_json::Value;
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
        /// Its arguments, usually an object; a string is sent as it is, to test bad JSON. Where a service sends no
        /// other arguments than objects, it says instead that the model made a mess of it.
        arguments: Value,
    },
    /// What the model thinks before it speaks, where the dialect shows it.
    Thought(String),
    /// The words in which the model declines.
    Refusal(String),
}

/// One answer of the model.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) kind: Kind,
    pub(super) chunk_chars: usize,
    pub(super) delay: Duration,
    pub(super) gate: Option<Gate>,
    pub(super) fault: Option<Fault>,
    pub(super) finish: Finish,
    pub(super) usage: Usage,
    pub(super) sources: Vec<Source>,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Turn(Vec<Part>),
    Failure { status: u16, error: Failure, retry_after: Option<u64> },
    Raw(Vec<u8>),
    Page(String),
    Silence,
    NoHeaders,
}

#[derive(Debug, Clone)]
pub(super) enum Failure {
    /// Put into the shape of the dialect.
    Message(String),
    Body(Value),
}

/// What happens to a stream, and where.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) after: Place,
    pub(super) kind: FaultKind,
}

/// So far into a stream.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    Events(usize),
    /// Events that carry text, of which every dialect has the same number.
    Pieces(usize),
}

#[derive(Debug, Clone)]
pub(super) enum FaultKind {
    Break,
    Hang,
    Error(String),
}

/// Why a turn ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finish {
    Stop,
    Length,
    Blocked(String),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Usage {
    Estimated,
    /// Tokens in and out.
    Given(u64, u64),
    Missing,
}

/// A page that a hosted search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) title: String,
    pub(super) url: String,
}

impl Reply {
    fn of(kind: Kind) -> Self {
        Self {
            kind,
            chunk_chars: 12,
            delay: Duration::ZERO,
            gate: None,
            fault: None,
            finish: Finish::Stop,
            usage: Usage::Estimated,
            sources: Vec::new(),
        }
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

    /// The words in which the model declines.
    #[must_use]
    pub fn refusal(words: &str) -> Self {
        Self::turn(vec![Part::Refusal(words.to_owned())])
    }

    /// An error answer in the dialect's own shape.
    #[must_use]
    pub fn status(status: u16, message: &str) -> Self {
        let error = Failure::Message(message.to_owned());
        Self::of(Kind::Failure { status, error, retry_after: None })
    }

    /// An error answer with a body of its own.
    #[must_use]
    pub fn status_body(status: u16, body: Value) -> Self {
        Self::of(Kind::Failure { status, error: Failure::Body(body), retry_after: None })
    }

    /// Success, and a web page: what a proxy or a base URL that is wrong gives.
    #[must_use]
    pub fn page(html: &str) -> Self {
        Self::of(Kind::Page(html.to_owned()))
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
        if let Kind::Failure { retry_after, .. } = &mut self.kind {
            *retry_after = Some(seconds);
        }
        self
    }

    /// Text in pieces of so many characters (0: word by word), with a pause before each.
    #[must_use]
    pub fn paced(self, chunk_chars: usize, delay: Duration) -> Self {
        Self { chunk_chars, delay, ..self }
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

    /// The turn ends because the bound on its length was reached.
    #[must_use]
    pub fn cut_by_length(self) -> Self {
        Self { finish: Finish::Length, ..self }
    }

    /// The service withholds the rest, for a reason such as `SAFETY`. Ollama has no such thing: there it just ends.
    #[must_use]
    pub fn blocked(self, reason: &str) -> Self {
        Self { finish: Finish::Blocked(reason.to_owned()), ..self }
    }

    /// Pages, by title and address, that the service's own search found; left out where a request offers no search.
    #[must_use]
    pub fn sources(self, pages: &[(&str, &str)]) -> Self {
        let source = |(title, url): &(&str, &str)| Source { title: (*title).into(), url: (*url).into() };
        Self { sources: pages.iter().map(source).collect(), ..self }
    }

    /// Only once the gate is open; the request counts as received before.
    #[must_use]
    pub fn behind(self, gate: &Gate) -> Self {
        Self { gate: Some(gate.clone()), ..self }
    }

    /// Billed as so many tokens in and out instead of an estimate.
    #[must_use]
    pub fn usage(self, input_tokens: u64, output_tokens: u64) -> Self {
        Self { usage: Usage::Given(input_tokens, output_tokens), ..self }
    }

    /// Says nothing of what it cost.
    #[must_use]
    pub fn without_usage(self) -> Self {
        Self { usage: Usage::Missing, ..self }
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

    pub(crate) async fn opened(&self) {
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
