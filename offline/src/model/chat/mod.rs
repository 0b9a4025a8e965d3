//! OpenAI's Chat Completions, the dialect of compatible servers: `POST /v1/chat/completions`.

mod message;
mod rules;
mod stream;
#[cfg(test)]
mod tests;

use axum::Router;
use serde_json::Value;

use super::dialect::{Dialect, DialectError, ModelCall, ModelTurn, Service, WireEvent};
use super::openai::{self, OpenAi};
use super::request::{ModelRequest, RequestContent, text_of};
use super::respond;
use super::shared::SharedModel;

#[derive(Debug)]
struct ChatCompletions;

pub(super) fn routes() -> Router<SharedModel> {
    Router::new().route("/v1/chat/completions", respond::route(&ChatCompletions))
}

impl Dialect for ChatCompletions {
    fn service(&self) -> &dyn Service {
        &OpenAi
    }

    fn check(&self, call: &ModelCall<'_>) -> Result<(), DialectError> {
        Ok(rules::check(call.body)?)
    }

    fn asked(&self, call: &ModelCall<'_>) -> RequestContent {
        let body = call.body;
        let list = |name: &str| body[name].as_array().map(Vec::as_slice).unwrap_or_default();
        let (system, spoken): (Vec<&Value>, Vec<&Value>) =
            list("messages").iter().partition(|message| message::is_system(message));
        let instructions: Vec<String> = system.iter().map(|message| text_of(&message["content"])).collect();
        let names = list("tools").iter().filter_map(|tool| tool["function"]["name"].as_str());
        RequestContent {
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            instructions: instructions.join("\n"),
            input: spoken.into_iter().flat_map(message::items).collect(),
            tools: names.map(ToOwned::to_owned).collect(),
            searches: body["web_search_options"].is_object(),
            json: matches!(body["response_format"]["type"].as_str(), Some("json_object" | "json_schema")),
            whole: false,
        }
    }

    fn content_type(&self, _: &ModelRequest) -> &'static str {
        openai::CONTENT_TYPE
    }

    fn events(&self, turn: &ModelTurn<'_>) -> Vec<WireEvent> {
        stream::events(turn)
    }

    #[cfg(feature = "testing")]
    fn failure(&self, _: &ModelTurn<'_>, _: usize, message: &str) -> Vec<u8> {
        stream::failure(message)
    }
}
