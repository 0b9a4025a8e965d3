//! The body of a request: JSON, of a bounded length, in a bounded time.

use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;

use super::error::ApiError;

/// The most bytes of a body.
pub(super) const MAX_BYTES: usize = 4 << 20;
/// It comes within this time.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// A body of JSON, read.
#[derive(Debug)]
pub(super) struct Body<T>(pub T);

impl<S, T> FromRequest<S> for Body<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> Result<Self, ApiError> {
        let kind = request
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            let error = ApiError::invalid("the body has to be JSON: send Content-Type: application/json");
            return Err(ApiError { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, ..error });
        }
        let too_long = || {
            let error =
                ApiError::invalid(format!("the body has more than {} MiB, or broke off", MAX_BYTES >> 20));
            ApiError { status: StatusCode::PAYLOAD_TOO_LARGE, ..error }
        };
        let reading = tokio::time::timeout(BODY_TIMEOUT, to_bytes(request.into_body(), MAX_BYTES)).await;
        let reading = reading.map_err(|_late| ApiError {
            status: StatusCode::REQUEST_TIMEOUT,
            ..ApiError::invalid("the body did not come in time")
        })?;
        let bytes = reading.map_err(|_error| too_long())?;
        let read = serde_json::from_slice(&bytes);
        read.map(Self).map_err(|error| ApiError::invalid(format!("the body cannot be read: {error}")))
    }
}
