//! OpenAI as a service, and rules shared by both of its dialects: tools, pictures, answer format.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::checks::{arrays, is_base64, non_empty_str, references, unknown_field};
use super::dialect::{DialectError, Service, Validation};
use super::respond;
use super::shared::SharedModel;

/// The `Content-Type` of a streamed answer.
pub(super) const CONTENT_TYPE: &str = "text/event-stream; charset=utf-8";

/// Listed models. Any other name works too, as on compatible servers.
const MODELS: [&str; 2] = ["offline", "offline-text"];

/// Name prefixes of models without support for pictures.
const BLIND: [&str; 5] = ["offline-text", "gpt-3.5", "o1-mini", "o1-preview", "o3-mini"];

const NO_KEY: &str = "You didn't provide an API key. Send it in an Authorization header using Bearer auth.";

const MAX_TOOLS: usize = 128;

const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

#[derive(Debug)]
pub(super) struct OpenAi;

/// Returns the route that lists the models.
pub(super) fn routes() -> Router<SharedModel> {
    Router::new().route("/v1/models", get(models))
}

async fn models(State(shared): State<SharedModel>, uri: Uri, headers: HeaderMap) -> Response {
    if let Err(refusal) = OpenAi.identify(&headers, &uri) {
        return respond::refusal(&OpenAi, &refusal);
    }
    let created = shared.now().timestamp();
    let served = MODELS.iter().filter(|name| !shared.is_retired(name));
    let known =
        served.map(|name| json!({"id": name, "object": "model", "created": created, "owned_by": "figaro"}));
    Json(json!({"object": "list", "data": known.collect::<Vec<_>>()})).into_response()
}

impl Service for OpenAi {
    fn identify(&self, headers: &HeaderMap, _: &Uri) -> Result<(), DialectError> {
        let value = headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok());
        if value.and_then(|v| v.strip_prefix("Bearer ")).is_some_and(|key| !key.trim().is_empty()) {
            return Ok(());
        }
        Err(DialectError { status: StatusCode::UNAUTHORIZED, message: NO_KEY.to_owned() })
    }

    fn serves(&self, _: &str) -> bool {
        true
    }

    fn gone(&self, model: &str) -> String {
        format!("The model `{model}` does not exist or you do not have access to it.")
    }

    fn error(&self, status: StatusCode, message: &str, _: Option<u64>) -> Value {
        let kind = match status {
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            _ if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        let code = match status {
            StatusCode::UNAUTHORIZED => json!("invalid_api_key"),
            StatusCode::NOT_FOUND => json!("model_not_found"),
            _ => Value::Null,
        };
        json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
    }
}

/// Returns `true` for reasoning models (`o3`, `gpt-5` and later), which accept other parameters.
pub(super) fn reasons(model: &str) -> bool {
    let generation = |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok();
    match (model.strip_prefix("gpt-"), model.strip_prefix('o')) {
        (Some(rest), _) => generation(rest).is_some_and(|number| number >= 5) && !rest.contains("-chat"),
        (None, Some(rest)) => generation(rest).is_some(),
        (None, None) => false,
    }
}

/// Checks a picture: it must be a data URL, and the model must support pictures.
pub(super) fn picture(url: &str, model: &str) -> Validation {
    if BLIND.iter().any(|name| model.starts_with(name)) {
        return Err(format!("Invalid content type. Images are not supported by the model '{model}'."));
    }
    let parts = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match parts {
        Some((kind, data)) if PICTURES.contains(&kind) && is_base64(data) => Ok(()),
        Some(_) => Err(
            "Invalid image data: it must be base64 of one of image/png, image/jpeg, image/gif, image/webp"
                .to_owned(),
        ),
        None => Err("an image must be a data URL: we never send an address to be fetched".to_owned()),
    }
}

/// Checks function tools, given as objects with name and parameters.
pub(super) fn functions<'a>(functions: impl Iterator<Item = &'a Value>) -> Validation {
    let mut names = BTreeSet::new();
    for (at, function) in functions.enumerate() {
        let name = function["name"].as_str().unwrap_or_default();
        if !is_name(name) {
            return Err(format!("tools[{at}]: must be a function with a name of 1 to 64 of [a-zA-Z0-9_-]"));
        }
        if !names.insert(name) {
            return Err(format!("tools[{at}]: the name {name} is used twice"));
        }
        parameters(function).map_err(|why| format!("Invalid schema for function '{name}': {why}"))?;
    }
    if names.len() > MAX_TOOLS {
        return Err(format!("{} tools are too many, {MAX_TOOLS} is the most that is taken", names.len()));
    }
    Ok(())
}

/// Returns `true` for a valid name of a function or an answer schema.
pub(super) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn parameters(function: &Value) -> Validation {
    let schema = &function["parameters"];
    let Some(properties) = schema["properties"].as_object().filter(|_| schema["type"] == "object") else {
        return Err("it must have type 'object' and properties".to_owned());
    };
    if let Some(key) = ["oneOf", "anyOf", "allOf", "enum", "not"].iter().find(|k| schema.get(**k).is_some()) {
        return Err(format!("it must not have '{key}' at the top level"));
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| !properties.contains_key(*name)) {
        return Err(format!("'{missing}' is required but not one of the properties"));
    }
    well_formed(schema, &function["strict"])
}

fn well_formed(schema: &Value, strict: &Value) -> Validation {
    arrays(schema)?;
    references(schema)?;
    if strict == &Value::Bool(true) { self::strict(schema) } else { Ok(()) }
}

/// Checks a strict schema: each object forbids additional properties and requires all its own.
fn strict(schema: &Value) -> Validation {
    match schema {
        Value::Object(map) => {
            if map.get("type") == Some(&Value::from("object")) {
                closed(schema)?;
            }
            map.values().try_for_each(strict)
        }
        Value::Array(list) => list.iter().try_for_each(strict),
        _ => Ok(()),
    }
}

fn closed(object: &Value) -> Validation {
    if object["additionalProperties"] != Value::Bool(false) {
        return Err("'additionalProperties' is required to be supplied and to be false".to_owned());
    }
    let is_required =
        |name: &String| object["required"].as_array().is_some_and(|r| r.iter().any(|n| n == name));
    let left_out = object["properties"].as_object().and_then(|p| p.keys().find(|name| !is_required(name)));
    left_out
        .map_or(Ok(()), |name| Err(format!("'required' must name every property, and '{name}' is missing")))
}

/// Checks the answer format: text, JSON, or JSON with the schema in `details`.
pub(super) fn format(format: &Value, details: &Value) -> Validation {
    match format["type"].as_str() {
        Some("text" | "json_object") => unknown_field(format, &["type"])
            .map_or(Ok(()), |name| Err(format!("Unknown parameter: '{name}' of the format"))),
        Some("json_schema") => {
            if let Some(unknown) =
                unknown_field(details, &["type", "name", "description", "schema", "strict"])
            {
                return Err(format!("Unknown parameter: '{unknown}' of the format"));
            }
            if !non_empty_str(details, "name").is_some_and(is_name) {
                return Err("the schema of an answer needs a name of 1 to 64 of [a-zA-Z0-9_-]".to_owned());
            }
            if details["schema"]["type"] != "object" {
                return Err("the schema of an answer must have type 'object'".to_owned());
            }
            well_formed(&details["schema"], &details["strict"])
        }
        _ => Err("the format of an answer is one of text, json_object and json_schema".to_owned()),
    }
}

/// Returns `true` if a text mentions JSON. OpenAI requires that for JSON without a schema.
pub(super) fn speaks_of_json<'a>(mut texts: impl Iterator<Item = &'a Value>) -> bool {
    texts.any(|text| text.to_string().to_lowercase().contains("json"))
}
