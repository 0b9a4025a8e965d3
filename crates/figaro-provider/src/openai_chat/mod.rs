//! The Chat Completions dialect: OpenRouter, vLLM, llama.cpp, LM Studio, DeepSeek and the many others that speak it,
//! each in its own way. One call is one streamed `POST /chat/completions`. Built by its descriptor.

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

use self::decoder::Decoder;
pub(super) use self::descriptor::DESCRIPTOR;
use self::name::NAME;
use super::offered::Offered;
use super::openai_client::{OpenAiClient, Path};
use super::{Capabilities, Demand, EventStream, Provider, ProviderError, Request};
use figaro_base::secret::SecretString;
use figaro_domain::generation::Generation;

/// A server that speaks the dialect, at one address.
#[derive(Debug, Clone)]
struct OpenAiChat(OpenAiClient);

impl OpenAiChat {
    /// `base_url` ends before `/chat/completions`; a server of one's own may want no key. The client must bound the
    /// time to connect, and no call as a whole. A provider that is silent for `idle_limit` has stalled.
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

    /// Both measures against repetition go out as one, of which the dialect's own wins.
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
            | Demand::FrequencyPenalty
            | Demand::PresencePenalty => true,
        }
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        self.0.models()
    }

    fn stream(&self, request: Request) -> EventStream {
        self.0.stream(
            Path::ChatCompletions,
            wire::body(&request),
            Decoder::new(&request),
            Offered::of(&request.tools),
        )
    }
}
