//! How the page is told that something is not possible.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::super::possible::Impossible;

/// The answer to an act: its result, or why it is not possible, in words for the visitor.
pub(super) fn answer(result: Result<Value, Impossible>) -> Response {
    match result {
        Ok(value) => Json(value).into_response(),
        Err(why) => refused(&why.to_string()),
    }
}

/// An act that is not possible, for this reason.
pub(super) fn refused(why: &str) -> Response {
    (StatusCode::BAD_REQUEST, Json(json!({"error": why}))).into_response()
}
