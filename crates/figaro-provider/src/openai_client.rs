//! Shared use of async-openai by both of OpenAI's wire formats. JSON values replace its types, which fail on unknown
//! values. Our own sending neither repeats requests nor loses a status, and the answer is read by our own reader.

use std::sync::Arc;
use std::time::Duration;

use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use reqwest::RequestBuilder;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::multipart::Form;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;
use tracing::info;

use super::http::decode::{Decode, Habits, ValueStream, decoded};
use super::http::idle::Pulse;
use super::http::{CallWatch, bytes, error, json, read, streamed};
use super::offered::Offered;
use super::request::ToolSpec;
use super::{EventStream, ProviderError};
use figaro_base::secret::{ExposeSecret, Redactor, SecretString};
use figaro_domain::source::Source;

/// Minimum time for an answer that takes a service longer than words do: what is heard, spoken or drawn.
const SLOW_LIMIT: Duration = Duration::from_secs(180);

#[derive(Debug, Clone, Copy)]
pub(super) enum OpenAiEndpoint {
    /// `POST /responses`.
    Responses,
    /// `POST /chat/completions`.
    ChatCompletions,
}

/// Service at one address, with a key if it needs one.
#[derive(Debug, Clone)]
pub(super) struct OpenAiClient {
    http: reqwest::Client,
    endpoint: Endpoint,
    watch: CallWatch,
    habits: Habits,
}

impl OpenAiClient {
    /// Creates a client. `base_url` ends before the path. `http` must limit the time to connect, but no call as a
    /// whole.
    pub(super) fn new(
        http: reqwest::Client,
        base_url: &str,
        key: Option<SecretString>,
        idle_limit: Duration,
    ) -> Self {
        let watch = CallWatch { redactor: Redactor::new(&key), idle_limit };
        Self { http, endpoint: Endpoint::new(base_url, key), watch, habits: Habits::default() }
    }

    /// Posts a request that offers these tools. Returns its answer as a stream of events.
    pub(super) fn stream(
        &self,
        path: OpenAiEndpoint,
        body: impl Into<OpenAiBody>,
        decoder: impl Decode,
        offered: Offered,
    ) -> EventStream {
        let (client, body) = (self.clone(), body.into());
        self.watch.clone().over(move |pulse| async move {
            let habit = client.habits.of(body.fields["model"].as_str().unwrap_or_default());
            let values = client.ask(path, body, pulse).await?;
            Ok(decoded(values, decoder, habit, offered))
        })
    }

    /// Lists the served models: `GET /models`.
    pub(super) fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        let client = self.clone();
        async move {
            client.endpoint.check()?;
            let request = client.http.get(client.endpoint.url("/models")).headers(client.endpoint.headers());
            let listed = json::<Value>(request, client.watch.idle_limit).await;
            let listed = listed.map_err(|error| error::presentable(error, &client.watch.redactor))?;
            // Some servers return the bare list.
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
        let answer = json(self.request(path)?.json(body), self.watch.idle_limit).await;
        answer.map_err(|error| error::presentable(error, &self.watch.redactor))
    }

    /// Like [`Self::post`], for an answer that takes some time.
    pub(super) async fn post_slow<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, ProviderError> {
        read(&self.post_for_bytes(path, body).await?)
    }

    /// Like [`Self::post_slow`], for an answer of any kind.
    pub(super) async fn post_for_bytes(&self, path: &str, body: &Value) -> Result<Vec<u8>, ProviderError> {
        let answer = bytes(self.request(path)?.json(body), self.watch.idle_limit.max(SLOW_LIMIT)).await;
        answer.map_err(|error| error::presentable(error, &self.watch.redactor))
    }

    /// Posts a form whose answer comes in one piece. A server may take some time to read a file.
    pub(super) async fn post_form<T: DeserializeOwned>(
        &self,
        path: &str,
        form: Form,
    ) -> Result<T, ProviderError> {
        let answer = json(self.request(path)?.multipart(form), self.watch.idle_limit.max(SLOW_LIMIT)).await;
        answer.map_err(|error| error::presentable(error, &self.watch.redactor))
    }

    /// Begins a request without a body.
    fn request(&self, path: &str) -> Result<RequestBuilder, ProviderError> {
        self.endpoint.check()?;
        Ok(self.http.post(self.endpoint.url(path)).headers(self.endpoint.headers()))
    }

    /// Sends a request, and once more without the fields that the service refuses.
    async fn ask(
        &self,
        path: OpenAiEndpoint,
        body: OpenAiBody,
        pulse: Pulse,
    ) -> Result<ValueStream, ProviderError> {
        let mut body = Arc::new(body);
        loop {
            let asked = self.clone().open(path, SharedBody(Arc::clone(&body)), pulse.clone()).await;
            let refused = match &asked {
                Err(ProviderError::Refused(why) | ProviderError::UnknownModel(why)) => refused(why),
                _ => &[],
            };
            if refused.is_empty() {
                return asked;
            }
            let Some(fields) = Arc::make_mut(&mut body).fields.as_object_mut() else { return asked };
            let before = fields.len();
            fields.retain(|field, _| !refused.contains(&field.as_str()));
            if fields.len() == before {
                return asked;
            }
            info!(left_out = ?refused, "a request was refused for what may be left out of it, and is sent without");
        }
    }

    /// Sends a request built by the library in our own way. The library does not read the answer: its event reader
    /// fails on a byte order mark, and repeats or loses refusals.
    async fn open(
        self,
        path: OpenAiEndpoint,
        body: SharedBody,
        pulse: Pulse,
    ) -> Result<ValueStream, ProviderError> {
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
            OpenAiEndpoint::Responses => client.responses().create_stream_byot::<_, Value>(body).await,
            OpenAiEndpoint::ChatCompletions => client.chat().create_stream_byot::<_, Value>(body).await,
        };
        sent.map(drop).map_err(from_library)?;
        let answer = answer.lock().take();
        let response = answer.ok_or_else(|| ProviderError::Unavailable("the request was not sent".into()))?;
        streamed(response, pulse).await
    }
}

/// Body of a request.
#[derive(Debug, Clone)]
pub(super) struct OpenAiBody {
    /// Object of all fields but `tools`.
    pub(super) fields: Value,
    /// Functions of the field `tools`, written as Chat Completions has them.
    pub(super) tools: Vec<Arc<ToolSpec>>,
}

impl From<Value> for OpenAiBody {
    fn from(fields: Value) -> Self {
        Self { fields, tools: Vec::new() }
    }
}

impl Serialize for OpenAiBody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct FunctionTool<'a> {
            r#type: &'static str,
            function: &'a ToolSpec,
        }
        let mut fields = self.fields.as_object().into_iter().flatten();
        let mut body = serializer.serialize_map(None)?;
        fields.try_for_each(|(name, value)| body.serialize_entry(name, value))?;
        if !self.tools.is_empty() {
            let tools = self.tools.iter().map(|tool| FunctionTool { r#type: "function", function: tool });
            body.serialize_entry("tools", &tools.collect::<Vec<_>>())?;
        }
        body.end()
    }
}

/// Body as the library takes it, shared for another attempt.
#[derive(Debug)]
struct SharedBody(Arc<OpenAiBody>);

impl Serialize for SharedBody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Fields that do not change the answer.
const DISPENSABLE: [&[&str]; 4] = [&["stream_options"], &["parallel_tool_calls"], &["include"], &["store"]];

/// Returns the fields that a refusal is about, if nobody asked for them and they can be left out.
fn refused(why: &str) -> &'static [&'static str] {
    const UNKNOWN: [&str; 6] =
        ["unknown", "unrecognized", "unsupported", "not supported", "not permitted", "unexpected"];
    let why = why.to_lowercase();
    let is_named = |fields: &&&[&str]| fields.iter().all(|field| why.contains(field));
    let is_unknown = UNKNOWN.iter().any(|words| why.contains(words));
    DISPENSABLE.iter().find(is_named).filter(|_| is_unknown).copied().unwrap_or_default()
}

/// Returns a cited page. The two formats put it in different places.
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

/// Converts an error of the library for a request that could not be sent.
fn from_library(error: OpenAIError) -> ProviderError {
    match error {
        OpenAIError::Reqwest(error) => error::from_reqwest(&error),
        other => ProviderError::Refused(other.to_string()),
    }
}

/// Endpoint of calls. Replaces async-openai's configuration, which reads the environment and panics on a key with a
/// line break.
#[derive(Debug, Clone)]
struct Endpoint {
    base_url: String,
    /// Empty for a service without keys.
    key: SecretString,
    /// Headers with the key; `None` if no header can carry it.
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
