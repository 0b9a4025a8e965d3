//! Gemini's API: `POST /v1beta/models/{model}:streamGenerateContent?alt=sse`, the same in one piece at
//! `:generateContent`, vectors at `:batchEmbedContents`, and `GET /v1beta/models`.

mod contents;
mod embed;
mod known;
mod proto;
mod signature;
mod stream;
#[cfg(test)]
mod tests;
mod tools;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use self::known::{EMBEDDING, GeminiModelName, MODELS};
use super::checks::OpenCalls;
use super::dialect::{Dialect, DialectError, ModelCall, ModelTurn, Service, VectorDialect, WireEvent};
use super::request::{ModelRequest, RequestContent, VectorRequest};
use super::respond;
use super::shared::SharedModel;
use super::vectors;

const NO_KEY: &str = "Method doesn't allow unregistered callers (callers without established identity). Please use API \
                      Key or other form of API consumer identity to call this API.";

#[derive(Debug)]
struct GeminiDialect;

pub(super) fn routes() -> Router<SharedModel> {
    Router::new().route("/v1beta/models/{call}", post(call)).route("/v1beta/models", get(models))
}

async fn call(State(shared): State<SharedModel>, request: Request) -> Response {
    match target(request.uri()).1 {
        "batchEmbedContents" => vectors::answer(shared, &GeminiDialect, request).await,
        _ => respond::respond(shared, &GeminiDialect, request).await,
    }
}

async fn models(State(shared): State<SharedModel>, uri: Uri, headers: HeaderMap) -> Response {
    if let Err(refusal) = GeminiDialect.identify(&headers, &uri) {
        return respond::refusal(&GeminiDialect, &refusal);
    }
    let speaking = ["generateContent", "countTokens"].as_slice();
    let all = MODELS
        .into_iter()
        .map(|name| (name, speaking))
        .chain([(EMBEDDING, ["embedContent", "batchEmbedContents"].as_slice())]);
    let listed = all.filter(|(name, _)| !shared.is_retired(name)).map(|(name, methods)| {
        json!({
            "name": format!("models/{name}"), "version": "001", "displayName": name, "inputTokenLimit": 1_048_576,
            "outputTokenLimit": 65_536, "supportedGenerationMethods": methods, "temperature": 1, "topP": 0.95,
            "topK": 64, "maxTemperature": 2, "thinking": true,
        })
    });
    Json(json!({"models": listed.collect::<Vec<_>>()})).into_response()
}

fn query<'a>(uri: &'a Uri, name: &str) -> Option<&'a str> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// Splits a path such as `/v1beta/models/gemini-2.5-flash:generateContent` into model and method.
fn target(uri: &Uri) -> (&str, &str) {
    let last = uri.path().rsplit('/').next().unwrap_or_default();
    last.rsplit_once(':').unwrap_or((last, ""))
}

impl Service for GeminiDialect {
    fn identify(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), DialectError> {
        let header = headers.get("x-goog-api-key").and_then(|value| value.to_str().ok());
        if header.or_else(|| query(uri, "key")).is_some_and(|key| !key.trim().is_empty()) {
            return Ok(());
        }
        Err(DialectError { status: StatusCode::FORBIDDEN, message: NO_KEY.to_owned() })
    }

    fn serves(&self, model: &str) -> bool {
        GeminiModelName::of(model).is_some()
    }

    fn gone(&self, model: &str) -> String {
        format!(
            "models/{model} is not found for API version v1beta, or is not supported for generateContent. Call \
             ListModels to see the list of available models and their supported methods."
        )
    }

    fn error(&self, status: StatusCode, message: &str, retry_after: Option<u64>) -> Value {
        let name = match status.as_u16() {
            400 => "INVALID_ARGUMENT",
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            504 => "DEADLINE_EXCEEDED",
            code if code < 500 => "FAILED_PRECONDITION",
            _ => "INTERNAL",
        };
        let mut error = json!({"code": status.as_u16(), "message": message, "status": name});
        if let Some(seconds) = retry_after {
            let kind = "type.googleapis.com/google.rpc.RetryInfo";
            error["details"] = json!([{"@type": kind, "retryDelay": format!("{seconds}s")}]);
        }
        json!({"error": error})
    }
}

impl Dialect for GeminiDialect {
    fn service(&self) -> &dyn Service {
        self
    }

    fn check(&self, call: &ModelCall<'_>) -> Result<(), DialectError> {
        let (name, method) = target(call.uri);
        match method {
            "generateContent" => {}
            "streamGenerateContent" if query(call.uri, "alt") == Some("sse") => {}
            "streamGenerateContent" => {
                return Err("we always ask for a stream with alt=sse".to_owned().into());
            }
            other => return Err(format!("there is no method '{other}'").into()),
        }
        let Some(model) = GeminiModelName::of(name) else {
            return Err(self.gone(name).into());
        };
        let body = proto::read(call.body, &proto::REQUEST, "")?;
        contents::check(&body, &model)?;
        Ok(tools::check(&body, &model)?)
    }

    fn asked(&self, call: &ModelCall<'_>) -> RequestContent {
        let (model, method) = target(call.uri);
        // An invalid request is shown as far as it can be parsed.
        let body = proto::read(call.body, &proto::REQUEST, "").unwrap_or_else(|_| call.body.clone());
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let system =
            contents::parts(&body["systemInstruction"]).iter().filter_map(|part| part["text"].as_str());
        let tools = list(&body["tools"]);
        let names = tools.iter().flat_map(|tool| list(&tool["functionDeclarations"]));
        let names = names.filter_map(|declaration| declaration["name"].as_str().map(ToOwned::to_owned));
        let mut open = OpenCalls::default();
        RequestContent {
            model: model.to_owned(),
            instructions: system.collect::<Vec<_>>().join("\n"),
            input: list(&body["contents"]).iter().flat_map(|content| items(content, &mut open)).collect(),
            tools: names.collect(),
            searches: tools.iter().any(|tool| tool["googleSearch"].is_object()),
            json: body["generationConfig"]["responseMimeType"] == "application/json",
            whole: method == "generateContent",
        }
    }

    fn content_type(&self, request: &ModelRequest) -> &'static str {
        if request.is_whole() { "application/json; charset=UTF-8" } else { "text/event-stream" }
    }

    fn events(&self, turn: &ModelTurn<'_>) -> Vec<WireEvent> {
        stream::events(turn)
    }

    #[cfg(feature = "testing")]
    fn failure(&self, _: &ModelTurn<'_>, _: usize, message: &str) -> Vec<u8> {
        stream::line(&self.error(StatusCode::SERVICE_UNAVAILABLE, message, None))
    }
}

impl VectorDialect for GeminiDialect {
    fn service(&self) -> &dyn Service {
        self
    }

    fn read(&self, call: &ModelCall<'_>) -> Result<VectorRequest, DialectError> {
        embed::read(call.body, target(call.uri).0)
    }

    fn write(&self, _: &VectorRequest, vectors: &[Vec<f32>]) -> Value {
        embed::write(vectors)
    }
}

/// Converts a content into items of the common form.
fn items(content: &Value, open: &mut OpenCalls) -> Vec<Value> {
    let is_model = content["role"] == "model";
    let mut items = Vec::new();
    let mut spoken = Vec::new();
    for part in contents::parts(content) {
        let (call, result) = (&part["functionCall"], &part["functionResponse"]);
        let name = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
        if call.is_object() {
            let key = open.call(call["id"].as_str(), &name(call));
            let arguments = if call["args"].is_null() { "{}".to_owned() } else { call["args"].to_string() };
            items.push(json!({
                "type": "function_call", "call_id": key, "name": call["name"], "arguments": arguments,
            }));
        } else if result.is_object() {
            let key = open.answer(result["id"].as_str(), &name(result)).map(|call| call.key);
            let output = outcome(&result["response"]);
            items.push(json!({"type": "function_call_output", "call_id": key, "output": output}));
        } else if let Some(text) = part["text"].as_str().filter(|text| !text.is_empty()) {
            let kind = if is_model { "output_text" } else { "input_text" };
            spoken.push(json!({"type": kind, "text": text}));
        } else if part["inlineData"].is_object() {
            let (kind, data) = (&part["inlineData"]["mimeType"], &part["inlineData"]["data"]);
            let url = format!(
                "data:{};base64,{}",
                kind.as_str().unwrap_or_default(),
                data.as_str().unwrap_or_default()
            );
            spoken.push(json!({"type": "input_image", "image_url": url}));
        }
    }
    if !spoken.is_empty() {
        items.insert(0, json!({"role": if is_model { "assistant" } else { "user" }, "content": spoken}));
    }
    items
}

/// Returns the text of a result: the value wrapped in its object, or the object itself.
fn outcome(response: &Value) -> String {
    let wrapped = ["output", "result", "content", "error"].into_iter().map(|name| &response[name]);
    match wrapped.into_iter().find(|value| !value.is_null()).unwrap_or(response) {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
