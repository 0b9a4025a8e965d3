//! Explains a base URL that is probably wrong when a provider reports a missing model or page. A decorator of any
//! provider, added in the composition root.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use reqwest::Url;

use super::{Capabilities, Demand, EventStream, Provider, ProviderError, Request};
use figaro_config::looks_secret;
use figaro_domain::generation::Generation;
use figaro_domain::provider_spec::{ProviderSpec, VariableRole};

/// Provider at an address whose path differs from the one its service documents.
#[derive(Debug)]
pub struct Addressed {
    inner: Arc<dyn Provider>,
    advice: Arc<str>,
}

impl Addressed {
    /// Wraps a provider whose address is probably wrong by its spec. Returns any other unchanged.
    #[must_use]
    pub fn wrap(inner: Arc<dyn Provider>, spec: &ProviderSpec, base_url: &str) -> Arc<dyn Provider> {
        match advice(spec, base_url) {
            Some(advice) => Arc::new(Self { inner, advice: advice.into() }),
            None => inner,
        }
    }
}

impl Provider for Addressed {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        self.inner.capabilities(model)
    }

    fn window(&self, model: &str) -> Option<usize> {
        self.inner.window(model)
    }

    fn ignored(&self, model: &str, settings: &Generation) -> Vec<&'static str> {
        self.inner.ignored(model, settings)
    }

    fn meets(&self, demand: Demand) -> bool {
        self.inner.meets(demand)
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        let (listing, advice) = (self.inner.models(), self.advice.clone());
        async move { listing.await.map_err(|error| explained(error, &advice)) }.boxed()
    }

    fn stream(&self, request: Request) -> EventStream {
        let advice = self.advice.clone();
        self.inner.stream(request).map(move |event| event.map_err(|error| explained(error, &advice))).boxed()
    }
}

/// Turns the error of a server that has nothing at this address into advice. A server that names the model has
/// understood the request, so its error stays.
fn explained(error: ProviderError, advice: &str) -> ProviderError {
    match error {
        ProviderError::UnknownModel(told) if !names_a_model(&told) => {
            ProviderError::WrongAddress(format!("{told}; {advice}"))
        }
        ProviderError::Foreign(told) | ProviderError::WrongAddress(told) => {
            ProviderError::WrongAddress(format!("{told}; {advice}"))
        }
        other => other,
    }
}

/// Returns `true` if a text is about a model, and not about a path such as `/models`.
fn names_a_model(told: &str) -> bool {
    told.to_lowercase().replace("/models", "").contains("model")
}

/// Returns the value to set the variable of the address to. `None` if the address ends as it should, or nothing is
/// known about it.
fn advice(spec: &ProviderSpec, base_url: &str) -> Option<String> {
    let variable = spec.variable(VariableRole::BaseUrl)?;
    let url = Url::parse(base_url).ok()?;
    let likely = likely(&url, &variable.path()?)?;
    let (name, url) = (variable.name, shown(&url));
    Some(match likely {
        likely if looks_secret(likely.path()) => format!("{name} does not end as it should"),
        likely => format!("{name} is {url}, and should probably be {}", shown(&likely)),
    })
}

/// Returns the address with the path that its service documents; `None` if it already has that path.
fn likely(url: &Url, path: &str) -> Option<Url> {
    let given = url.path().trim_end_matches('/');
    if given.ends_with(path) && (!path.is_empty() || given.is_empty()) {
        return None;
    }
    let (before, last) = given.rsplit_once('/').unwrap_or(("", given));
    let is_version =
        last.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let likely = match given.split_once(&format!("{path}/")) {
        _ if path.is_empty() => String::new(),
        // The address is that of a call, as documentation shows it.
        Some((before, _)) => format!("{before}{path}"),
        None if is_version => format!("{before}{path}"),
        None => format!("{given}{path}"),
    };
    let mut url = url.clone();
    url.set_path(&likely);
    Some(url)
}

/// Returns the address without parts that may be secret.
fn shown(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let path = if looks_secret(url.path()) { "/…" } else { url.path().trim_end_matches('/') };
    format!("{}://{}{port}{path}", url.scheme(), url.host_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BUILTIN;

    fn told(provider: &str, base_url: &str) -> String {
        let spec = BUILTIN.iter().map(|known| known.spec).find(|spec| spec.name == provider).unwrap();
        advice(&spec, base_url).unwrap_or_default()
    }

    #[test]
    fn an_address_that_ends_otherwise_is_told_with_the_likely_one() {
        let cases = [
            (
                "openai",
                "http://h:8080",
                "OPENAI_BASE_URL is http://h:8080, and should probably be http://h:8080/v1",
            ),
            (
                "openai",
                "http://h/v1/responses",
                "OPENAI_BASE_URL is http://h/v1/responses, and should probably be http://h/v1",
            ),
            ("openai", "http://h/v2", "OPENAI_BASE_URL is http://h/v2, and should probably be http://h/v1"),
            (
                "compatible",
                "https://ann:pass@h.example/api/?key=x",
                "COMPATIBLE_BASE_URL is https://h.example/api, and should probably be https://h.example/api/v1",
            ),
            (
                "ollama",
                "http://h:1/v1",
                "OLLAMA_BASE_URL is http://h:1/v1, and should probably be http://h:1",
            ),
            (
                "gemini",
                "http://h/v1",
                "GEMINI_BASE_URL is http://h/v1, and should probably be http://h/v1beta",
            ),
            (
                "compatible",
                "https://h/sk-proj-0123456789abcdefghij",
                "COMPATIBLE_BASE_URL does not end as it should",
            ),
        ];
        for (provider, base_url, wanted) in cases {
            assert_eq!(told(provider, base_url), wanted, "{provider} {base_url}");
        }
    }

    #[test]
    fn nothing_is_said_of_an_address_that_ends_as_it_should() {
        let cases = [
            ("openai", "https://api.openai.com/v1"),
            ("openai", "http://h/openai/v1/"),
            ("compatible", "https://openrouter.ai/api/v1"),
            ("ollama", "http://127.0.0.1:11434"),
            ("gemini", "https://generativelanguage.googleapis.com/v1beta"),
        ];
        for (provider, base_url) in cases {
            assert_eq!(told(provider, base_url), "", "{provider} {base_url}");
        }
    }

    #[test]
    fn a_server_that_names_the_model_has_the_right_address() {
        let unknown = |told: &str| ProviderError::UnknownModel(told.into());
        let cases = [
            (unknown("HTTP 404 Not Found"), "wrong_address"),
            (unknown("Invalid URL (GET /models)"), "wrong_address"),
            (unknown("The model `x` does not exist"), "unknown_model"),
            (ProviderError::Foreign("a web page".into()), "wrong_address"),
            (ProviderError::Unauthorized("no".into()), "unauthorized"),
        ];
        for (error, label) in cases {
            assert_eq!(explained(error.clone(), "advice").label(), label, "{error}");
        }
    }
}
