//! What a brain can answer, in any dialect: parts of a turn at some pace, or an error; with the feature `testing` also a
//! fault of the connection.

use std::time::Duration;

use serde_json::Value;

#[cfg(feature = "testing")]
use super::fault::{Odd, StreamFault};
use super::request::ModelRequest;
#[cfg(feature = "testing")]
use crate::gate::Gate;

/// Decides what the offline model answers. Closures are brains too.
pub trait Brain: Send + Sync {
    /// The answer to a request that passed the checks.
    fn answer(&self, request: &ModelRequest) -> ModelReply;

    /// The answer to a request for facts about a person; `None` has the offline model make one by rule.
    fn extract(&self, _request: &ModelRequest) -> Option<ModelReply> {
        None
    }

    /// The answer to a request for the name of a conversation; `None` has the offline model make one by rule.
    fn name(&self, _request: &ModelRequest) -> Option<ModelReply> {
        None
    }

    /// The answer to a request for a summary of a part of a conversation; `None` has the offline model make one by rule.
    fn summarise(&self, _request: &ModelRequest) -> Option<ModelReply> {
        None
    }
}

impl<F: Fn(&ModelRequest) -> ModelReply + Send + Sync> Brain for F {
    fn answer(&self, request: &ModelRequest) -> ModelReply {
        self(request)
    }
}

/// A part of what the model answers in one turn; they come in order.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyPart {
    /// Text for the user.
    Text(String),
    /// A call of a tool.
    Call {
        /// The name of the tool, whether it was offered or not.
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

/// One answer of the model: a turn or an error, how fast it comes, and how it ends.
#[derive(Debug, Clone)]
pub struct ModelReply {
    pub(super) kind: ReplyKind,
    pub(super) chunk_chars: usize,
    pub(super) delay: Duration,
    #[cfg(feature = "testing")]
    pub(super) gate: Option<Gate>,
    #[cfg(feature = "testing")]
    pub(super) fault: Option<StreamFault>,
    #[cfg(feature = "testing")]
    pub(super) call_id: Option<String>,
    pub(super) finish: ReplyFinish,
    pub(super) usage: ReplyUsage,
    pub(super) sources: Vec<HostedPage>,
}

#[derive(Debug, Clone)]
pub(super) enum ReplyKind {
    /// Parts in order; none is an empty answer.
    Turn(Vec<ReplyPart>),
    /// An error answer. `retry_after` is in seconds.
    Failure { status: u16, error: ReplyFailure, retry_after: Option<u64> },
    #[cfg(feature = "testing")]
    Odd(Odd),
}

#[derive(Debug, Clone)]
pub(super) enum ReplyFailure {
    /// A message, put into the shape of the service.
    Message(String),
    /// A body as it is.
    Body(Value),
}

/// Why a turn ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReplyFinish {
    /// The model is done.
    Stop,
    /// The bound on the length of an answer was reached.
    Length,
    /// The service withholds the rest, for this reason.
    Blocked(String),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum ReplyUsage {
    /// By the length of the request and the answer.
    Estimated,
    /// Tokens in and out.
    Given(u64, u64),
    /// The answer does not say.
    Missing,
}

/// A page that a hosted search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostedPage {
    pub(super) title: String,
    pub(super) url: String,
}

impl ModelReply {
    pub(super) fn of(kind: ReplyKind) -> Self {
        Self {
            kind,
            chunk_chars: 12,
            delay: Duration::ZERO,
            #[cfg(feature = "testing")]
            gate: None,
            #[cfg(feature = "testing")]
            fault: None,
            #[cfg(feature = "testing")]
            call_id: None,
            finish: ReplyFinish::Stop,
            usage: ReplyUsage::Estimated,
            sources: Vec::new(),
        }
    }

    /// A turn of one text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::turn(vec![ReplyPart::Text(text.to_owned())])
    }

    /// A turn that calls one tool. `arguments` are as in [`ReplyPart::Call`].
    #[must_use]
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::turn(vec![ReplyPart::Call { name: name.to_owned(), arguments }])
    }

    /// Several parts in order: texts, calls, or both.
    #[must_use]
    pub fn turn(parts: Vec<ReplyPart>) -> Self {
        Self::of(ReplyKind::Turn(parts))
    }

    /// A complete answer that says nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self::turn(Vec::new())
    }

    /// The words in which the model declines.
    #[must_use]
    pub fn refusal(words: &str) -> Self {
        Self::turn(vec![ReplyPart::Refusal(words.to_owned())])
    }

    /// An error answer in the dialect's own shape.
    #[must_use]
    pub fn status(status: u16, message: &str) -> Self {
        let error = ReplyFailure::Message(message.to_owned());
        Self::of(ReplyKind::Failure { status, error, retry_after: None })
    }

    /// An error answer with a body of its own.
    #[must_use]
    pub fn status_body(status: u16, body: Value) -> Self {
        Self::of(ReplyKind::Failure { status, error: ReplyFailure::Body(body), retry_after: None })
    }

    /// An error answer that says when to come again, in seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        if let ReplyKind::Failure { retry_after, .. } = &mut self.kind {
            *retry_after = Some(seconds);
        }
        self
    }

    /// Text in pieces of so many characters (0: word by word), with a pause before each.
    #[must_use]
    pub fn paced(self, chunk_chars: usize, delay: Duration) -> Self {
        Self { chunk_chars, delay, ..self }
    }

    /// The turn ends because the bound on its length was reached.
    #[must_use]
    pub fn cut_by_length(self) -> Self {
        Self { finish: ReplyFinish::Length, ..self }
    }

    /// The service withholds the rest, for a reason such as `SAFETY`. Ollama has no such thing: there it just ends.
    #[must_use]
    pub fn blocked(self, reason: &str) -> Self {
        Self { finish: ReplyFinish::Blocked(reason.to_owned()), ..self }
    }

    /// Pages, by title and address, that the service's own search found; left out where a request offers no search.
    #[must_use]
    pub fn sources(self, pages: &[(&str, &str)]) -> Self {
        let source = |(title, url): &(&str, &str)| HostedPage { title: (*title).into(), url: (*url).into() };
        Self { sources: pages.iter().map(source).collect(), ..self }
    }

    /// Billed as so many tokens in and out instead of an estimate.
    #[must_use]
    pub fn usage(self, input_tokens: u64, output_tokens: u64) -> Self {
        Self { usage: ReplyUsage::Given(input_tokens, output_tokens), ..self }
    }

    /// Its first call has this id, in the Responses API, in place of one that no other has.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn calling_as(self, id: &str) -> Self {
        Self { call_id: Some(id.to_owned()), ..self }
    }

    /// The id that the first call is to have, if it is to have a certain one.
    #[cfg(feature = "testing")]
    pub(super) fn call_id(&self) -> Option<String> {
        self.call_id.clone()
    }

    /// None: what a demo's model calls has ids of its own.
    #[cfg(not(feature = "testing"))]
    pub(super) const fn call_id(&self) -> Option<String> {
        None
    }

    /// Leaves the number of tokens out, as some services do.
    #[must_use]
    pub fn without_usage(self) -> Self {
        Self { usage: ReplyUsage::Missing, ..self }
    }
}
