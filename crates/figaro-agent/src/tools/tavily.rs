//! Tavily, a web search service for programs. API: <https://docs.tavily.com/documentation/api-reference/endpoint/search>.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::ToolContext;
use super::web::{Hit, MAX_HITS, SearchError, WebSearch, WebSearchResult};
use figaro_base::secret::{ExposeSecret, Redactor, SecretString};
use figaro_base::text::one_line;

/// Timeout of a search, including the second try.
const LIMIT: Duration = Duration::from_secs(20);
/// Pause before the second try, unless the service asks for another.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum pause before the second try. If the service asks for more, there is none.
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// Maximum size of a response. Five excerpts take a few kilobytes.
const MAX_BODY_BYTES: usize = 1024 * 1024;
/// Maximum length of a quoted error message, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// Web search through the Tavily API.
pub struct Tavily {
    http: reqwest::Client,
    url: String,
    key: SecretString,
    redactor: Redactor,
    limit: Duration,
}

impl fmt::Debug for Tavily {
    /// Omits the address, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tavily")
    }
}

impl Tavily {
    /// Makes a client. `base_url` ends before the path. `http` must have a connect timeout.
    #[must_use]
    pub fn new(http: reqwest::Client, base_url: &str, key: SecretString) -> Self {
        let redactor = Redactor::new([&key]);
        Self { http, url: format!("{base_url}/search"), key, redactor, limit: LIMIT }
    }

    async fn found(&self, query: &str) -> Result<WebSearchResult, SearchError> {
        let mut answer = self.ask(query).await?;
        if let Some(pause) = answer.pause() {
            tracing::info!(status = %answer.status, "a search failed and is sent again");
            tokio::time::sleep(pause).await;
            answer = self.ask(query).await?;
        }
        match answer.status.is_success() {
            true => answer.found(),
            false => Err(self.failure(&answer)),
        }
    }

    async fn ask(&self, query: &str) -> Result<TavilyResponse, SearchError> {
        let body = json!({
            "query": query, "max_results": MAX_HITS, "search_depth": "basic", "topic": "general",
            "include_answer": false, "include_raw_content": false, "include_images": false,
        });
        let request = self.http.post(&self.url).bearer_auth(self.key.expose_secret()).json(&body);
        let response = request.send().await.map_err(|error| broken(&error))?;
        let (status, retry_after) = (response.status(), retry_after(response.headers()));
        let body = match body_of(response).await {
            // For a failure only the status counts, even if the body is unreadable.
            Err(_) if !status.is_success() => Vec::new(),
            body => body?,
        };
        Ok(TavilyResponse { status, retry_after, body })
    }

    fn failure(&self, answer: &TavilyResponse) -> SearchError {
        match answer.status.as_u16() {
            401 | 403 => KEY_REFUSED,
            300..=399 | 404 | 405 => NO_SERVICE,
            429 => SearchError::Busy,
            // Tavily's own codes: the plan's limit, and the limit of pay-as-you-go.
            432 | 433 => SearchError::UsedUp,
            408 | 500.. => SearchError::Unavailable(format!("HTTP {}", answer.status.as_u16())),
            _ => SearchError::Refused(one_line(&self.redactor.clean(&answer.words()), MAX_MESSAGE_CHARS)),
        }
    }
}

const KEY_REFUSED: SearchError =
    SearchError::Setup { fault: "the search service refused its key", setting: "TAVILY_API_KEY" };
const NO_SERVICE: SearchError = SearchError::Setup {
    fault: "what answers at the search service's address is something else",
    setting: "TAVILY_BASE_URL",
};

#[async_trait]
impl WebSearch for Tavily {
    async fn search(&self, _context: &ToolContext, query: &str) -> Result<WebSearchResult, SearchError> {
        let found = tokio::time::timeout(self.limit, self.found(query)).await;
        found.unwrap_or_else(|_| Err(SearchError::Unavailable("no answer in time".to_owned())))
    }
}

struct TavilyResponse {
    status: StatusCode,
    retry_after: Option<Duration>,
    body: Vec<u8>,
}

/// Required part of a response; other fields vary.
#[derive(Deserialize)]
struct TavilyPages {
    answer: Option<String>,
    results: Vec<TavilyPage>,
}

#[derive(Deserialize)]
struct TavilyPage {
    title: Option<String>,
    url: Option<String>,
    content: Option<String>,
}

impl TavilyResponse {
    /// Returns the pause before a second try; `None` if a retry is useless.
    fn pause(&self) -> Option<Duration> {
        let is_passing = self.status == StatusCode::TOO_MANY_REQUESTS || self.status.is_server_error();
        let pause = self.retry_after.unwrap_or(PAUSE);
        (is_passing && pause <= MAX_PAUSE).then_some(pause)
    }

    fn found(&self) -> Result<WebSearchResult, SearchError> {
        let TavilyPages { answer, results } = serde_json::from_slice(&self.body).map_err(|error| {
            // The error's own text could quote the response.
            tracing::warn!(line = error.line(), column = error.column(), "Tavily's answer is not understood");
            NO_SERVICE
        })?;
        let hit = |page: TavilyPage| Hit {
            title: page.title.unwrap_or_default(),
            url: page.url.unwrap_or_default(),
            content: page.content.unwrap_or_default(),
        };
        Ok(WebSearchResult { answer, results: results.into_iter().map(hit).collect() })
    }

    /// Returns the error message from `{"detail": {"error": "…"}}`, or from `{"detail": [{"msg": "…"}]}` for a malformed
    /// request.
    fn words(&self) -> String {
        let said: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let places = ["/detail/error", "/detail/0/msg", "/detail"];
        let words = places.iter().find_map(|place| said.pointer(place)?.as_str());
        words.map_or_else(|| format!("HTTP {}", self.status.as_u16()), ToOwned::to_owned)
    }
}

async fn body_of(mut response: Response) -> Result<Vec<u8>, SearchError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| broken(&error))? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_BODY_BYTES {
            return Err(SearchError::Unavailable("its answer is too long".to_owned()));
        }
    }
    Ok(body)
}

/// Converts a connection error. Omits the address, which may hold a secret.
fn broken(error: &reqwest::Error) -> SearchError {
    let words = match error {
        // The address was checked before, so the invalid part is the key.
        _ if error.is_builder() => return KEY_REFUSED,
        _ if error.is_timeout() => "no answer in time",
        _ if error.is_connect() => "it cannot be reached",
        _ => "the connection broke",
    };
    SearchError::Unavailable(words.to_owned())
}

/// Parses `Retry-After`; the service always gives seconds.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// What comes of a search with this key at a service that takes connections and says nothing.
    async fn silent(key: &str) -> Result<WebSearchResult, SearchError> {
        drop(rustls::crypto::ring::default_provider().install_default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let tavily = Tavily { limit: Duration::from_millis(50), ..Tavily::new(http, &url, key.into()) };
        tavily.search(&ToolContext::somewhere(), "rain").await
    }

    #[tokio::test]
    async fn a_service_that_says_nothing_is_given_up() {
        let wanted = SearchError::Unavailable("no answer in time".to_owned());
        assert_eq!(silent("tvly-key").await, Err(wanted));
    }

    #[tokio::test]
    async fn a_key_that_no_header_can_hold_is_refused() {
        assert_eq!(silent("tvly\nkey").await, Err(KEY_REFUSED));
    }

    #[test]
    fn only_what_may_pass_soon_is_asked_again() {
        let pause = |status: u16, retry_after: Option<f64>| {
            let retry_after = retry_after.map(Duration::from_secs_f64);
            let status = StatusCode::from_u16(status).unwrap();
            TavilyResponse { status, retry_after, body: Vec::new() }.pause()
        };
        let cases = [
            (429, None, Some(PAUSE)),
            (429, Some(5.0), Some(MAX_PAUSE)),
            (429, Some(5.5), None),
            (503, Some(0.5), Some(Duration::from_millis(500))),
            (500, None, Some(PAUSE)),
            (432, None, None),
            (400, Some(1.0), None),
            (200, None, None),
        ];
        for (status, retry_after, wanted) in cases {
            assert_eq!(pause(status, retry_after), wanted, "{status} {retry_after:?}");
        }
    }

    #[test]
    fn retry_after_is_read_in_seconds() {
        let cases = [
            ("3", Some(3.0)),
            (" 0.5 ", Some(0.5)),
            ("-1", None),
            ("NaN", None),
            ("1e400", None),
            ("soon", None),
        ];
        for (text, wanted) in cases {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]);
            assert_eq!(retry_after(&headers), wanted.map(Duration::from_secs_f64), "{text}");
        }
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }
}
