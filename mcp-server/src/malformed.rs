//! JSON-RPC errors for messages that are not MCP: -32700 for invalid JSON, -32600 for JSON of another form. Used by `body`
//! over HTTP and by `stdio`. The library answers neither: over HTTP it says 415 in plain text, on standard input nothing.

use axum::Json;
use axum::body::Body;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use rmcp::ErrorData;
use rmcp::model::{JsonRpcError, RequestId};
use serde_json::Value;

/// Beginning of the library's response to a body that is not MCP.
const UNREADABLE: &[u8] = b"fail to deserialize request body ";
/// Maximum size in bytes of that response.
const MAX_RESPONSE: usize = 4096;

/// Returns the error for a message that the library can not read.
pub(crate) fn error(message: &[u8]) -> JsonRpcError {
    match serde_json::from_slice::<Value>(message) {
        Ok(value) => {
            let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
            invalid_request(id)
        }
        Err(fault) => parse_error(&fault.to_string()),
    }
}

/// Returns the error for a message that was not read to its end.
pub(crate) fn too_long(longest: usize) -> JsonRpcError {
    let message =
        format!("Invalid Request: a message has at most {longest} bytes; --max-file-mb changes that");
    JsonRpcError::new(None, ErrorData::invalid_request(message, None))
}

/// Replaces the library's 415 for an unreadable body by 400 with a JSON-RPC error. `body` is `None` for a long body.
pub(crate) async fn answer(response: Response, body: Option<Vec<u8>>) -> Response {
    if response.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return response;
    }
    let (parts, text) = response.into_parts();
    let text = axum::body::to_bytes(text, MAX_RESPONSE).await.unwrap_or_default();
    let Some(fault) = text.strip_prefix(UNREADABLE) else {
        return Response::from_parts(parts, Body::from(text));
    };
    let error = body.map_or_else(|| of_long(&String::from_utf8_lossy(fault)), |body| error(&body));
    (StatusCode::BAD_REQUEST, Json(error)).into_response()
}

/// Returns the error for a body that was not kept. The library's text for invalid JSON names the line.
fn of_long(fault: &str) -> JsonRpcError {
    if fault.contains(" at line ") { parse_error(fault) } else { invalid_request(None) }
}

fn parse_error(fault: &str) -> JsonRpcError {
    JsonRpcError::new(None, ErrorData::parse_error(format!("Parse error: {fault}"), None))
}

fn invalid_request(id: Option<RequestId>) -> JsonRpcError {
    let message = "Invalid Request: not a JSON-RPC 2.0 message of MCP";
    JsonRpcError::new(id, ErrorData::invalid_request(message, None))
}
