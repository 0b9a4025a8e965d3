//! Error responses: a status, and a body in the form that OpenAI's clients read.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use figaro_store::StoreError;

/// Reason why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayError {
    pub(crate) status: StatusCode,
    /// Kind of the error, in OpenAI's terms.
    pub(crate) kind: &'static str,
    /// Stable code of the error.
    pub(crate) code: &'static str,
    /// Fault and remedy, for the developer of the client.
    pub(crate) message: String,
    /// Field of the request that the error is about.
    pub(crate) param: Option<String>,
    /// Value of `Retry-After`; `None` for no header.
    pub(crate) retry_after: Option<Duration>,
    /// End of the used-up limit on spending; becomes a `Retry-After`.
    pub(crate) over_until: Option<DateTime<Utc>>,
}

impl GatewayError {
    fn new(status: StatusCode, kind: &'static str, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, kind, code, message: message.into(), param: None, retry_after: None, over_until: None }
    }

    /// The request is malformed.
    #[must_use]
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", "invalid_request", message)
    }

    /// A field of the request asks for something that Figaro does not have.
    #[must_use]
    pub(crate) fn unsupported(param: &str, message: impl Into<String>) -> Self {
        Self { code: "unsupported_parameter", ..Self::invalid(message) }.about(param)
    }

    /// The caller is not authenticated.
    #[must_use]
    pub(crate) fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "authentication_error", "invalid_api_key", message)
    }

    /// The caller may not do this.
    #[must_use]
    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "permission_error", "forbidden", message)
    }

    #[must_use]
    pub(crate) fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "invalid_request_error", code, message)
    }

    /// The request conflicts with the current state.
    #[must_use]
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "invalid_request_error", "conflict", message)
    }

    /// A limit of the caller is reached.
    #[must_use]
    pub(crate) fn too_many(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", code, message)
    }

    /// The service cannot answer at the moment.
    #[must_use]
    pub(crate) fn unavailable(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "server_error", code, message)
    }

    #[must_use]
    pub(crate) fn stopping() -> Self {
        Self::unavailable("stopping", "Figaro is about to end; ask again when it has started anew")
    }

    /// A model behind Figaro did not answer.
    #[must_use]
    pub(crate) fn bad_gateway(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "server_error", code, message)
    }

    /// Adds the field of the request that the error is about.
    #[must_use]
    pub(crate) fn about(self, param: &str) -> Self {
        Self { param: Some(param.to_owned()), ..self }
    }

    /// Adds the time to wait before a retry.
    #[must_use]
    pub(crate) fn after(self, time: Duration) -> Self {
        Self { retry_after: Some(time), ..self }
    }

    /// Returns the body of the response.
    #[must_use]
    pub(crate) fn body(&self) -> Value {
        let Self { kind, code, message, param, .. } = self;
        json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
    }
}

/// The cause goes to the log. The caller can only retry.
impl From<StoreError> for GatewayError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, label = error.label(), "a request over HTTP could not use the store");
        Self::unavailable("store", "the storage failed; nothing was changed: try again")
    }
}

impl IntoResponse for GatewayError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body())).into_response();
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        // The rest of the body is not read, so the connection cannot be reused.
        let has_rest = [
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            StatusCode::PAYLOAD_TOO_LARGE,
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            StatusCode::REQUEST_TIMEOUT,
        ];
        if has_rest.contains(&self.status) {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        // OpenAI's clients would otherwise retry by themselves: a stopped turn, an answer that the model was already asked to
        // mend, and a budget that is empty for hours.
        let is_final = [StatusCode::CONFLICT, StatusCode::BAD_GATEWAY].contains(&self.status);
        if is_final || self.code == "insufficient_quota" {
            headers.insert("x-should-retry", HeaderValue::from_static("false"));
        }
        if let Some(time) = self.retry_after {
            // Whole seconds, rounded up so that nobody retries too early.
            let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
            headers.insert(header::RETRY_AFTER, seconds.max(1).into());
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_do_not_repeat_a_request_that_cannot_end_better() {
        let errors = [
            (GatewayError::bad_gateway("misfit", "x"), true),
            (GatewayError::unavailable("stalled", "x"), false),
            (GatewayError::invalid("x"), false),
        ];
        for (error, is_final) in errors {
            let response = error.into_response();
            assert_eq!(response.headers().contains_key("x-should-retry"), is_final, "{response:?}");
        }
    }
}
