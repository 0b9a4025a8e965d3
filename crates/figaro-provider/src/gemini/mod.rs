//! Google's Gemini API. A call is one streamed `POST /models/{model}:streamGenerateContent`. Built by its descriptor.

mod client;
mod decoder;
mod descriptor;
mod embed;
mod name;
mod paint;
mod schema;
mod signed;
#[cfg(test)]
mod tests;
mod transcribe;
mod wire;

use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use ulid::Ulid;

use self::client::GeminiClient;
use self::decoder::GeminiDecoder;
pub(super) use self::descriptor::DESCRIPTOR;
use self::name::NAME;
use self::wire::Signatures;
use super::http::decode::{Habits, ValueStream, decoded};
use super::http::idle::Pulse;
use super::http::{CallWatch, error};
use super::offered::Offered;
use super::{Capabilities, Demand, EventStream, Provider, ProviderError, Request};
use figaro_base::secret::{Redactor, SecretString};
use figaro_domain::generation::Generation;

/// Gemini API at one address with one key.
#[derive(Debug, Clone)]
struct GeminiProvider {
    client: GeminiClient,
    watch: CallWatch,
}

impl GeminiProvider {
    /// Creates the provider. `base_url` ends before `/models`, as in
    /// `https://generativelanguage.googleapis.com/v1beta`. `http` must limit the time to connect, but no call as a
    /// whole. A provider that is silent for `idle_limit` has stalled.
    fn new(http: reqwest::Client, base_url: &str, key: SecretString, idle_limit: Duration) -> Self {
        let watch = CallWatch { redactor: Redactor::new([&key]), idle_limit };
        Self { client: GeminiClient::new(http, base_url, key), watch }
    }
}

impl Provider for GeminiProvider {
    fn name(&self) -> &'static str {
        NAME
    }

    fn window(&self, model: &str) -> Option<usize> {
        Capabilities::known_window(self.name(), model)
    }

    fn ignored(&self, model: &str, settings: &Generation) -> Vec<&'static str> {
        let mut ignored = settings.set_among(&["frequency_penalty", "presence_penalty", "repeat_penalty"]);
        if !wire::samples(model) {
            ignored.extend(settings.set_among(&["temperature", "top_p"]));
        }
        ignored
    }

    fn meets(&self, demand: Demand) -> bool {
        match demand {
            Demand::ToolChoice | Demand::Stop | Demand::Pictures | Demand::Sounds => true,
            Demand::FrequencyPenalty | Demand::PresencePenalty => false,
        }
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        let Self { client, watch } = self.clone();
        async move {
            let listed = client.models(watch.idle_limit).await;
            listed.map_err(|error| error::presentable(error, &watch.redactor))
        }
        .boxed()
    }

    fn stream(&self, request: Request) -> EventStream {
        let client = self.client.clone();
        self.watch.clone().over(move |pulse| async move {
            let decoder = GeminiDecoder::new(&request.model, format!("call-{}", Ulid::new()));
            let habit = Habits::default().of(&request.model);
            let offered = Offered::of(&request.tools);
            Ok(decoded(answer(&client, &request, pulse).await?, decoder, habit, offered))
        })
    }
}

/// Streams the pieces of an answer. If Gemini refuses a signature of an earlier answer, the request is repeated
/// without any; otherwise the conversation could not continue.
async fn answer(
    client: &GeminiClient,
    request: &Request,
    pulse: Pulse,
) -> Result<ValueStream, ProviderError> {
    let body = wire::body(request, Signatures::Kept);
    match client.ask(&request.model, &body, pulse.clone()).await {
        Err(ProviderError::Refused(why)) if is_about_signatures(&why) => {
            client.ask(&request.model, &wire::body(request, Signatures::Dropped), pulse).await
        }
        asked => asked,
    }
}

fn is_about_signatures(why: &str) -> bool {
    let why = why.to_lowercase();
    why.contains("thought signature") || why.contains("thought_signature")
}
