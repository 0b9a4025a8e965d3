//! Interfaces between the offline model and its dialects: a service authenticates and knows its models; a dialect checks and
//! converts requests, and writes answers. Used by `respond`.

use std::fmt;

use axum::http::{HeaderMap, StatusCode, Uri};
use chrono::{DateTime, Utc};
use serde_json::Value;

use super::reply::{HostedPage, ModelReply, ReplyPart, ReplyUsage};
use super::request::{ModelRequest, RequestContent, VectorRequest};

/// Result of a check. The error describes the first violation in words a developer can act on.
pub(super) type Validation = Result<(), String>;

/// Service that offers models. One service may support several dialects.
pub(super) trait Service: fmt::Debug + Send + Sync {
    /// Refuses a request without valid credentials.
    fn identify(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), DialectError>;

    /// Returns `true` if the service has a model of this name.
    fn serves(&self, model: &str) -> bool;

    /// Returns the error message for an unknown model.
    fn gone(&self, model: &str) -> String;

    /// Returns the body of an error response. `retry_after` is in seconds.
    fn error(&self, status: StatusCode, message: &str, retry_after: Option<u64>) -> Value;
}

/// Format of requests and answers of a model API.
pub(super) trait Dialect: fmt::Debug + Send + Sync {
    /// Returns the service that uses this dialect.
    fn service(&self) -> &dyn Service;

    /// Checks a request as strictly as the service does.
    fn check(&self, call: &ModelCall<'_>) -> Result<(), DialectError>;

    /// Converts a request into the common form. Omits what cannot be parsed.
    fn asked(&self, call: &ModelCall<'_>) -> RequestContent;

    /// Returns the `Content-Type` of the answer to a request.
    fn content_type(&self, request: &ModelRequest) -> &'static str;

    /// Returns a complete answer as the pieces sent over the wire.
    fn events(&self, turn: &ModelTurn<'_>) -> Vec<WireEvent>;

    /// Returns what the service writes when it fails after `sent` events.
    #[cfg(feature = "testing")]
    fn failure(&self, turn: &ModelTurn<'_>, sent: usize, message: &str) -> Vec<u8>;
}

/// Format of requests and answers of an embeddings API.
pub(super) trait VectorDialect: fmt::Debug + Send + Sync {
    /// Returns the service that uses this dialect.
    fn service(&self) -> &dyn Service;

    /// Checks and parses a request. The error is a 404 if the model does not exist.
    fn read(&self, call: &ModelCall<'_>) -> Result<VectorRequest, DialectError>;

    /// Returns the body of the answer.
    fn write(&self, request: &VectorRequest, vectors: &[Vec<f32>]) -> Value;
}

/// Request as received. The body is null if it was not JSON.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelCall<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) uri: &'a Uri,
    pub(super) body: &'a Value,
}

/// Status and message of an error response.
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

/// Piece of an answer on the wire. Pieces with new text are paced.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WireEvent {
    pub(super) bytes: Vec<u8>,
    pub(super) is_delta: bool,
}

/// Turn of the model, to be written in a dialect.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelTurn<'a> {
    pub(super) request: &'a ModelRequest,
    pub(super) reply: &'a ModelReply,
    pub(super) parts: &'a [ReplyPart],
    /// Number of the answer; ids are made from it.
    pub(super) number: u64,
    pub(super) at: DateTime<Utc>,
}

impl ModelTurn<'_> {
    /// Returns the pages found, if the request lets the service search.
    pub(super) fn sources(&self) -> &[HostedPage] {
        if self.request.offers_search() { &self.reply.sources } else { &[] }
    }

    /// Returns the search query: the first 80 characters of the user's text.
    pub(super) fn query(&self) -> String {
        self.request.user_text().chars().take(80).collect()
    }

    /// Splits text into pieces of the size the reply asks for.
    pub(super) fn pieces(&self, text: &str) -> Vec<String> {
        pieces(text, self.reply.chunk_chars)
    }

    /// Returns input and output tokens; `None` if the reply omits them.
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

/// Returns the arguments of a call as JSON text.
pub(super) fn arguments_text(arguments: &Value) -> String {
    arguments.as_str().map_or_else(|| arguments.to_string(), ToOwned::to_owned)
}

/// Splits text into pieces of `chars` characters, or into words if 0.
pub(super) fn pieces(text: &str, chars: usize) -> Vec<String> {
    if chars == 0 {
        return text.split_inclusive(char::is_whitespace).map(ToOwned::to_owned).collect();
    }
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(chars).map(|chunk| chunk.iter().collect()).collect()
}
