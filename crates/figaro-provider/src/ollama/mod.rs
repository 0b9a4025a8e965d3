//! Ollama's own chat API. A call is one streamed `POST /api/chat`. Before the first call of an unknown model, the
//! server is asked about it. Built by its descriptor.

mod client;
mod decoder;
mod descriptor;
mod embed;
mod models;
mod name;
mod size;
#[cfg(test)]
mod tests;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, future, stream};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};
use tracing::{debug, info};

use self::client::{OllamaClient, begun, explained, is_about_tools};
use self::decoder::OllamaDecoder;
pub(super) use self::descriptor::DESCRIPTOR;
use self::models::{OllamaModelInfo, OllamaModels};
use self::name::NAME;
use self::wire::Able;
use super::fit::fit;
use super::http::decode::{Habits, decoded};
use super::http::idle::Pulse;
use super::http::{CallWatch, error, streamed};
use super::offered::Offered;
use super::{Capabilities, Demand, EventStream, Provider, ProviderError, Request};
use figaro_base::secret::{ExposeSecret, Redactor, SecretString};
use figaro_domain::generation::Generation;

/// Maximum number of models asked about at a time.
const ASKED_AT_ONCE: usize = 4;
/// Timeout for the details of a model. After it the model is listed all the same.
const TELLING_LIMIT: Duration = Duration::from_secs(5);

/// Chat API of one Ollama server.
#[derive(Debug, Clone)]
struct OllamaProvider {
    client: OllamaClient,
    watch: CallWatch,
    load_limit: Duration,
    models: Arc<OllamaModels>,
    habits: Habits,
}

impl OllamaProvider {
    /// Creates the provider. `base_url` ends before `/api`. A key is only for servers behind something that wants
    /// one; an empty one counts as none. `http` must limit the time to connect, but no call as a whole. A server that
    /// is silent for `idle_limit` within an answer has stalled. One that has not begun the answer after `load_limit`
    /// has stalled too; until then it may be loading the model.
    fn new(
        http: reqwest::Client,
        base_url: &str,
        key: Option<SecretString>,
        idle_limit: Duration,
        load_limit: Duration,
    ) -> Self {
        let key = key.filter(|key| !key.expose_secret().is_empty());
        let watch = CallWatch { redactor: Redactor::new(&key), idle_limit };
        let client = OllamaClient::new(http, base_url, key.as_ref());
        Self { client, watch, load_limit, models: Arc::default(), habits: Habits::default() }
    }

    async fn open(self, mut request: Request, pulse: Pulse) -> Result<EventStream, ProviderError> {
        let model = request.model.clone();
        let opened = match self.get_to_know(&model).await {
            Ok(()) => self.ask(&request, &pulse).await,
            Err(error) => Err(error),
        };
        let opened = match opened {
            Err(error) if !request.tools.is_empty() && is_about_tools(&error) => {
                info!(model, "the model takes no tools and is asked again without");
                self.models.refused_tools(&model);
                request.tools.clear();
                self.ask(&request, &pulse).await
            }
            opened => opened,
        };
        if matches!(opened, Err(ProviderError::UnknownModel(_))) {
            self.models.forget(&model);
        }
        opened
    }

    async fn ask(&self, request: &Request, pulse: &Pulse) -> Result<EventStream, ProviderError> {
        let model = request.model.as_str();
        let (can, thinking) = self.models.abilities(model);
        let longest = request.settings.max_tokens;
        let mut request = request.clone();
        let room = size::room(longest, thinking, can.context_window);
        let able = Able { tools: can.tools, vision: can.vision, thinking };
        fit(&mut request, room);
        let mut body = wire::body(&request, able);
        // Only the body shows how much JSON adds to tools and calls.
        let excess = size::input_tokens(&body).saturating_sub(room);
        if excess > 0 {
            fit(&mut request, room.saturating_sub(excess));
            body = wire::body(&request, able);
        }
        let needed = size::context(size::input_tokens(&body), longest, thinking, can.context_window)?;
        body["options"]["num_ctx"] = self.models.context(model, needed, Instant::now()).into();
        let answer = self.client.send("/api/chat", Some(&body));
        let answer = begun(answer, self.load_limit, pulse, self.watch.idle_limit).await;
        let answer = answer.map_err(|error| explained(error, model))?;
        let model = model.to_owned();
        let values = streamed(answer, pulse.clone()).await?;
        let (habit, offered) = (self.habits.of(&model), Offered::of(&request.tools));
        let events = decoded(values, OllamaDecoder::after(&request.items), habit, offered);
        Ok(events.map_err(move |error| explained(error, &model)).boxed())
    }

    /// Asks about an unknown model. A server without details may still answer.
    async fn get_to_know(&self, model: &str) -> Result<(), ProviderError> {
        if self.models.knows(model) {
            return Ok(());
        }
        let shown = self.client.json("/api/show", Some(&json!({"model": model}))).await;
        match shown.map_err(|error| explained(error, model)) {
            Ok(shown) => self.models.learn(model, OllamaModelInfo::shown(&shown)),
            Err(ProviderError::Refused(_) | ProviderError::Foreign(_)) => {
                debug!(model, "the server tells nothing of a model");
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Lists the models that answer, and learns the details reported with them.
    async fn list(&self) -> Result<Vec<String>, ProviderError> {
        let listed = self.client.json::<Value>("/api/tags", None).await;
        let listed = listed.map_err(|error| explained(error, ""))?;
        let entries = listed["models"].as_array().map(Vec::as_slice).unwrap_or_default();
        let described = entries.iter().filter_map(|entry| {
            let name = entry["name"].as_str().or_else(|| entry["model"].as_str())?;
            Some(self.described(name.to_owned(), OllamaModelInfo::listed(entry)))
        });
        let names = stream::iter(described.collect::<Vec<_>>()).buffered(ASKED_AT_ONCE);
        Ok(names.filter_map(future::ready).collect().await)
    }

    /// Returns the name of a model that answers, after asking for its details.
    async fn described(&self, name: String, listed: Option<OllamaModelInfo>) -> Option<String> {
        let facts = match listed {
            Some(facts) => facts,
            None => {
                let asked = json!({"model": name});
                let shown = timeout(TELLING_LIMIT, self.client.json("/api/show", Some(&asked))).await;
                let Ok(Ok(shown)) = shown else { return Some(name) };
                OllamaModelInfo::shown(&shown)
            }
        };
        self.models.learn(&name, facts);
        facts.answers().then_some(name)
    }
}

impl Provider for OllamaProvider {
    fn name(&self) -> &'static str {
        NAME
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        self.models.abilities(model).0
    }

    fn window(&self, _model: &str) -> Option<usize> {
        // Details are requested before the first request to the model.
        None
    }

    fn ignored(&self, _model: &str, _settings: &Generation) -> Vec<&'static str> {
        Vec::new()
    }

    fn meets(&self, demand: Demand) -> bool {
        match demand {
            Demand::Stop | Demand::Pictures | Demand::FrequencyPenalty | Demand::PresencePenalty => true,
            Demand::ToolChoice | Demand::Sounds => false,
        }
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        let ollama = self.clone();
        async move {
            let limit = ollama.watch.idle_limit;
            let listed = timeout(limit, ollama.list()).await.unwrap_or(Err(ProviderError::Stalled(limit)));
            listed.map_err(|error| error::presentable(error, &ollama.watch.redactor))
        }
        .boxed()
    }

    fn stream(&self, request: Request) -> EventStream {
        let ollama = self.clone();
        self.watch.clone().over(move |pulse| ollama.open(request, pulse))
    }
}
