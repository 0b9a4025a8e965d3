//! OpenAI's Responses API, and servers that speak it. One call is one streamed `POST /responses` through async-openai,
//! with JSON values in place of its types, which break on what they do not know. Built by the composition root.

mod decoder;
mod error;
pub mod idle;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::VecDeque;
use std::time::Duration;

use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use async_openai::types::stream::StreamResponse;
use futures::{StreamExt, stream};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;
use tracing::debug;

use self::decoder::Decoder;
use self::idle::{Pulse, with_idle_timeout};
use super::{Event, EventStream, Provider, ProviderError, Request};
use crate::secret::{ExposeSecret, Redactor, SecretString};

/// The provider's name in `provider:model` and in the private parts of its answers.
const NAME: &str = "openai";

/// The most bytes of an error's body that are read.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// The Responses API at one address with one key.
#[derive(Debug, Clone)]
pub struct OpenAiResponses {
    http: reqwest::Client,
    endpoint: Endpoint,
    redactor: Redactor,
    idle_limit: Duration,
}

impl OpenAiResponses {
    /// `base_url` ends before `/responses`. The client must bound the time to connect, and no call as a whole. A
    /// provider that is silent for `idle_limit` has stalled.
    #[must_use]
    pub fn new(http: reqwest::Client, base_url: &str, key: SecretString, idle_limit: Duration) -> Self {
        let redactor = Redactor::new([&key]);
        Self { http, endpoint: Endpoint::new(base_url, key), redactor, idle_limit }
    }

    async fn begin(self, request: Request) -> EventStream {
        let (redactor, idle_limit, pulse) = (self.redactor.clone(), self.idle_limit, Pulse::start());
        let heard = pulse.clone();
        let answer = stream::once(async move {
            match self.open(&request, heard).await {
                Ok(values) => Decoding::new(values).events(),
                Err(error) => stream::iter([Err(error)]).boxed(),
            }
        });
        with_idle_timeout(answer.flatten().boxed(), pulse, idle_limit)
            .map(move |event| event.map_err(|error| error::presentable(error, &redactor)))
            .boxed()
    }

    async fn open(self, request: &Request, pulse: Pulse) -> Result<StreamResponse<Value>, ProviderError> {
        if self.endpoint.headers.is_empty() {
            let advice = "it holds characters that no key has; copy it again";
            return Err(ProviderError::Unauthorized(advice.into()));
        }
        let http = self.http.clone();
        let service =
            tower::service_fn(move |request: HttpRequestFactory| send(http.clone(), request, pulse.clone()));
        let client = async_openai::Client::build(self.http, self.endpoint).with_http_service(service);
        client.responses().create_stream_byot(wire::body(request)).await.map_err(error::from_library)
    }
}

impl Provider for OpenAiResponses {
    fn name(&self) -> &'static str {
        NAME
    }

    fn stream(&self, request: Request) -> EventStream {
        stream::once(self.clone().begin(request)).flatten().boxed()
    }
}

/// Where calls go. In place of async-openai's own configuration, which reads the environment and panics on a key with
/// a line break.
#[derive(Debug, Clone)]
struct Endpoint {
    base_url: String,
    key: SecretString,
    /// Empty if no header can carry the key.
    headers: HeaderMap,
}

impl Endpoint {
    fn new(base_url: &str, key: SecretString) -> Self {
        let mut headers = HeaderMap::new();
        if let Ok(mut value) = HeaderValue::try_from(format!("Bearer {}", key.expose_secret())) {
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Self { base_url: base_url.trim_end_matches('/').to_owned(), key, headers }
    }
}

impl Config for Endpoint {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
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
    pulse: Pulse,
) -> Result<reqwest::Response, OpenAIError> {
    let response = http.execute(request.build().await?).await?;
    pulse.beat();
    if !response.status().is_success() {
        return Err(known(refusal(response).await));
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("text/html") || kind.starts_with("application/json") {
        let advice = format!("the answer is {kind}, not an event stream; is the base URL right?");
        return Err(known(ProviderError::Refused(advice)));
    }
    let bytes = response.bytes_stream().inspect(move |_| pulse.beat());
    Ok(http::Response::new(reqwest::Body::wrap_stream(bytes)).into())
}

fn known(error: ProviderError) -> OpenAIError {
    OpenAIError::Boxed(Box::new(error))
}

/// The status counts even if the body is long, late or broken.
async fn refusal(mut response: reqwest::Response) -> ProviderError {
    let mut body = Vec::new();
    while body.len() < MAX_ERROR_BYTES
        && let Ok(Some(chunk)) = response.chunk().await
    {
        body.extend_from_slice(&chunk);
    }
    error::from_http(response.status(), response.headers(), &String::from_utf8_lossy(&body))
}

/// An answer on its way through the decoder.
struct Decoding {
    values: StreamResponse<Value>,
    decoder: Decoder,
    ready: VecDeque<Result<Event, ProviderError>>,
    ended: bool,
}

impl Decoding {
    fn new(values: StreamResponse<Value>) -> Self {
        Self { values, decoder: Decoder::default(), ready: VecDeque::new(), ended: false }
    }

    fn events(self) -> EventStream {
        stream::unfold(self, Self::next).boxed()
    }

    async fn next(mut self) -> Option<(Result<Event, ProviderError>, Self)> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.ended |= matches!(event, Err(_) | Ok(Event::Completed { .. }));
                return Some((event, self));
            }
            if self.ended {
                return None;
            }
            let value = self.values.next().await;
            self.absorb(value);
        }
    }

    fn absorb(&mut self, value: Option<Result<Value, OpenAIError>>) {
        match value {
            Some(Ok(value)) => match self.decoder.absorb(&value) {
                Ok(events) => self.ready.extend(events.into_iter().map(Ok)),
                Err(error) => self.ready.push_back(Err(error)),
            },
            Some(Err(OpenAIError::JSONDeserialize(_, content))) => {
                debug!(bytes = content.len(), "an event that is not JSON was ignored");
            }
            Some(Err(error)) => self.ready.push_back(Err(error::from_library(error))),
            None => self.ready.push_back(Err(ProviderError::Cut("the stream ended early".into()))),
        }
    }
}
