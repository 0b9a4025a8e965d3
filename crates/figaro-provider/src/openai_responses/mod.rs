//! OpenAI's Responses API, and servers that implement it. A call is one streamed `POST /responses`. Built by its
//! descriptor.

mod calls;
mod decoder;
mod descriptor;
mod name;
#[cfg(test)]
mod tests;
mod wire;

use std::time::Duration;

use futures::future::BoxFuture;

use self::decoder::ResponsesDecoder;
pub(super) use self::descriptor::DESCRIPTOR;
use self::name::NAME;
use super::offered::Offered;
use super::openai_client::{OpenAiClient, OpenAiEndpoint};
use super::{Capabilities, Demand, EventStream, Provider, ProviderError, Request};
use figaro_base::secret::SecretString;
use figaro_domain::generation::Generation;

/// Responses API at one address with one key.
#[derive(Debug, Clone)]
struct OpenAiResponses(OpenAiClient);

impl OpenAiResponses {
    /// Creates the provider. `base_url` ends before `/responses`. `http` must limit the time to connect, but no call
    /// as a whole. A provider that is silent for `idle_limit` has stalled.
    fn new(http: reqwest::Client, base_url: &str, key: SecretString, idle_limit: Duration) -> Self {
        Self(OpenAiClient::new(http, base_url, Some(key), idle_limit))
    }
}

impl Provider for OpenAiResponses {
    fn name(&self) -> &'static str {
        NAME
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        Capabilities { search_with_json: false, ..Capabilities::of(NAME, model) }
    }

    fn window(&self, model: &str) -> Option<usize> {
        Capabilities::known_window(self.name(), model)
    }

    fn ignored(&self, model: &str, settings: &Generation) -> Vec<&'static str> {
        let mut ignored = settings.set_among(&["frequency_penalty", "presence_penalty", "repeat_penalty"]);
        if wire::reasons(model) {
            ignored.extend(settings.set_among(&["temperature", "top_p"]));
        }
        ignored
    }

    fn meets(&self, demand: Demand) -> bool {
        match demand {
            Demand::ToolChoice | Demand::Pictures => true,
            Demand::Stop | Demand::Sounds | Demand::FrequencyPenalty | Demand::PresencePenalty => false,
        }
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        self.0.models()
    }

    fn stream(&self, request: Request) -> EventStream {
        self.0.stream(
            OpenAiEndpoint::Responses,
            wire::body(&request),
            ResponsesDecoder::default(),
            Offered::of(&request.tools),
        )
    }
}
