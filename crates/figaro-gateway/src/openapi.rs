//! The OpenAPI document of the gateway. A test holds it to what is served.

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// The document.
pub(super) const DOCUMENT: &str = include_str!("openapi.json");

/// Gives it.
pub(super) async fn document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT).into_response()
}
