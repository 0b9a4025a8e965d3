//! Endpoints of Ollama and the meaning of its refusals. Called by [`super`] only.

use std::convert::Infallible;
use std::time::Duration;

use futures::Future;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Response};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{sleep, timeout};

use crate::ProviderError;
use crate::http::idle::Pulse;
use crate::http::{error, read};
use figaro_base::secret::{ExposeSecret, SecretString};

#[derive(Debug, Clone)]
pub(super) struct OllamaClient {
    http: reqwest::Client,
    base_url: String,
    /// Headers with the key; `None` if no header can carry it.
    headers: Option<HeaderMap>,
}

impl OllamaClient {
    /// Creates a client. The address may end with `/api`, as in Ollama's own documentation.
    pub(super) fn new(http: reqwest::Client, base_url: &str, key: Option<&SecretString>) -> Self {
        let base_url = base_url.trim_end_matches('/');
        let base_url = base_url.strip_suffix("/api").unwrap_or(base_url).to_owned();
        Self { http, base_url, headers: key.map_or_else(|| Some(HeaderMap::new()), bearer) }
    }

    /// Sends a request and returns a successful response.
    pub(super) async fn send(&self, path: &str, body: Option<&Value>) -> Result<Response, ProviderError> {
        let Some(headers) = self.headers.clone() else {
            let advice = "it holds characters that no key has; copy it again";
            return Err(ProviderError::Unauthorized(advice.into()));
        };
        let method = if body.is_some() { Method::POST } else { Method::GET };
        let request = self.http.request(method, format!("{}{path}", self.base_url)).headers(headers);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let response = request.send().await.map_err(|error| unsent(&error))?;
        if !response.status().is_success() {
            return Err(error::refusal(response).await);
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with("text/html")) {
            let advice = "the answer is a web page; is the base URL right?";
            return Err(ProviderError::Foreign(advice.into()));
        }
        Ok(response)
    }

    /// Sends a request and returns its JSON.
    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, ProviderError> {
        let response = self.send(path, body).await?;
        let body = response.bytes().await.map_err(|error| error::from_reqwest(&error))?;
        read(&body)
    }
}

fn bearer(key: &SecretString) -> Option<HeaderMap> {
    let mut value = HeaderValue::try_from(format!("Bearer {}", key.expose_secret())).ok()?;
    value.set_sensitive(true);
    Some(HeaderMap::from_iter([(AUTHORIZATION, value)]))
}

fn unsent(error: &reqwest::Error) -> ProviderError {
    match error::from_reqwest(error) {
        ProviderError::Unavailable(told) if error.is_connect() => {
            ProviderError::Unavailable(format!("{told}; is Ollama running there? `ollama serve` starts it"))
        }
        other => other,
    }
}

/// Waits for an answer to begin. While Ollama loads a model and reads the prompt, which may take minutes, it sends
/// nothing. It stops loading when its client goes.
pub(super) async fn begun<T>(
    answer: impl Future<Output = Result<T, ProviderError>>,
    limit: Duration,
    pulse: &Pulse,
    idle_limit: Duration,
) -> Result<T, ProviderError> {
    let waiting = async {
        tokio::select! {
            answer = answer => answer,
            never = beating(pulse, idle_limit / 2) => match never {},
        }
    };
    timeout(limit, waiting).await.unwrap_or(Err(ProviderError::Stalled(limit)))
}

async fn beating(pulse: &Pulse, pause: Duration) -> Infallible {
    loop {
        pulse.beat();
        sleep(pause).await;
    }
}

/// Adds the meaning of an error and its remedy.
pub(super) fn explained(error: ProviderError, model: &str) -> ProviderError {
    match error {
        ProviderError::UnknownModel(told) if told.contains("model") => {
            ProviderError::UnknownModel(format!("{told}; `ollama pull {model}` fetches it"))
        }
        ProviderError::UnknownModel(told) | ProviderError::WrongAddress(told) => {
            ProviderError::Foreign(format!("{told}; is the base URL right?"))
        }
        ProviderError::Refused(told) if told.contains("invalid model name") => {
            ProviderError::UnknownModel(told)
        }
        ProviderError::Refused(told) | ProviderError::Unavailable(told)
            if told.contains("exceeds the context length") =>
        {
            ProviderError::TooLong(told)
        }
        other => other,
    }
}

/// Returns `true` if a request was refused because the model takes no tools.
pub(super) fn is_about_tools(error: &ProviderError) -> bool {
    matches!(error, ProviderError::Refused(told) if told.contains("does not support tools"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_explained() {
        let unknown = |told: &str| ProviderError::UnknownModel(told.into());
        let refused = |told: &str| ProviderError::Refused(told.into());
        let foreign = |told: &str| ProviderError::Foreign(told.into());
        let unavailable = |told: &str| ProviderError::Unavailable(told.into());
        let too_long = "the input length exceeds the context length";
        let cases = [
            (unknown("model 'm' not found"), unknown("model 'm' not found; `ollama pull m` fetches it")),
            (unknown("HTTP 404 Not Found"), foreign("HTTP 404 Not Found; is the base URL right?")),
            (refused("invalid model name"), unknown("invalid model name")),
            (refused(too_long), ProviderError::TooLong(too_long.into())),
            (unavailable(too_long), ProviderError::TooLong(too_long.into())),
            (refused("no"), refused("no")),
            (unavailable("no"), unavailable("no")),
        ];
        for (error, expected) in cases {
            assert_eq!(explained(error.clone(), "m"), expected, "{error}");
        }
    }

    #[test]
    fn the_address_is_taken_with_and_without_its_end() {
        use crate::http::testing::HTTP;
        for given in ["http://h:1", "http://h:1/", "http://h:1/api", "http://h:1/api/"] {
            assert_eq!(OllamaClient::new(HTTP.clone(), given, None).base_url, "http://h:1", "{given}");
        }
    }
}
