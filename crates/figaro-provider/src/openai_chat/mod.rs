//! Chat Completions dialect: OpenRouter, vLLM, llama.cpp, LM Studio, DeepSeek and many others, each with its own
//! variations. A call is one streamed `POST /chat/completions`. Built by its descriptor.

mod arguments;
mod calls;
mod decoder;
mod descriptor;
mod name;
mod reasoning;
#[cfg(test)]
mod tests;
mod wire;

use std::time::Duration;

use futures::future::BoxFuture;

use self::decoder::ChatDecoder;
pub(super) use self::descriptor::DESCRIPTOR;
use self::name::NAME;
use super::offered::Offered;
use super::openai_client::{OpenAiClient, OpenAiEndpoint};
use super::{Capabilities, Demand, EventStream, Provider, ProviderError, Request};
use figaro_base::secret::SecretString;
use figaro_domain::generation::Generation;

/// Server with this dialect, at one address.
#[derive(Debug, Clone)]
struct OpenAiChat(OpenAiClient);

impl OpenAiChat {
    /// Creates the provider. `base_url` ends before `/chat/completions`. The owner's own server may need no key.
    /// `http` must limit the time to connect, but no call as a whole. A provider that is silent for `idle_limit` has
    /// stalled.
    fn new(http: reqwest::Client, base_url: &str, key: Option<SecretString>, idle_limit: Duration) -> Self {
        Self(OpenAiClient::new(http, base_url, key, idle_limit))
    }
}

impl Provider for OpenAiChat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn window(&self, model: &str) -> Option<usize> {
        Capabilities::known_window(self.name(), model)
    }

    /// Both settings against repetition are sent as one field; the dialect's own wins.
    fn ignored(&self, _model: &str, settings: &Generation) -> Vec<&'static str> {
        match settings.frequency_penalty {
            Some(_) => settings.set_among(&["repeat_penalty"]),
            None => Vec::new(),
        }
    }

    fn meets(&self, demand: Demand) -> bool {
        match demand {
            Demand::ToolChoice
            | Demand::Stop
            | Demand::Pictures
            | Demand::Sounds
            | Demand::FrequencyPenalty
            | Demand::PresencePenalty => true,
        }
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        self.0.models()
    }

    fn stream(&self, request: Request) -> EventStream {
        self.0.stream(
            OpenAiEndpoint::ChatCompletions,
            wire::body(&request),
            ChatDecoder::new(&request),
            Offered::of(&request.tools),
        )
    }
}
