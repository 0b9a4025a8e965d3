//! Error responses of the page's routes.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::super::possible::Impossible;

/// Returns the response to an action: its result, or the reason for its failure, in words for the visitor.
pub(super) fn answer(result: Result<Value, Impossible>) -> Response {
    match result {
        Ok(value) => Json(value).into_response(),
        Err(why) => refused(&why.to_string()),
    }
}

/// Returns the response to an action that is not possible, with the reason.
pub(super) fn refused(why: &str) -> Response {
    (StatusCode::BAD_REQUEST, Json(json!({"error": why}))).into_response()
}
