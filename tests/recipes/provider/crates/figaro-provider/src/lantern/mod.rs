//! A service of the Chat Completions dialect that answers with text alone: no tools, pictures or settings. Built by its
//! descriptor.

mod decoder;
mod descriptor;
mod name;

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value, json};

use self::decoder::TextDecoder;
pub(super) use self::descriptor::DESCRIPTOR;
use self::name::NAME;
use super::offered::Offered;
use super::openai_client::{OpenAiClient, OpenAiEndpoint};
use super::{EventStream, Item, Provider, ProviderError, Request};
use figaro_base::secret::SecretString;
use figaro_domain::generation::Generation;

/// Settings that the service does not take: all.
const IGNORED: [&str; 7] = [
    "temperature",
    "max_tokens",
    "top_p",
    "frequency_penalty",
    "presence_penalty",
    "repeat_penalty",
    "output_format",
];

/// Server at one address.
#[derive(Debug, Clone)]
struct Lantern(OpenAiClient);

impl Lantern {
    /// Creates the provider. `http` must limit the time to connect, but no call as a whole.
    fn new(http: reqwest::Client, base_url: &str, key: Option<SecretString>, idle_limit: Duration) -> Self {
        Self(OpenAiClient::new(http, base_url, key, idle_limit))
    }
}

impl Provider for Lantern {
    fn name(&self) -> &'static str {
        NAME
    }

    fn window(&self, _model: &str) -> Option<usize> {
        None
    }

    fn ignored(&self, _model: &str, settings: &Generation) -> Vec<&'static str> {
        settings.set_among(&IGNORED)
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        self.0.models()
    }

    fn stream(&self, request: Request) -> EventStream {
        let offered = Offered::of(&request.tools);
        self.0.stream(OpenAiEndpoint::ChatCompletions, body(&request), TextDecoder::default(), offered)
    }
}

fn body(request: &Request) -> Value {
    let system = (!request.instructions.is_empty())
        .then(|| json!({"role": "system", "content": request.instructions}));
    let said = request.items.iter().filter_map(|item| match item {
        Item::User { text, .. } => message("user", text),
        Item::Assistant { text, .. } => message("assistant", text),
        Item::ToolResult { .. } => None,
    });
    let messages: Vec<Value> = system.into_iter().chain(said).collect();
    json!({"model": request.model, "messages": messages, "stream": true})
}

fn message(role: &str, text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| json!({"role": role, "content": text}))
}
