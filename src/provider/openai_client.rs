//! async-openai as both of OpenAI's wire formats use it: JSON values in place of its types, which break on what they do
//! not know; our own way to send, which repeats nothing and forgets no status.

use std::time::Duration;

use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use async_openai::types::stream::StreamResponse;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, future};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;
use tracing::debug;

use super::http::decode::{Decode, Values, decoded};
use super::http::idle::Pulse;
use super::http::{Watch, error, json};
use super::{EventStream, ProviderError};
use crate::secret::{ExposeSecret, Redactor, SecretString};

/// One of OpenAI's ways to ask for an answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Path {
    /// `POST /responses`.
    Responses,
    /// `POST /chat/completions`.
    ChatCompletions,
}

/// A service at one address with one key.
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
        key: SecretString,
        idle_limit: Duration,
    ) -> Self {
        let watch = Watch { redactor: Redactor::new([&key]), idle_limit };
        Self { http, endpoint: Endpoint::new(base_url, key), watch }
    }

    /// One streamed answer.
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
            let request = client.http.get(client.endpoint.url("/models")).headers(client.endpoint.headers());
            let listed = json(request, client.watch.idle_limit).await;
            let listed = listed.map_err(|error| error::presentable(error, &client.watch.redactor))?;
            let models = listed["data"].as_array().map(Vec::as_slice).unwrap_or_default();
            Ok(models.iter().filter_map(|model| model["id"].as_str().map(ToOwned::to_owned)).collect())
        }
        .boxed()
    }

    async fn open(self, path: Path, body: Value, pulse: Pulse) -> Result<Values, ProviderError> {
        if self.endpoint.headers.is_empty() {
            let advice = "it holds characters that no key has; copy it again";
            return Err(ProviderError::Unauthorized(advice.into()));
        }
        let http = self.http.clone();
        let service =
            tower::service_fn(move |request: HttpRequestFactory| send(http.clone(), request, pulse.clone()));
        let client = async_openai::Client::build(self.http, self.endpoint).with_http_service(service);
        let opened = match path {
            Path::Responses => client.responses().create_stream_byot(body).await,
            Path::ChatCompletions => client.chat().create_stream_byot(body).await,
        };
        opened.map(values).map_err(from_library)
    }
}

/// The events of a stream as values; what is no JSON is passed over.
fn values(events: StreamResponse<Value>) -> Values {
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
    known.boxed()
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
        return Err(known(error::refusal(response).await));
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
