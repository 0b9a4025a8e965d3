//! async-openai as both of OpenAI's wire formats use it: JSON values in place of its types, which break on what they do
//! not know; our own way to send, which repeats nothing and forgets no status; our own reader of the answer.

use std::sync::Arc;
use std::time::Duration;

use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::Value;
use tracing::info;

use super::http::decode::{Decode, Habits, Values, decoded};
use super::http::idle::Pulse;
use super::http::{Watch, error, json, streamed};
use super::offered::Offered;
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

/// A service at one address, with a key if it wants one.
#[derive(Debug, Clone)]
pub(super) struct OpenAiClient {
    http: reqwest::Client,
    endpoint: Endpoint,
    watch: Watch,
    habits: Habits,
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
        Self { http, endpoint: Endpoint::new(base_url, key), watch, habits: Habits::default() }
    }

    /// Posts a request that offers these tools and returns its answer as a stream of events.
    pub(super) fn stream(
        &self,
        path: Path,
        body: Value,
        decoder: impl Decode,
        offered: Offered,
    ) -> EventStream {
        let client = self.clone();
        self.watch.clone().over(move |pulse| async move {
            let habit = client.habits.of(body["model"].as_str().unwrap_or_default());
            let values = client.ask(path, body, pulse).await?;
            Ok(decoded(values, decoder, habit, offered))
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

    /// Asks, and once more without what the service says that it does not take.
    async fn ask(&self, path: Path, body: Value, pulse: Pulse) -> Result<Values, ProviderError> {
        let mut body = Arc::new(body);
        loop {
            let asked = self.clone().open(path, Body(Arc::clone(&body)), pulse.clone()).await;
            let refused = match &asked {
                Err(ProviderError::Refused(why) | ProviderError::UnknownModel(why)) => refused(why),
                _ => &[],
            };
            if refused.is_empty() {
                return asked;
            }
            let Some(fields) = Arc::make_mut(&mut body).as_object_mut() else { return asked };
            let before = fields.len();
            fields.retain(|field, _| !refused.contains(&field.as_str()));
            if fields.len() == before {
                return asked;
            }
            info!(left_out = ?refused, "a request was refused for what may be left out of it, and is sent without");
        }
    }

    /// The library makes the request and sends it by our own way. The answer is not left to it: its reader of events gives up on
    /// a byte order mark, and repeats or forgets what a refusal says.
    async fn open(self, path: Path, body: Body, pulse: Pulse) -> Result<Values, ProviderError> {
        self.endpoint.check()?;
        let (http, answer) = (self.http.clone(), Arc::new(Mutex::new(None)));
        let taken = Arc::clone(&answer);
        let service = tower::service_fn(move |request: HttpRequestFactory| {
            let (http, taken) = (http.clone(), Arc::clone(&taken));
            async move {
                let response = http.execute(request.build().await?).await?;
                *taken.lock() = Some(response);
                Ok::<_, OpenAIError>(http::Response::new("").into())
            }
        });
        let client = async_openai::Client::build(self.http, self.endpoint).with_http_service(service);
        let sent = match path {
            Path::Responses => client.responses().create_stream_byot::<_, Value>(body).await,
            Path::ChatCompletions => client.chat().create_stream_byot::<_, Value>(body).await,
        };
        sent.map(drop).map_err(from_library)?;
        let answer = answer.lock().take();
        let response = answer.ok_or_else(|| ProviderError::Unavailable("the request was not sent".into()))?;
        streamed(response, pulse).await
    }
}

/// A body as the library takes it, shared with whoever may send it again.
#[derive(Debug)]
struct Body(Arc<Value>);

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Fields that change nothing of an answer.
const DISPENSABLE: [&[&str]; 4] = [&["stream_options"], &["parallel_tool_calls"], &["include"], &["store"]];

/// The fields that a refusal is about and that may be left out: nobody has asked for the option.
fn refused(why: &str) -> &'static [&'static str] {
    const UNKNOWN: [&str; 6] =
        ["unknown", "unrecognized", "unsupported", "not supported", "not permitted", "unexpected"];
    let why = why.to_lowercase();
    let is_named = |fields: &&&[&str]| fields.iter().all(|field| why.contains(field));
    let is_unknown = UNKNOWN.iter().any(|words| why.contains(words));
    DISPENSABLE.iter().find(is_named).filter(|_| is_unknown).copied().unwrap_or_default()
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

/// What the client library reports of a request that it could not send.
fn from_library(error: OpenAIError) -> ProviderError {
    match error {
        OpenAIError::Reqwest(error) => error::from_reqwest(&error),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_refusal_is_about_is_left_out_where_nobody_asked_for_it() {
        let cases: [(&str, &[&str]); 5] = [
            ("Unknown parameter: 'stream_options'.", &["stream_options"]),
            ("Unrecognized request argument supplied: parallel_tool_calls", &["parallel_tool_calls"]),
            ("stream_options is wrong", &[]),
            ("Unknown parameter: 'temperature'", &[]),
            ("model not found", &[]),
        ];
        for (why, expected) in cases {
            assert_eq!(refused(why), expected, "{why}");
        }
    }
}
