//! async-openai as both of OpenAI's wire formats use it: JSON values in place of its types, which break on what they do
//! not know; our own way to send, which repeats nothing and forgets no status.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use async_openai::types::stream::StreamResponse;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, future, stream};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tracing::debug;

use super::http::decode::{Decode, Values, decoded};
use super::http::idle::Pulse;
use super::http::{Watch, error, json};
use super::{EventStream, ProviderError};
use figaro_base::secret::{ExposeSecret, Redactor, SecretString};
use figaro_domain::source::Source;

/// One of OpenAI's ways to ask for an answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Path {
    /// `POST /responses`.
    Responses,
    /// `POST /chat/completions`.
    ChatCompletions,
}

/// The last value of a stream that ends with `data: [DONE]`; the library itself keeps silent about it.
pub(super) const DONE: &str = "[DONE]";

/// The longest event that is taken: it holds a whole answer at most, and memory is not the provider's to fill.
const MAX_EVENT_BYTES: usize = 4 * 1024 * 1024;

/// The line that says so, as most write it.
const DONE_LINE: &[u8] = b"data: [DONE]";

/// A service at one address, with a key if it wants one.
#[derive(Debug, Clone)]
pub(super) struct OpenAiClient {
    http: reqwest::Client,
    endpoint: Endpoint,
    watch: Watch,
}

impl OpenAiClient {
    /// `base_url` ends before the path. The client must bound the time to connect, and no call as a whole.
    pub(super) fn new(
        http: reqwest::Client,
        base_url: &str,
        key: Option<SecretString>,
        idle_limit: Duration,
    ) -> Self {
        let watch = Watch { redactor: Redactor::new(&key), idle_limit };
        Self { http, endpoint: Endpoint::new(base_url, key), watch }
    }

    /// Posts a request and returns its answer as a stream of events.
    pub(super) fn stream(&self, path: Path, body: Value, decoder: impl Decode) -> EventStream {
        let client = self.clone();
        self.watch.clone().over(move |pulse| async move {
            let values = client.open(path, body, pulse).await?;
            Ok(decoded(values, decoder))
        })
    }

    /// The models that are served: `GET /models`.
    pub(super) fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        let client = self.clone();
        async move {
            client.endpoint.check()?;
            let request = client.http.get(client.endpoint.url("/models")).headers(client.endpoint.headers());
            let listed = json::<Value>(request, client.watch.idle_limit).await;
            let listed = listed.map_err(|error| error::presentable(error, &client.watch.redactor))?;
            // Some have the bare list.
            let models =
                listed["data"].as_array().or(listed.as_array()).map(Vec::as_slice).unwrap_or_default();
            Ok(models.iter().filter_map(|model| model["id"].as_str().map(ToOwned::to_owned)).collect())
        }
        .boxed()
    }

    /// Posts a request whose answer comes in one piece.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, ProviderError> {
        self.endpoint.check()?;
        let request = self.http.post(self.endpoint.url(path)).headers(self.endpoint.headers()).json(body);
        let answer = json(request, self.watch.idle_limit).await;
        answer.map_err(|error| error::presentable(error, &self.watch.redactor))
    }

    async fn open(self, path: Path, body: Value, pulse: Pulse) -> Result<Values, ProviderError> {
        self.endpoint.check()?;
        let http = self.http.clone();
        let done = Arc::new(AtomicBool::new(false));
        let heard = Heard { pulse, done: done.clone() };
        let service =
            tower::service_fn(move |request: HttpRequestFactory| send(http.clone(), request, heard.clone()));
        let client = async_openai::Client::build(self.http, self.endpoint).with_http_service(service);
        let opened = match path {
            Path::Responses => client.responses().create_stream_byot(body).await,
            Path::ChatCompletions => client.chat().create_stream_byot(body).await,
        };
        opened.map(|events| values(events, done)).map_err(from_library)
    }
}

/// A page that an answer cites; the two formats differ in where they put it.
pub(super) fn cited(annotation: &Value) -> Option<Source> {
    if annotation["type"] != "url_citation" {
        return None;
    }
    let nested = &annotation["url_citation"];
    let page = if nested.is_object() { nested } else { annotation };
    let url = page["url"].as_str().filter(|url| !url.is_empty())?;
    let title = page["title"].as_str().map(str::trim).filter(|title| !title.is_empty());
    Some(Source { title: title.unwrap_or(url).to_owned(), url: url.to_owned() })
}

/// The events of a stream as values; what is no JSON is passed over.
fn values(events: StreamResponse<Value>, done: Arc<AtomicBool>) -> Values {
    let known = events.filter_map(|event| {
        future::ready(match event {
            Ok(value) => Some(Ok(value)),
            Err(OpenAIError::JSONDeserialize(_, content)) => {
                debug!(bytes = content.len(), "an event that is not JSON was ignored");
                None
            }
            Err(error) => Some(Err(from_library(error))),
        })
    });
    let last = stream::once(async move { done.load(Ordering::Acquire).then(|| Ok(Value::from(DONE))) });
    known.chain(last.filter_map(future::ready)).boxed()
}

/// What the client library reports before or within a stream.
fn from_library(error: OpenAIError) -> ProviderError {
    match error {
        OpenAIError::Boxed(inner) => match inner.downcast::<ProviderError>() {
            Ok(known) => *known,
            Err(other) => ProviderError::Unavailable(other.to_string()),
        },
        OpenAIError::Reqwest(error) => error::from_reqwest(&error),
        // Its text may quote the answer.
        OpenAIError::StreamError(_) => ProviderError::Cut("the connection broke".into()),
        other => ProviderError::Refused(other.to_string()),
    }
}

/// Where calls go. In place of async-openai's own configuration, which reads the environment and panics on a key with
/// a line break.
#[derive(Debug, Clone)]
struct Endpoint {
    base_url: String,
    /// Empty for a service that wants none.
    key: SecretString,
    /// What shows the key; `None` if no header can carry it.
    headers: Option<HeaderMap>,
}

impl Endpoint {
    fn new(base_url: &str, key: Option<SecretString>) -> Self {
        let headers = key.as_ref().map_or_else(|| Some(HeaderMap::new()), bearer);
        Self { base_url: base_url.trim_end_matches('/').to_owned(), key: key.unwrap_or_default(), headers }
    }

    fn check(&self) -> Result<(), ProviderError> {
        let advice = "it holds characters that no key has; copy it again";
        self.headers.as_ref().map(drop).ok_or_else(|| ProviderError::Unauthorized(advice.into()))
    }
}

fn bearer(key: &SecretString) -> Option<HeaderMap> {
    let mut value = HeaderValue::try_from(format!("Bearer {}", key.expose_secret())).ok()?;
    value.set_sensitive(true);
    Some(HeaderMap::from_iter([(AUTHORIZATION, value)]))
}

impl Config for Endpoint {
    fn headers(&self) -> HeaderMap {
        self.headers.clone().unwrap_or_default()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn api_base(&self) -> &str {
        &self.base_url
    }

    fn api_key(&self) -> &SecretString {
        &self.key
    }
}

/// Sends a request once. The library's own way repeats it by itself and forgets the status.
async fn send(
    http: reqwest::Client,
    request: HttpRequestFactory,
    mut heard: Heard,
) -> Result<reqwest::Response, OpenAIError> {
    let response = http.execute(request.build().await?).await?;
    heard.pulse.beat();
    if !response.status().is_success() {
        return Err(known(error::refusal(response).await));
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("text/html") || kind.starts_with("application/json") {
        let advice = format!("the answer is {kind}, not an event stream; is the base URL right?");
        return Err(known(ProviderError::Foreign(advice)));
    }
    let mut place = Place::default();
    let bytes = response.bytes_stream().map(move |bytes| {
        heard.pulse.beat();
        let bytes = bytes.map_err(io::Error::other)?;
        heard.note(&mut place, &bytes);
        match place.event_bytes > MAX_EVENT_BYTES {
            true => Err(io::Error::other("an event of the answer is too long")),
            false => Ok(bytes),
        }
    });
    Ok(http::Response::new(reqwest::Body::wrap_stream(bytes)).into())
}

/// What the bytes of an answer tell beside its events.
#[derive(Debug, Clone)]
struct Heard {
    pulse: Pulse,
    /// The stream said that it is done.
    done: Arc<AtomicBool>,
}

impl Heard {
    /// Looks for a line that says so. Words of the model cannot be taken for it: within JSON there is no line end.
    fn note(&mut self, place: &mut Place, bytes: &[u8]) {
        for byte in bytes {
            if let Some(line) = place.pass(*byte)
                && (line == DONE_LINE || line == b"data:[DONE]")
            {
                self.done.store(true, Ordering::Release);
            }
        }
    }
}

/// Where in a stream of events one is.
#[derive(Debug, Default)]
struct Place {
    /// The beginning of the line, as far as it matters.
    line: Vec<u8>,
    /// The bytes of the event so far. An empty line ends one.
    event_bytes: usize,
    /// The last byte was a carriage return: a line feed behind it ends no further line.
    after_return: bool,
}

impl Place {
    /// Goes on by a byte; gives the line that it ends.
    fn pass(&mut self, byte: u8) -> Option<Vec<u8>> {
        self.event_bytes += 1;
        if std::mem::replace(&mut self.after_return, byte == b'\r') && byte == b'\n' {
            return None;
        }
        if !matches!(byte, b'\n' | b'\r') {
            if self.line.len() <= DONE_LINE.len() {
                self.line.push(byte);
            }
            return None;
        }
        if self.line.is_empty() {
            self.event_bytes = 0;
        }
        Some(std::mem::take(&mut self.line))
    }
}

fn known(error: ProviderError) -> OpenAIError {
    OpenAIError::Boxed(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_ends_with_an_empty_line_however_lines_end_and_wherever_pieces_do() {
        let cases: [(&[&str], usize, bool); 7] = [
            (&["data: 1\n\n", "data: 22\n"], 9, false),
            (&["data: 1\n", "\n", "da"], 2, false),
            (&["data: 1\r\n\r", "\nda"], 3, false),
            (&["data: 1\r\n", "data: 2\r\n"], 18, false),
            (&["data: 1\r\rda"], 2, false),
            (&["data: [DO", "NE]\n\n"], 0, true),
            (&["data: \"data: [DONE]\"\n\n"], 0, false),
        ];
        for (pieces, event_bytes, is_done) in cases {
            let mut heard = Heard { pulse: Pulse::start(), done: Arc::default() };
            let mut place = Place::default();
            pieces.iter().for_each(|piece| heard.note(&mut place, piece.as_bytes()));
            assert_eq!(place.event_bytes, event_bytes, "{pieces:?}");
            assert_eq!(heard.done.load(Ordering::Acquire), is_done, "{pieces:?}");
        }
    }
}
