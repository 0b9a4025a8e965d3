//! Answers requests for vectors in all dialects: checks, vectors and planned faults. Texts that share words get similar
//! vectors. Used by the dialects.

#[cfg(feature = "testing")]
mod fault;
#[cfg(test)]
mod tests;
mod words;

use axum::Json;
use axum::body::to_bytes;
use axum::extract::{Request, State};
#[cfg(feature = "testing")]
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use serde_json::Value;

use super::dialect::{DialectError, ModelCall, Service, VectorDialect};
use super::respond::{MAX_BODY_BYTES, refusal};
use super::shared::SharedModel;

/// Returns the route handler of a dialect.
pub(super) fn route(dialect: &'static dyn VectorDialect) -> MethodRouter<SharedModel> {
    post(move |State(shared): State<SharedModel>, request: Request| answer(shared, dialect, request))
}

/// Checks a request and answers it with vectors.
pub(super) async fn answer(
    shared: SharedModel,
    dialect: &'static dyn VectorDialect,
    request: Request,
) -> Response {
    let service = dialect.service();
    let (parts, body) = request.into_parts();
    let bytes = match to_bytes(body, MAX_BODY_BYTES).await {
        Ok(bytes) => bytes,
        Err(error) => return refusal(service, &error.to_string().into()),
    };
    let read = serde_json::from_slice::<Value>(&bytes);
    let read = read.map_err(|error| DialectError::from(format!("could not parse the JSON body: {error}")));
    let asked = service.identify(&parts.headers, &parts.uri).and_then(|()| {
        let call = ModelCall { headers: &parts.headers, uri: &parts.uri, body: &read? };
        dialect.read(&call)
    });
    let asked = match asked {
        Ok(asked) => asked,
        Err(wrong) => {
            // An unknown model is no fault of the bot.
            #[cfg(feature = "testing")]
            if wrong.status != StatusCode::NOT_FOUND {
                shared.records().add_violation(&wrong.message);
            }
            return refusal(service, &wrong);
        }
    };
    if shared.is_retired(&asked.model) {
        return refusal(service, &not_served(service, &asked.model));
    }
    let vectors: Vec<Vec<f32>> = asked.texts.iter().map(|text| words::vector(text)).collect();
    #[cfg(feature = "testing")]
    if let Some(fault) = shared.records().add_vectors(&asked) {
        return fault::response(dialect, &fault, &asked, vectors).await;
    }
    Json(dialect.write(&asked, &vectors)).into_response()
}

/// Returns the 404 error for an unknown model.
pub(super) fn not_served(service: &dyn Service, model: &str) -> DialectError {
    DialectError { status: axum::http::StatusCode::NOT_FOUND, message: service.gone(model) }
}

/// Parses a list of 1 to `most` texts. `name` is the field named in the error.
pub(super) fn texts(list: &Value, name: &str, most: usize) -> Result<Vec<String>, DialectError> {
    let wrong =
        || DialectError::from(format!("{name} must be a list of 1 to {most} texts: we always send a list"));
    let list = list.as_array().filter(|list| (1..=most).contains(&list.len())).ok_or_else(wrong)?;
    list.iter().map(|text| text.as_str().map(ToOwned::to_owned).ok_or_else(wrong)).collect()
}
