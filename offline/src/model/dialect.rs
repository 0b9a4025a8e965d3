//! The seam between the offline model and the ways to speak to it: what a service refuses of everyone, how a dialect
//! puts a request into the common form, and how it writes an answer. Used by `respond`.

use std::fmt;

use axum::http::{HeaderMap, StatusCode, Uri};
use chrono::{DateTime, Utc};
use serde_json::Value;

use super::reply::{HostedPage, ModelReply, ReplyPart, ReplyUsage};
use super::request::{ModelRequest, RequestContent, VectorRequest};

/// The first complaint about something, in words a developer can act on.
pub(super) type Validation = Result<(), String>;

/// A service that models stand behind; one may speak several dialects.
pub(super) trait Service: fmt::Debug + Send + Sync {
    /// Refuses a request that does not show who sends it.
    fn identify(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), DialectError>;

    /// Whether there is a model of this name.
    fn serves(&self, model: &str) -> bool;

    /// What is said of a model that is not served.
    fn gone(&self, model: &str) -> String;

    /// The body of an error answer. `retry_after` is in seconds.
    fn error(&self, status: StatusCode, message: &str, retry_after: Option<u64>) -> Value;
}

/// One way to speak to a model: the shape of requests and answers.
pub(super) trait Dialect: fmt::Debug + Send + Sync {
    /// The service that speaks it.
    fn service(&self) -> &dyn Service;

    /// Checks a request as strictly as the service does.
    fn check(&self, call: &ModelCall<'_>) -> Result<(), DialectError>;

    /// What a request says, in the common form; what cannot be understood is left out.
    fn asked(&self, call: &ModelCall<'_>) -> RequestContent;

    /// The `Content-Type` of the answer to a request.
    fn content_type(&self, request: &ModelRequest) -> &'static str;

    /// A whole answer as the pieces in which it goes over the wire.
    fn events(&self, turn: &ModelTurn<'_>) -> Vec<WireEvent>;

    /// What the service writes when it fails after so many events.
    #[cfg(feature = "testing")]
    fn failure(&self, turn: &ModelTurn<'_>, sent: usize, message: &str) -> Vec<u8>;
}

/// One way to ask for vectors.
pub(super) trait VectorDialect: fmt::Debug + Send + Sync {
    /// The service that speaks it.
    fn service(&self) -> &dyn Service;

    /// What a request says, if it keeps the rules; refused with 404 where there is no such model.
    fn read(&self, call: &ModelCall<'_>) -> Result<VectorRequest, DialectError>;

    /// The answer with these vectors.
    fn write(&self, request: &VectorRequest, vectors: &[Vec<f32>]) -> Value;
}

/// A request as it came in. The body is null if it was no JSON.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelCall<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) uri: &'a Uri,
    pub(super) body: &'a Value,
}

/// An error answer: its status, and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DialectError {
    pub(super) status: StatusCode,
    pub(super) message: String,
}

impl From<String> for DialectError {
    fn from(message: String) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message }
    }
}

/// A piece of an answer on the wire; those that carry new text are paced.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WireEvent {
    pub(super) bytes: Vec<u8>,
    pub(super) is_delta: bool,
}

/// A turn of the model, to be written down in some dialect.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelTurn<'a> {
    pub(super) request: &'a ModelRequest,
    pub(super) reply: &'a ModelReply,
    pub(super) parts: &'a [ReplyPart],
    /// The number of the answer; ids are made from it.
    pub(super) number: u64,
    pub(super) at: DateTime<Utc>,
}

impl ModelTurn<'_> {
    /// The pages found, if the request lets the service search.
    pub(super) fn sources(&self) -> &[HostedPage] {
        if self.request.offers_search() { &self.reply.sources } else { &[] }
    }

    /// What is searched for: the beginning of what was asked.
    pub(super) fn query(&self) -> String {
        self.request.user_text().chars().take(80).collect()
    }

    /// The text in the pieces the reply asks for.
    pub(super) fn pieces(&self, text: &str) -> Vec<String> {
        pieces(text, self.reply.chunk_chars)
    }

    /// Tokens in and out, unless the reply is to say nothing of them.
    pub(super) fn usage(&self) -> Option<(u64, u64)> {
        let written = self.parts.iter().map(|part| match part {
            ReplyPart::Text(text) | ReplyPart::Thought(text) | ReplyPart::Refusal(text) => text.len(),
            ReplyPart::Call { arguments, .. } => arguments.to_string().len(),
        });
        let tokens = |bytes: usize| u64::try_from(bytes / 4 + 1).unwrap_or(u64::MAX);
        match self.reply.usage {
            ReplyUsage::Missing => None,
            ReplyUsage::Given(input, output) => Some((input, output)),
            ReplyUsage::Estimated => {
                Some((tokens(self.request.body.to_string().len()), tokens(written.sum())))
            }
        }
    }
}

/// The arguments of a call as JSON text.
pub(super) fn arguments_text(arguments: &Value) -> String {
    arguments.as_str().map_or_else(|| arguments.to_string(), ToOwned::to_owned)
}

/// The text in pieces of so many characters; 0 means word by word.
pub(super) fn pieces(text: &str, chars: usize) -> Vec<String> {
    if chars == 0 {
        return text.split_inclusive(char::is_whitespace).map(ToOwned::to_owned).collect();
    }
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(chars).map(|chunk| chunk.iter().collect()).collect()
}
