//! The HTTP side of the offline model: checks a request, asks the brain, streams or fails as it says.

use std::io;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::StreamExt;
use futures::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::OfflineModel;
use super::reply::{Kind, Part, Reply};
use super::request::ModelRequest;
use super::{rules, stream as events};

const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// Serves until the tasks stop.
pub(super) async fn serve(model: OfflineModel, listener: TcpListener) {
    let tasks = model.0.tasks.clone();
    let app = Router::new()
        .route("/v1/responses", post(respond))
        .route("/v1/models", get(models))
        .with_state(model);
    let stop = async move { tasks.stopping().await };
    if let Err(error) = axum::serve(listener, app).with_graceful_shutdown(stop).await {
        tracing::error!(%error, "the offline model stopped serving");
    }
}

async fn models(State(model): State<OfflineModel>, headers: HeaderMap) -> Response {
    if !has_bearer(&headers) {
        return refusal(StatusCode::UNAUTHORIZED, NO_KEY);
    }
    let created = model.0.clock.now().timestamp();
    let known = json!({"id": "offline", "object": "model", "created": created, "owned_by": "figaro"});
    Json(json!({"object": "list", "data": [known]})).into_response()
}

const NO_KEY: &str = "You didn't provide an API key. Send it in an Authorization header using Bearer auth.";

async fn respond(State(model): State<OfflineModel>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = match to_bytes(body, MAX_BODY_BYTES).await {
        Ok(bytes) => bytes,
        Err(error) => return refusal(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let parsed = serde_json::from_slice(&bytes);
    let complaint = match &parsed {
        _ if !has_bearer(&parts.headers) => Err((StatusCode::UNAUTHORIZED, NO_KEY.to_owned())),
        Ok(body) => rules::check(body).map_err(|why| (StatusCode::BAD_REQUEST, why)),
        Err(error) => Err((StatusCode::BAD_REQUEST, format!("could not parse the JSON body: {error}"))),
    };
    let request = ModelRequest { body: parsed.unwrap_or_default() };
    let violation = complaint.as_ref().err().map(|(_, why)| why.as_str());
    let number = model.note(&request, violation);
    if let Err((status, why)) = &complaint {
        return refusal(*status, why);
    }
    let reply = model.0.brain.answer(&request);
    let stopped = model.0.tasks.clone();
    tokio::select! {
        () = stopped.stopping() => refusal(StatusCode::SERVICE_UNAVAILABLE, "the offline model is stopping"),
        response = answer(&model, &request, reply, number) => response,
    }
}

async fn answer(model: &OfflineModel, request: &ModelRequest, reply: Reply, number: u64) -> Response {
    if let Some(gate) = &reply.gate {
        gate.opened().await;
    }
    match &reply.kind {
        Kind::NoHeaders => std::future::pending().await,
        Kind::Status { status, body, retry_after } => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let mut response = (status, Json(body)).into_response();
            if let Some(seconds) = retry_after {
                response.headers_mut().insert(header::RETRY_AFTER, (*seconds).into());
            }
            response
        }
        Kind::Raw(bytes) => event_stream(Body::from(bytes.clone())),
        Kind::Silence => {
            let silence = stream::pending::<Result<Vec<u8>, io::Error>>();
            event_stream(Body::from_stream(silence.take_until(stopping(model))))
        }
        Kind::Turn(parts) => {
            let body = turn(model, request, &reply, (parts, number));
            event_stream(body)
        }
    }
}

fn turn(
    model: &OfflineModel,
    request: &ModelRequest,
    reply: &Reply,
    (parts, number): (&[Part], u64),
) -> Body {
    let created = model.0.clock.now().timestamp();
    let events = events::events(request, reply, parts, (number, created));
    let (delay, kept) = (reply.delay, reply.cut_after.unwrap_or(usize::MAX));
    let cut = events.len() > kept;
    let whole = stream::iter(events).take(kept).then(move |event| async move {
        if event.is_delta && !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        Ok(event.bytes())
    });
    let broken = cut.then(|| Err(io::Error::from(io::ErrorKind::ConnectionReset)));
    // What was sent before the break must leave before it does.
    let broken = stream::iter(broken).then(|error| async {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        error
    });
    Body::from_stream(whole.chain(broken).take_until(stopping(model)))
}

fn stopping(model: &OfflineModel) -> impl Future<Output = ()> + use<> {
    let tasks = model.0.tasks.clone();
    async move { tasks.stopping().await }
}

fn event_stream(body: Body) -> Response {
    ([(header::CONTENT_TYPE, "text/event-stream; charset=utf-8")], body).into_response()
}

fn has_bearer(headers: &HeaderMap) -> bool {
    let value = headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok());
    value.and_then(|v| v.strip_prefix("Bearer ")).is_some_and(|key| !key.trim().is_empty())
}

fn refusal(status: StatusCode, message: &str) -> Response {
    let code = if status == StatusCode::UNAUTHORIZED { json!("invalid_api_key") } else { Value::Null };
    let error = json!({"message": message, "type": "invalid_request_error", "param": null, "code": code});
    (status, Json(json!({"error": error}))).into_response()
}
