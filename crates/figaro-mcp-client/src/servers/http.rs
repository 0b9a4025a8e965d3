//! Servers reached by streamable HTTP, with a limit on the size of answers. rmcp's own client reads a whole body,
//! however long it is.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, stream};
use http::{HeaderName, HeaderValue};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, RequestId};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use serde_json::Value;
use sse_stream::{Sse, SseStream};

use super::lenient::{LenientReader, typed};
use super::pace::paced;
use super::recipe::{MAX_MESSAGE, too_long};
use crate::file::Address;
use figaro_base::secret::ExposeSecret;
use figaro_base::text::one_line;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: &str = "mcp-session-id";
/// Maximum size of a stream that answers one request, in bytes: the answer and the notifications before it.
const MAX_STREAM: usize = 2 * MAX_MESSAGE;
/// Maximum number of bytes read from the body of a failure.
const MAX_FAILURE: usize = 4 << 10;

type HttpTransportError = StreamableHttpError<reqwest::Error>;

/// Builds the transport to the server at this address.
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
    StreamableHttpClientTransport::with_client(
        BoundedClient { http, reader: LenientReader::default() },
        config,
    )
}

/// HTTP client that limits the size of an answer to that of a message.
#[derive(Debug, Clone)]
pub(super) struct BoundedClient {
    http: reqwest::Client,
    reader: LenientReader,
}

impl StreamableHttpClient for BoundedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpTransportError> {
        let mut request = self.http.post(uri.as_ref()).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        if let Some(key) = auth_header {
            request = request.bearer_auth(key);
        }
        request =
            custom_headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        let has_session = session_id.is_some();
        if let Some(session) = session_id {
            request = request.header(SESSION, session.as_ref());
        }
        self.reader.sent(&message);
        let response = request.json(&message).send().await?;
        let request = match &message {
            ClientJsonRpcMessage::Request(request) => Some(&request.id),
            _ => None,
        };
        self.answer(response, has_session, request).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpTransportError> {
        self.http.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpTransportError> {
        // Events of this stream are limited in size, and it carries no large answers.
        let opening = self.http.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            MAX_MESSAGE,
        );
        // A server that answers with something else, such as a web page, has no event stream.
        let opened = opening.await.map_err(|error| match error {
            StreamableHttpError::UnexpectedContentType(_) => StreamableHttpError::ServerDoesNotSupportSse,
            other => other,
        });
        Ok(self.messages(paced(opened?)).boxed())
    }
}

impl BoundedClient {
    /// Reads the answer of a server to a message. A request must have an answer.
    async fn answer(
        &self,
        response: Response,
        has_session: bool,
        request: Option<&RequestId>,
    ) -> Result<StreamableHttpPostResponse, HttpTransportError> {
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return self.failure(response, request).await;
        }
        let text = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        let (session, kind) = (text(SESSION), text(CONTENT_TYPE.as_str()).unwrap_or_default());
        let Some(request) = request else { return Ok(StreamableHttpPostResponse::Accepted) };
        if kind.starts_with(EVENTS) {
            // The last event may have no terminator.
            let end = stream::once(async { Ok(Bytes::from_static(b"\n\n")) });
            let pieces = within(response.bytes_stream(), MAX_STREAM).chain(end);
            let events = self.messages(SseStream::from_bytes_stream(pieces));
            return Ok(StreamableHttpPostResponse::Sse(events.boxed(), session));
        }
        let messages = self.reader.read(&body(response, MAX_MESSAGE).await?, Some(request));
        match <[Value; 1]>::try_from(messages) {
            Ok([message]) => match typed(message) {
                Some(message) => Ok(StreamableHttpPostResponse::Json(message, session)),
                None => Err(no_message(&kind)),
            },
            Err(none) if none.is_empty() => Err(no_message(&kind)),
            Err(several) => {
                let events = several.into_iter().map(|message| Ok(Sse::default().data(message.to_string())));
                Ok(StreamableHttpPostResponse::Sse(stream::iter(events).boxed(), session))
            }
        }
    }

    /// Reads a refusal: a JSON-RPC error for this request, or the server's own text.
    async fn failure(
        &self,
        response: Response,
        request: Option<&RequestId>,
    ) -> Result<StreamableHttpPostResponse, HttpTransportError> {
        let status = response.status();
        let asks = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let words = body(response, MAX_FAILURE).await.unwrap_or_default();
        if let (Some(_), false) = (request, asks) {
            let mut messages = self.reader.read(&words, None);
            let error = messages.pop().filter(|message| message["error"].is_object()).and_then(typed);
            if let Some(error) = error {
                return Ok(StreamableHttpPostResponse::Json(error, None));
            }
        }
        let remedy =
            if asks { ": put a token that it takes into headers (OAuth is not supported)" } else { "" };
        let words = one_line(&String::from_utf8_lossy(&words), 200);
        let said = if words.is_empty() { String::new() } else { format!(" ({words})") };
        Err(unexpected(format!("it answers {status}{remedy}{said}")))
    }

    /// Reads the messages of events, whatever the event names are.
    fn messages(
        &self,
        events: impl Stream<Item = Result<Sse, SseError>> + Send + 'static,
    ) -> impl Stream<Item = Result<Sse, SseError>> + Send + 'static {
        let reader = self.reader.clone();
        events.flat_map(move |event| {
            let spread = match event {
                Ok(event) => spread(&reader, event).into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            };
            stream::iter(spread)
        })
    }
}

/// Splits an event into one event per message. An event without messages stays, because its id may be needed to
/// resume the stream.
fn spread(reader: &LenientReader, event: Sse) -> Vec<Sse> {
    let messages = reader.read(event.data.as_deref().unwrap_or_default().as_bytes(), None);
    let plain = Sse { event: None, data: None, ..event };
    match messages.is_empty() {
        true => vec![plain],
        false => messages.into_iter().map(|message| plain.clone().data(message.to_string())).collect(),
    }
}

fn no_message(kind: &str) -> HttpTransportError {
    unexpected(format!("it answers with what is no message of MCP ({})", one_line(kind, 100)))
}

/// Reads the body of an answer, at most `most` bytes.
async fn body(response: Response, most: usize) -> Result<Vec<u8>, HttpTransportError> {
    let mut pieces = Box::pin(within(response.bytes_stream(), most));
    let mut whole = Vec::new();
    while let Some(piece) = pieces.next().await {
        whole.extend_from_slice(&piece.map_err(StreamableHttpError::Io)?);
    }
    Ok(whole)
}

/// Returns the chunks of a body, and an error once they exceed `most` bytes.
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

fn unexpected(words: String) -> HttpTransportError {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(words))
}
