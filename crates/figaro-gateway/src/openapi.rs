//! OpenAPI document of the gateway. A test compares it with the routes.

use axum::http::header;
use axum::response::{IntoResponse, Response};

pub(super) const DOCUMENT: &str = include_str!("openapi.json");

pub(super) async fn document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT).into_response()
}
