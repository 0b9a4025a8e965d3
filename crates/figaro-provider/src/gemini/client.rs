//! genai as it is used here: it sends what [`super::wire`] made and cuts the answer into its pieces, which are taken
//! from its frame sink as they came. Its own types for questions and answers lose what Gemini wants back and what an
//! answer rests on, and break on what they do not know.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::poll_fn;
use genai::adapter::AdapterKind;
use genai::chat::{ChatOptions, ChatRequest, ChatStream, RawFrameRef, ReasoningEffort};
use genai::resolver::{AuthData, Endpoint};
use genai::{ModelIden, ServiceTarget};
use parking_lot::Mutex;
use reqwest::header::HeaderValue;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tracing::debug;

use crate::ProviderError;
use crate::http::decode::Values;
use crate::http::idle::Pulse;
use crate::http::{error, json};
use figaro_base::secret::{ExposeSecret, SecretString};

/// The header that carries the key.
const KEY_HEADER: &str = "x-goog-api-key";

/// Gemini at one address with one key.
#[derive(Debug, Clone)]
pub(super) struct GeminiClient {
    http: reqwest::Client,
    /// Ends with a slash.
    base_url: Arc<str>,
    key: SecretString,
}

impl GeminiClient {
    /// `base_url` ends before `/models`.
    pub(super) fn new(http: reqwest::Client, base_url: &str, key: SecretString) -> Self {
        Self { http, base_url: format!("{}/", base_url.trim_end_matches('/')).into(), key }
    }

    /// The pieces of one answer. The pulse beats with each.
    pub(super) async fn ask(&self, model: &str, body: Value, pulse: Pulse) -> Result<Values, ProviderError> {
        self.key_header()?;
        let client = genai::Client::builder().with_reqwest(self.http.clone()).build().map_err(unusable)?;
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(Arc::clone(&self.base_url)),
            auth: AuthData::from_single(self.key.expose_secret()),
            model: ModelIden::new(AdapterKind::Gemini, checked(model)?),
        };
        let heard = Heard::default();
        let sink = heard.clone();
        let options = ChatOptions::default()
            .with_extra_body(body)
            // Else a name that ends like `-high` loses its end. It adds nothing to the body.
            .with_reasoning_effort(ReasoningEffort::Zero)
            .with_raw_frame_fn(move |_, frame| {
                pulse.beat();
                sink.note(frame);
            });
        let answer = client.exec_chat_stream(target, ChatRequest::default(), Some(&options)).await;
        let mut pieces = Pieces { answer: answer.map_err(unusable)?.stream, heard, over: None };
        Ok(poll_fn(move |context| pieces.poll(context)).boxed())
    }

    /// The models that answer questions, by the names they are asked for.
    pub(super) async fn models(&self, limit: Duration) -> Result<Vec<String>, ProviderError> {
        let url = format!("{}models?pageSize=1000", self.base_url);
        let listed: Value = json(self.http.get(url).header(KEY_HEADER, self.key_header()?), limit).await?;
        let models = listed["models"].as_array().map(Vec::as_slice).unwrap_or_default();
        let answers = |model: &&Value| {
            let methods = model["supportedGenerationMethods"].as_array();
            methods.is_some_and(|methods| methods.iter().any(|method| method == "generateContent"))
        };
        let names = models.iter().filter(answers).filter_map(|model| model["name"].as_str());
        Ok(names.map(|name| without_prefix(name).to_owned()).collect())
    }

    /// Calls a method of a model whose answer comes in one piece. What `body` makes gets the model's full name.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        model: &str,
        method: &str,
        body: impl FnOnce(&str) -> Value,
        limit: Duration,
    ) -> Result<T, ProviderError> {
        let name = format!("models/{}", checked(model)?);
        let url = format!("{}{name}:{method}", self.base_url);
        let request = self.http.post(url).header(KEY_HEADER, self.key_header()?).json(&body(&name));
        json(request, limit).await
    }

    fn key_header(&self) -> Result<HeaderValue, ProviderError> {
        let Ok(mut value) = HeaderValue::try_from(self.key.expose_secret()) else {
            let advice = "it holds characters that no key has; copy it again";
            return Err(ProviderError::Unauthorized(advice.into()));
        };
        value.set_sensitive(true);
        Ok(value)
    }
}

/// A name as it may stand in an address.
fn checked(model: &str) -> Result<&str, ProviderError> {
    let name = without_prefix(model);
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    match !name.is_empty() && name.chars().all(fits) {
        true => Ok(name),
        false => Err(ProviderError::UnknownModel("its name holds characters that no model has".into())),
    }
}

/// The name without the prefix `models/`, which the list has and people leave out.
fn without_prefix(model: &str) -> &str {
    model.strip_prefix("models/").unwrap_or(model)
}

/// What the library was heard to receive. Cheap to clone; all clones are one.
#[derive(Debug, Clone, Default)]
struct Heard(Arc<Mutex<Frames>>);

#[derive(Debug, Default)]
struct Frames {
    waiting: VecDeque<Value>,
    /// Whether any event had data.
    any_data: bool,
    /// One had none, as a comment has, or a web page.
    any_empty: bool,
}

impl Heard {
    fn note(&self, frame: RawFrameRef<'_>) {
        let mut frames = self.0.lock();
        frames.any_data |= !frame.data.is_empty();
        frames.any_empty |= frame.data.is_empty();
        match frame.json() {
            Some(value) => frames.waiting.push_back(value),
            None if frame.data.is_empty() => {}
            None => debug!(bytes = frame.data.len(), "an event that is not JSON was ignored"),
        }
    }

    fn next(&self) -> Option<Value> {
        self.0.lock().waiting.pop_front()
    }

    /// Something came, and nothing of it was an event.
    fn is_foreign(&self) -> bool {
        let frames = self.0.lock();
        frames.any_empty && !frames.any_data
    }
}

/// The answer under way.
struct Pieces {
    answer: ChatStream,
    heard: Heard,
    /// It has ended, perhaps with an error that is still to be told.
    over: Option<Option<ProviderError>>,
}

impl Pieces {
    /// The library is asked for its events only so that it goes on; a piece may be none to it.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Value, ProviderError>>> {
        loop {
            if let Some(value) = self.heard.next() {
                return Poll::Ready(Some(Ok(value)));
            }
            if let Some(error) = &mut self.over {
                return Poll::Ready(error.take().map(Err));
            }
            match self.answer.poll_next_unpin(context) {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(error))) => self.over = from_library(error).map(Some),
                Poll::Ready(None) => self.over = Some(self.heard.is_foreign().then(foreign)),
                Poll::Pending => match self.heard.next() {
                    Some(value) => return Poll::Ready(Some(Ok(value))),
                    None => return Poll::Pending,
                },
            }
        }
    }
}

fn foreign() -> ProviderError {
    ProviderError::Foreign("the answer is not an event stream; is the base URL right?".into())
}

/// What the library reports instead of sending.
fn unusable(error: genai::Error) -> ProviderError {
    ProviderError::Refused(error.to_string())
}

/// What the library reports within a stream; nothing if it only could not read a piece that we read ourselves.
fn from_library(error: genai::Error) -> Option<ProviderError> {
    let cause = match error {
        genai::Error::ChatResponse { .. } | genai::Error::StreamParse { .. } => return None,
        genai::Error::WebStream { error, .. } => error,
        other => return Some(unusable(other)),
    };
    let cause = match cause.downcast::<genai::Error>() {
        Ok(refusal) => {
            return Some(match *refusal {
                genai::Error::HttpError { status, body, headers, .. } => {
                    error::from_http(status, &headers, &body)
                }
                other => unusable(other),
            });
        }
        Err(other) => other,
    };
    Some(match cause.downcast::<reqwest::Error>() {
        Ok(error) if error.is_body() || error.is_decode() => {
            ProviderError::Cut("the connection broke".into())
        }
        Ok(error) => error::from_reqwest(&error),
        Err(_) => ProviderError::Cut("the answer is not text".into()),
    })
}
