//! Server-sent events.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use futures::stream;
use serde_json::Value;

/// The end of a stream in OpenAI's dialect.
pub(super) const DONE: &str = "data: [DONE]\n\n";

/// Gives what is to be sent, one frame after the other.
pub(super) trait Frames: Send + 'static {
    /// The next frame; `None` at the end.
    fn next(&mut self) -> impl Future<Output = Option<String>> + Send;
}

/// A frame without a name. JSON has no line breaks of its own.
#[must_use]
pub(super) fn data(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// A frame with a name.
#[must_use]
pub(super) fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// The same with a number, by which a client that was cut off says what it has seen.
#[must_use]
pub(super) fn numbered(number: usize, name: &str, data: &Value) -> String {
    format!("id: {number}\nevent: {name}\ndata: {data}\n\n")
}

/// What nobody reads: it keeps a connection open.
#[must_use]
pub(super) fn comment(words: &str) -> String {
    format!(": {words}\n\n")
}

/// The answer that sends these frames.
pub(super) fn stream(frames: impl Frames) -> Response {
    let frames = stream::unfold(frames, async |mut frames| {
        let frame = frames.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(frame)), frames))
    });
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies that gather answers would hold the words back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
