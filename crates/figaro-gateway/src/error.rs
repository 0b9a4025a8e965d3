//! What a caller is told where a request has no answer: a status, and a body in the form that OpenAI's clients read.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use figaro_store::StoreError;

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// The status of the answer.
    pub(crate) status: StatusCode,
    /// The kind of mistake, in OpenAI's words.
    pub(crate) kind: &'static str,
    /// A stable name of it.
    pub(crate) code: &'static str,
    /// What is wrong and what to do, for whoever wrote the client.
    pub(crate) message: String,
    /// The field of the request that it is about.
    pub(crate) param: Option<String>,
    /// When to come again.
    pub(crate) retry_after: Option<Duration>,
}

impl ApiError {
    fn new(status: StatusCode, kind: &'static str, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, kind, code, message: message.into(), param: None, retry_after: None }
    }

    /// The request is not one that can be answered.
    #[must_use]
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", "invalid_request", message)
    }

    /// A field of the request asks for what there is not here.
    #[must_use]
    pub(crate) fn unsupported(param: &str, message: impl Into<String>) -> Self {
        Self { code: "unsupported_parameter", ..Self::invalid(message) }.about(param)
    }

    /// Nobody knows who asks.
    #[must_use]
    pub(crate) fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "authentication_error", "invalid_api_key", message)
    }

    /// Whoever asks may not do this.
    #[must_use]
    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "permission_error", "forbidden", message)
    }

    /// There is no such thing.
    #[must_use]
    pub(crate) fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "invalid_request_error", code, message)
    }

    /// It does not fit to what is there now.
    #[must_use]
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "invalid_request_error", "conflict", message)
    }

    /// There were too many.
    #[must_use]
    pub(crate) fn too_many(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", code, message)
    }

    /// It cannot be answered now.
    #[must_use]
    pub(crate) fn unavailable(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "server_error", code, message)
    }

    /// The bot is about to end.
    #[must_use]
    pub(crate) fn stopping() -> Self {
        Self::unavailable("stopping", "Figaro is about to end; ask again when it has started anew")
    }

    /// A model behind Figaro did not answer.
    #[must_use]
    pub(crate) fn bad_gateway(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "server_error", code, message)
    }

    /// The same, about this field of the request.
    #[must_use]
    pub(crate) fn about(self, param: &str) -> Self {
        Self { param: Some(param.to_owned()), ..self }
    }

    /// The same, and when to come again.
    #[must_use]
    pub(crate) fn after(self, time: Duration) -> Self {
        Self { retry_after: Some(time), ..self }
    }

    /// The body of the answer.
    #[must_use]
    pub(crate) fn body(&self) -> Value {
        let Self { kind, code, message, param, .. } = self;
        json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
    }
}

/// The cause is in the log; a caller can only come again.
impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, label = error.label(), "a request over HTTP could not use the store");
        Self::unavailable("store", "the storage failed; nothing was changed: try again")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body())).into_response();
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        // What is left of the body is not read: the connection is of no more use.
        let has_rest = [
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            StatusCode::PAYLOAD_TOO_LARGE,
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            StatusCode::REQUEST_TIMEOUT,
        ];
        if has_rest.contains(&self.status) {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        // OpenAI's clients would ask the same again by themselves, also what was stopped.
        if self.status == StatusCode::CONFLICT {
            headers.insert("x-should-retry", HeaderValue::from_static("false"));
        }
        if let Some(time) = self.retry_after {
            // Whole seconds; a part of one is rounded up, so that nobody comes too early.
            let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
            headers.insert(header::RETRY_AFTER, seconds.max(1).into());
        }
        response
    }
}
