//! Endpoints of the Gemini API. Called by [`super`] only.

use std::time::Duration;

use reqwest::header::HeaderValue;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::ProviderError;
use crate::http::decode::ValueStream;
use crate::http::idle::Pulse;
use crate::http::{error, json, streamed};
use figaro_base::secret::{ExposeSecret, SecretString};

const KEY_HEADER: &str = "x-goog-api-key";

/// Gemini API at one address with one key.
#[derive(Debug, Clone)]
pub(super) struct GeminiClient {
    http: reqwest::Client,
    /// Base URL with a trailing slash.
    base_url: String,
    key: SecretString,
}

impl GeminiClient {
    /// Creates a client. `base_url` ends before `/models`.
    pub(super) fn new(http: reqwest::Client, base_url: &str, key: SecretString) -> Self {
        Self { http, base_url: format!("{}/", base_url.trim_end_matches('/')), key }
    }

    /// Streams the pieces of one answer. The pulse beats with every byte.
    pub(super) async fn ask(
        &self,
        model: &str,
        body: &Value,
        pulse: Pulse,
    ) -> Result<ValueStream, ProviderError> {
        let url = format!("{}models/{}:streamGenerateContent?alt=sse", self.base_url, checked(model)?);
        let request = self.http.post(url).header(KEY_HEADER, self.key_header()?).json(body);
        streamed(request.send().await.map_err(|error| error::from_reqwest(&error))?, pulse).await
    }

    /// Lists the models that answer questions, by the names used in requests.
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

    /// Calls a method of a model whose answer comes in one piece. `body` builds the request from the model's full
    /// name.
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

/// Checks that a name is safe within a URL.
fn checked(model: &str) -> Result<&str, ProviderError> {
    let name = without_prefix(model);
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    match !name.is_empty() && name.chars().all(fits) {
        true => Ok(name),
        false => Err(ProviderError::UnknownModel("its name holds characters that no model has".into())),
    }
}

/// Strips the prefix `models/`, which the list has and people leave out.
fn without_prefix(model: &str) -> &str {
    model.strip_prefix("models/").unwrap_or(model)
}
