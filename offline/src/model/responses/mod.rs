//! OpenAI's Responses API: `POST /v1/responses`.

mod rules;
mod stream;

use axum::Router;

use super::dialect::{Dialect, DialectError, ModelCall, ModelTurn, Service, WireEvent};
use super::openai::{self, OpenAi};
use super::request::{ModelRequest, RequestContent};
use super::respond;
use super::shared::SharedModel;

#[derive(Debug)]
struct Responses;

pub(super) fn routes() -> Router<SharedModel> {
    Router::new().route("/v1/responses", respond::route(&Responses))
}

impl Dialect for Responses {
    fn service(&self) -> &dyn Service {
        &OpenAi
    }

    fn check(&self, call: &ModelCall<'_>) -> Result<(), DialectError> {
        Ok(rules::check(call.body)?)
    }

    fn asked(&self, call: &ModelCall<'_>) -> RequestContent {
        let text = |name: &str| call.body[name].as_str().unwrap_or_default().to_owned();
        let tools = call.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let names = tools.iter().filter_map(|tool| tool["name"].as_str());
        RequestContent {
            model: text("model"),
            instructions: text("instructions"),
            input: call.body["input"].as_array().cloned().unwrap_or_default(),
            tools: names.map(ToOwned::to_owned).collect(),
            searches: tools.iter().any(|tool| tool["type"] == "web_search"),
            json: matches!(call.body["text"]["format"]["type"].as_str(), Some("json_object" | "json_schema")),
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
    fn failure(&self, turn: &ModelTurn<'_>, sent: usize, message: &str) -> Vec<u8> {
        stream::failure(turn, sent, message)
    }
}
