//! OpenAI's Responses API: `POST /v1/responses`.

mod rules;
mod stream;

use axum::Router;
use axum::http::StatusCode;
use serde_json::Value;

use super::dialect::{Call, Dialect, Event, Refusal, Turn};
use super::request::{Asked, ModelRequest};
use super::{OfflineModel, http, openai};

#[derive(Debug)]
struct Responses;

pub(super) fn routes() -> Router<OfflineModel> {
    Router::new().route("/v1/responses", http::route(&Responses))
}

impl Dialect for Responses {
    fn identify(&self, call: &Call<'_>) -> Result<(), Refusal> {
        openai::identify(call.headers)
    }

    fn serves(&self, _: &str) -> bool {
        true
    }

    fn gone(&self, model: &str) -> String {
        openai::gone(model)
    }

    fn check(&self, call: &Call<'_>) -> Result<(), Refusal> {
        Ok(rules::check(call.body)?)
    }

    fn asked(&self, call: &Call<'_>) -> Asked {
        let text = |name: &str| call.body[name].as_str().unwrap_or_default().to_owned();
        let tools = call.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let names = tools.iter().filter_map(|tool| tool["name"].as_str());
        Asked {
            model: text("model"),
            instructions: text("instructions"),
            input: call.body["input"].as_array().cloned().unwrap_or_default(),
            tools: names.map(ToOwned::to_owned).collect(),
            searches: tools.iter().any(|tool| tool["type"] == "web_search"),
            json: matches!(call.body["text"]["format"]["type"].as_str(), Some("json_object" | "json_schema")),
            whole: false,
        }
    }

    fn error(&self, status: StatusCode, message: &str, _: Option<u64>) -> Value {
        openai::error(status, message)
    }

    fn content_type(&self, _: &ModelRequest) -> &'static str {
        "text/event-stream; charset=utf-8"
    }

    fn events(&self, turn: &Turn<'_>) -> Vec<Event> {
        stream::events(turn)
    }

    #[cfg(feature = "testing")]
    fn failure(&self, turn: &Turn<'_>, sent: usize, message: &str) -> Vec<u8> {
        stream::failure(turn, sent, message)
    }
}
