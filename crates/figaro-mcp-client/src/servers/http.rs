//! Servers that are reached by streamable HTTP, with a bound on what they answer: rmcp's own client reads a whole body, however
//! long it is.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use http::{HeaderName, HeaderValue};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::pace::paced;
use super::recipe::{MAX_MESSAGE, too_long};
use crate::file::Address;
use figaro_base::secret::ExposeSecret;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: &str = "mcp-session-id";
/// A stream that answers one request may hold so much: its answer, and what is told on the way.
const MAX_STREAM: usize = 2 * MAX_MESSAGE;
/// Of the body of a failure so much is read.
const MAX_FAILURE: usize = 4 << 10;

type Failure = StreamableHttpError<reqwest::Error>;

/// What speaks to the server of this address.
pub(super) fn transport(
    address: &Address,
    http: reqwest::Client,
) -> StreamableHttpClientTransport<BoundedClient> {
    let header = |(name, value): (&String, &secrecy::SecretString)| {
        let mut value = HeaderValue::try_from(value.expose_secret()).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::try_from(name.as_str()).ok()?, value))
    };
    let mut config = StreamableHttpClientTransportConfig::with_uri(address.url.as_str());
    config.custom_headers = address.headers.iter().filter_map(header).collect();
    config.max_sse_event_size = MAX_MESSAGE;
    StreamableHttpClientTransport::with_client(BoundedClient(http), config)
}

/// An HTTP client that reads no more of an answer than a message may have.
#[derive(Debug, Clone)]
pub(super) struct BoundedClient(reqwest::Client);

impl StreamableHttpClient for BoundedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let mut request = self.0.post(uri.as_ref()).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        if let Some(key) = auth_header {
            request = request.bearer_auth(key);
        }
        request =
            custom_headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        let has_session = session_id.is_some();
        if let Some(session) = session_id {
            request = request.header(SESSION, session.as_ref());
        }
        let response = request.json(&message).send().await?;
        answer(response, has_session, matches!(message, ClientJsonRpcMessage::Request(_))).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        self.0.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        // Its events are bounded, and no whole answer stands in it.
        let opening = self.0.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            MAX_MESSAGE,
        );
        Ok(paced(opening.await?).boxed())
    }
}

/// What a server answers to a message; `is_request`: it has to.
async fn answer(
    response: Response,
    has_session: bool,
    is_request: bool,
) -> Result<StreamableHttpPostResponse, Failure> {
    let status = response.status();
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if status == StatusCode::NOT_FOUND && has_session {
        return Err(StreamableHttpError::SessionExpired);
    }
    if !status.is_success() {
        return Err(failure(response).await);
    }
    let text = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
    let (session, kind) = (text(SESSION), text(CONTENT_TYPE.as_str()).unwrap_or_default());
    if kind.starts_with(EVENTS) {
        let events = SseStream::from_bytes_stream(within(response.bytes_stream(), MAX_STREAM));
        return Ok(StreamableHttpPostResponse::Sse(events.boxed(), session));
    }
    let body = body(response, MAX_MESSAGE).await;
    if !is_request {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    let body = body?;
    if !kind.starts_with(JSON) {
        return Err(StreamableHttpError::UnexpectedContentType(Some(kind)));
    }
    match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
        Ok(message) => Ok(StreamableHttpPostResponse::Json(message, session)),
        Err(error) => Err(unexpected(format!("it answers with what is no message of MCP: {error}"))),
    }
}

/// What a server says that refuses a request.
async fn failure(response: Response) -> Failure {
    let status = response.status();
    let asks = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let remedy = if asks { ": put a token that it takes into headers (OAuth is not supported)" } else { "" };
    let words = body(response, MAX_FAILURE).await.unwrap_or_default();
    let words = figaro_base::text::one_line(&String::from_utf8_lossy(&words), 200);
    let said = if words.is_empty() { String::new() } else { format!(" ({words})") };
    unexpected(format!("it answers {status}{remedy}{said}"))
}

/// The body of an answer.
async fn body(response: Response, most: usize) -> Result<Vec<u8>, Failure> {
    let mut pieces = Box::pin(within(response.bytes_stream(), most));
    let mut whole = Vec::new();
    while let Some(piece) = pieces.next().await {
        whole.extend_from_slice(&piece.map_err(StreamableHttpError::Io)?);
    }
    Ok(whole)
}

/// The pieces of a body until there are too many.
fn within(
    pieces: impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
    most: usize,
) -> impl Stream<Item = std::io::Result<Bytes>> + Send + 'static {
    let mut left = most;
    pieces.map(move |piece| {
        let piece = piece.map_err(std::io::Error::other)?;
        match left.checked_sub(piece.len()) {
            Some(rest) => left = rest,
            None => return Err(std::io::Error::other(too_long())),
        }
        Ok(piece)
    })
}

fn unexpected(words: String) -> Failure {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(words))
}
