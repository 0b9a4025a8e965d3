//! Replies of a brain, independent of the dialect: a paced turn or an error; with the feature `testing` also a connection
//! fault.

use std::time::Duration;

use serde_json::Value;

#[cfg(feature = "testing")]
use super::fault::{Odd, StreamFault};
use super::request::ModelRequest;
#[cfg(feature = "testing")]
use crate::gate::Gate;

/// Decides the answers of the offline model. Closures implement it too.
pub trait Brain: Send + Sync {
    /// Answers a request that passed the dialect's checks.
    fn answer(&self, request: &ModelRequest) -> ModelReply;

    /// Answers a request for facts about a person. On `None` the offline model answers by rule.
    fn extract(&self, _request: &ModelRequest) -> Option<ModelReply> {
        None
    }

    /// Answers a request for the name of a conversation. On `None` the offline model answers by rule.
    fn name(&self, _request: &ModelRequest) -> Option<ModelReply> {
        None
    }

    /// Answers a request for a summary of a part of a conversation. On `None` the offline model answers by rule.
    fn summarise(&self, _request: &ModelRequest) -> Option<ModelReply> {
        None
    }
}

impl<F: Fn(&ModelRequest) -> ModelReply + Send + Sync> Brain for F {
    fn answer(&self, request: &ModelRequest) -> ModelReply {
        self(request)
    }
}

/// Part of a turn. Parts are sent in order.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyPart {
    /// Text of the answer, shown to the user.
    Text(String),
    /// Tool call with its name and arguments.
    Call {
        /// Name of the tool, offered or not.
        name: String,
        /// Arguments, usually an object. A string is sent unchanged, to test invalid JSON. A service that can only send
        /// objects reports a malformed call instead.
        arguments: Value,
    },
    /// Reasoning before the answer, if the dialect shows it.
    Thought(String),
    /// Refusal of the model, in its own words.
    Refusal(String),
}

/// Answer of the model: a turn or an error, its pace and its end.
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
    /// Parts in order. An empty list is an empty answer.
    Turn(Vec<ReplyPart>),
    /// Error response. `retry_after` is in seconds.
    Failure { status: u16, error: ReplyFailure, retry_after: Option<u64> },
    #[cfg(feature = "testing")]
    Odd(Odd),
}

#[derive(Debug, Clone)]
pub(super) enum ReplyFailure {
    /// Message, sent in the error format of the service.
    Message(String),
    /// Body, sent unchanged.
    Body(Value),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReplyFinish {
    Stop,
    /// Token limit reached.
    Length,
    /// Blocked by the service, for this reason.
    Blocked(String),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum ReplyUsage {
    /// Estimated from the length of request and answer.
    Estimated,
    /// Input tokens and output tokens, as given by the script.
    Given(u64, u64),
    /// No usage in the answer.
    Missing,
}

/// Page found by a search of the service.
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

    /// Creates a turn with one text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::turn(vec![ReplyPart::Text(text.to_owned())])
    }

    /// Creates a turn that calls one tool. `arguments` are as in [`ReplyPart::Call`].
    #[must_use]
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::turn(vec![ReplyPart::Call { name: name.to_owned(), arguments }])
    }

    /// Creates a turn with several parts in order: texts, calls, or both.
    #[must_use]
    pub fn turn(parts: Vec<ReplyPart>) -> Self {
        Self::of(ReplyKind::Turn(parts))
    }

    /// Creates a complete answer without parts.
    #[must_use]
    pub fn empty() -> Self {
        Self::turn(Vec::new())
    }

    /// Creates a turn in which the model refuses, with these words.
    #[must_use]
    pub fn refusal(words: &str) -> Self {
        Self::turn(vec![ReplyPart::Refusal(words.to_owned())])
    }

    /// Creates an error response in the format of the dialect.
    #[must_use]
    pub fn status(status: u16, message: &str) -> Self {
        let error = ReplyFailure::Message(message.to_owned());
        Self::of(ReplyKind::Failure { status, error, retry_after: None })
    }

    /// Creates an error response with this body.
    #[must_use]
    pub fn status_body(status: u16, body: Value) -> Self {
        Self::of(ReplyKind::Failure { status, error: ReplyFailure::Body(body), retry_after: None })
    }

    /// Adds a retry delay to an error response, in seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        if let ReplyKind::Failure { retry_after, .. } = &mut self.kind {
            *retry_after = Some(seconds);
        }
        self
    }

    /// Sends text in pieces of `chunk_chars` characters (0: word by word), with a pause of `delay` before each.
    #[must_use]
    pub fn paced(self, chunk_chars: usize, delay: Duration) -> Self {
        Self { chunk_chars, delay, ..self }
    }

    /// Ends the turn at its token limit.
    #[must_use]
    pub fn cut_by_length(self) -> Self {
        Self { finish: ReplyFinish::Length, ..self }
    }

    /// Ends the turn as blocked by the service, for a reason such as `SAFETY`. Ollama has no such reason and ends normally.
    #[must_use]
    pub fn blocked(self, reason: &str) -> Self {
        Self { finish: ReplyFinish::Blocked(reason.to_owned()), ..self }
    }

    /// Adds pages, as title and URL, found by the service's own search. Omitted if the request offers no search.
    #[must_use]
    pub fn sources(self, pages: &[(&str, &str)]) -> Self {
        let source = |(title, url): &(&str, &str)| HostedPage { title: (*title).into(), url: (*url).into() };
        Self { sources: pages.iter().map(source).collect(), ..self }
    }

    /// Reports this usage instead of an estimate.
    #[must_use]
    pub fn usage(self, input_tokens: u64, output_tokens: u64) -> Self {
        Self { usage: ReplyUsage::Given(input_tokens, output_tokens), ..self }
    }

    /// Gives the first call this id instead of a unique one. Only in the Responses API.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn calling_as(self, id: &str) -> Self {
        Self { call_id: Some(id.to_owned()), ..self }
    }

    /// Returns the fixed id of the first call, if set.
    #[cfg(feature = "testing")]
    pub(super) fn call_id(&self) -> Option<String> {
        self.call_id.clone()
    }

    /// Returns `None`: only tests set a fixed id.
    #[cfg(not(feature = "testing"))]
    pub(super) const fn call_id(&self) -> Option<String> {
        None
    }

    /// Omits the usage, as some services do.
    #[must_use]
    pub fn without_usage(self) -> Self {
        Self { usage: ReplyUsage::Missing, ..self }
    }
}
