//! Offline Tavily on loopback. Returns planned answers and checks every request as the service does, including unknown
//! fields. Serves `figaro demo` with made-up pages and the tests with scripted ones.

mod answer;
#[cfg(feature = "testing")]
mod records;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub use self::answer::TavilyAnswer;
use self::answer::{SearchPage, TavilyBody};
#[cfg(feature = "testing")]
use self::records::SearchLog;
use crate::{Runtime, at_once};

/// Only API key the offline Tavily accepts.
pub const KEY: &str = "tvly-offline-key";

const MAX_BODY_BYTES: usize = 1024 * 1024;
const MAX_QUERY_CHARS: usize = 400;
const MAX_RESULTS: u64 = 20;

const BAD_KEY: &str = "Unauthorized: missing or invalid API key.";

/// Handle of a running offline Tavily. Cheap to clone; the server ends with its runtime.
#[derive(Clone)]
pub struct OfflineTavily(Arc<TavilyState>);

struct TavilyState {
    /// Default answer to a query, if no other is planned.
    answer: fn(&str) -> TavilyAnswer,
    #[cfg(feature = "testing")]
    records: SearchLog,
    url: String,
}

impl OfflineTavily {
    /// Serves on a listener until the runtime stops. `answer` returns the answer to a query without a planned one.
    ///
    /// # Errors
    /// The listener has no address.
    pub fn start(
        listener: TcpListener,
        answer: fn(&str) -> TavilyAnswer,
        runtime: &Runtime,
    ) -> std::io::Result<Self> {
        let url = format!("http://{}", listener.local_addr()?);
        let tavily = Self(Arc::new(TavilyState {
            answer,
            #[cfg(feature = "testing")]
            records: SearchLog::default(),
            url,
        }));
        let app = Router::new().fallback(respond).with_state(tavily.clone());
        let (stopped, stopping) = (runtime.clone(), runtime.clone());
        runtime.spawn("offline Tavily", async move {
            let stop = async move { stopped.stopping().await };
            let serving = axum::serve(at_once(listener), app).with_graceful_shutdown(stop).into_future();
            // A delayed answer does not delay the shutdown.
            tokio::select! {
                served = serving => if let Err(error) = served {
                    tracing::error!(%error, "the offline Tavily stopped serving");
                },
                () = stopping.stopping() => {}
            }
        });
        Ok(tavily)
    }

    /// Returns the base address, like `http://127.0.0.1:4711`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.0.url
    }

    fn answer(&self, query: &str) -> TavilyAnswer {
        #[cfg(feature = "testing")]
        if let Some(planned) = self.0.records.next(query) {
            return planned;
        }
        (self.0.answer)(query)
    }
}

#[cfg(feature = "testing")]
impl OfflineTavily {
    /// Adds a one-time answer to the end of the queue.
    pub fn push(&self, answer: TavilyAnswer) {
        self.0.records.plan(answer);
    }

    /// Sets the answer to queries without a planned one. The function receives the query.
    pub fn otherwise(&self, answer: fn(&str) -> TavilyAnswer) {
        self.0.records.plan_otherwise(answer);
    }

    /// Returns the queries of the valid requests so far.
    #[must_use]
    pub fn queries(&self) -> Vec<String> {
        self.0.records.queries()
    }

    /// Returns the number of unused answers in the queue.
    #[must_use]
    pub fn left(&self) -> usize {
        self.0.records.left()
    }

    /// Returns the violations found in requests. A test asserts that there are none. A wrong API key is no violation.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.0.records.violations()
    }
}

impl fmt::Debug for OfflineTavily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OfflineTavily").field(&self.0.url).finish()
    }
}

/// Typical duration of a web search. An instant answer would hide the bot's search status.
const SEARCH_TIME: Duration = Duration::from_millis(1200);

/// Returns made-up pages for the demo, marked as such, after the typical duration of a search.
#[must_use]
pub fn made_up(query: &str) -> TavilyAnswer {
    let slug: String = query.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    let about = format!("All about {query} (made up)");
    let doubts = format!("Ten doubts about {query} (made up)");
    let address = |page: &str| format!("https://example.com/{page}/{slug}");
    let (first, second) = (address("all"), address("doubts"));
    let content = "This page is made up: the demo has no network and searches nothing.";
    TavilyAnswer::pages(&[(&about, &first, content), (&doubts, &second, content)]).after(SEARCH_TIME)
}

async fn respond(State(tavily): State<OfflineTavily>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, MAX_BODY_BYTES).await.unwrap_or_default();
    let checked = reached(&parts.method, parts.uri.path())
        .and_then(|()| identified(&parts.headers))
        .and_then(|()| read(&parts.headers, &body));
    match checked {
        Ok(asked) => {
            let answer = tavily.answer(&asked.query);
            tokio::time::sleep(answer.after).await;
            #[cfg(feature = "testing")]
            if let Some(gate) = &answer.gate {
                gate.opened().await;
            }
            written(&answer, &asked)
        }
        Err(TavilyError { status, message }) => {
            // A wrong key can happen to anyone; a missing key is a fault of the bot.
            #[cfg(feature = "testing")]
            if status != StatusCode::UNAUTHORIZED || key(&parts.headers).is_none_or(str::is_empty) {
                tavily.0.records.add_violation(&message);
            }
            (status, Json(json!({"detail": {"error": message}}))).into_response()
        }
    }
}

/// Status and message of an error response.
struct TavilyError {
    status: StatusCode,
    message: String,
}

impl TavilyError {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }
}

fn reached(method: &Method, path: &str) -> Result<(), TavilyError> {
    match (path, method) {
        ("/search", &Method::POST) => Ok(()),
        ("/search", _) => Err(TavilyError::new(StatusCode::METHOD_NOT_ALLOWED, format!("{method} /search"))),
        _ => Err(TavilyError::new(StatusCode::NOT_FOUND, format!("there is no {method} {path}"))),
    }
}

fn identified(headers: &HeaderMap) -> Result<(), TavilyError> {
    match key(headers) {
        Some(KEY) => Ok(()),
        _ => Err(TavilyError::new(StatusCode::UNAUTHORIZED, BAD_KEY)),
    }
}

fn key(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

struct SearchRequest {
    query: String,
    most: usize,
}

fn read(headers: &HeaderMap, body: &Bytes) -> Result<SearchRequest, TavilyError> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if kind.is_none_or(|kind| !kind.starts_with("application/json")) {
        return Err(TavilyError::new(StatusCode::UNPROCESSABLE_ENTITY, "the body is not said to be JSON"));
    }
    let body: Value = serde_json::from_slice(body)
        .map_err(|error| TavilyError::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()))?;
    let Some(fields) = body.as_object() else {
        return Err(TavilyError::new(StatusCode::UNPROCESSABLE_ENTITY, "the body is no object"));
    };
    for (name, value) in fields {
        fits(name, value).map_err(|why| TavilyError::new(StatusCode::BAD_REQUEST, why))?;
    }
    let query = body["query"].as_str().map(ToOwned::to_owned);
    let query =
        query.ok_or_else(|| TavilyError::new(StatusCode::UNPROCESSABLE_ENTITY, "query: Field required"))?;
    let most = body["max_results"].as_u64().unwrap_or(5);
    Ok(SearchRequest { query, most: usize::try_from(most).unwrap_or(usize::MAX) })
}

/// Checks that a field belongs to the API, may be used by the bot, and has a valid value.
fn fits(name: &str, value: &Value) -> Result<(), String> {
    let is_word = |words: &[&str]| value.as_str().is_some_and(|word| words.contains(&word));
    let good = match name {
        "query" => return value.as_str().map_or_else(|| Err("query: not a string".to_owned()), fits_query),
        "max_results" => value.as_u64().is_some_and(|count| count <= MAX_RESULTS),
        "search_depth" => is_word(&["basic", "advanced", "fast", "ultra-fast"]),
        "topic" => is_word(&["general", "news", "finance"]),
        "time_range" => value.is_null() || is_word(&["day", "week", "month", "year", "d", "w", "m", "y"]),
        "include_answer" => value.is_boolean() || is_word(&["basic", "advanced"]),
        "include_raw_content" => value.is_boolean() || is_word(&["markdown", "text"]),
        "include_images" | "include_image_descriptions" | "include_favicon" | "include_usage" => {
            value.is_boolean()
        }
        _ => return Err(format!("there is no field {name}")),
    };
    good.then_some(()).ok_or_else(|| format!("{name} does not take {value}"))
}

fn fits_query(query: &str) -> Result<(), String> {
    match query.chars().count() {
        0 => Err("Query is missing.".to_owned()),
        count if count > MAX_QUERY_CHARS => {
            Err(format!("Query is too long. Max query length is {MAX_QUERY_CHARS} characters."))
        }
        _ => Ok(()),
    }
}

fn written(answer: &TavilyAnswer, asked: &SearchRequest) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = match &answer.body {
        TavilyBody::Raw(bytes) => bytes.clone(),
        TavilyBody::Pages(pages) => found(pages, asked).to_string().into_bytes(),
    };
    let mut response = (status, [(header::CONTENT_TYPE, "application/json")], body).into_response();
    if let Some(seconds) = answer.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

fn found(pages: &[SearchPage], asked: &SearchRequest) -> Value {
    let results = pages.iter().take(asked.most).map(|SearchPage { title, url, content }| {
        json!({"title": title, "url": url, "content": content, "score": 0.81, "raw_content": null})
    });
    json!({
        "query": asked.query, "follow_up_questions": null, "answer": null, "images": [],
        "results": results.collect::<Vec<_>>(), "response_time": 0.42,
        "request_id": "123e4567-e89b-12d3-a456-426614174111",
    })
}
