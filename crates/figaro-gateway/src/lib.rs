//! HTTP gateway: callers ask Figaro in the dialects of OpenAI, and the turns of `figaro-agent` answer them. `caller`
//! identifies the caller. `entry` and `asking` put the question into the queue of its conversation. `hub` passes the
//! events of its turn to its followers. `chat` and `responses` write them in a dialect. Called by the binary.
//! `docs/openai-api.md` is the manual.
//!
//! Public types to start from: [`gateway::Gateway`], [`router()`], [`hub::GatewayRunner`].

mod asking;
mod body;
pub mod caller;
mod chat;
pub mod counters;
mod entities;
mod entry;
mod error;
mod events;
mod file_part;
mod files;
pub mod gateway;
mod handover;
mod health;
pub mod hub;
pub mod listen;
pub mod metrics;
mod models;
mod openapi;
mod packs;
mod pins;
pub mod probes;
mod responses;
pub mod routes;
mod said;
mod sessions;
mod sse;
mod summaries;
mod turns;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::Uri;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};

pub(crate) use self::error::GatewayError;
use self::gateway::Gateway;
pub use self::models::unanswered;

/// Builds the router with all paths of the gateway, and with those of `beside`, whose requests are counted and bounded alike.
pub fn router(gateway: Gateway, beside: Router) -> Router {
    Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{name}", get(models::one))
        .route("/v1/chat/completions", post(chat::completions))
        .route("/v1/responses", post(responses::create))
        .route("/openapi.json", get(openapi::document))
        .route("/v1/turns/{id}", delete(turns::stop))
        .route("/v1/turns/{id}/events", get(turns::follow))
        .route("/v1/sessions/{session}/events", get(turns::follow_session))
        .route("/v1/sessions", get(sessions::list))
        .route("/v1/sessions/{session}", get(sessions::one).delete(sessions::erase))
        .route("/v1/sessions/{session}/messages", get(sessions::messages))
        .route("/v1/sessions/{session}/summaries", get(summaries::list).post(summaries::make))
        .route("/v1/sessions/{session}/pins", get(pins::list).post(pins::add))
        .route("/v1/sessions/{session}/pins/{pin}", delete(pins::remove))
        .route("/v1/files", get(files::list).post(files::upload))
        .route("/v1/files/{file}", get(files::one).delete(files::remove))
        .route("/v1/files/{file}/content", get(files::content))
        .route("/v1/memories", get(sessions::memories).delete(sessions::forget))
        .route("/v1/memories/{memory}", delete(sessions::remove_memory))
        .fallback(nothing)
        .method_not_allowed_fallback(other_method)
        .merge(beside.with_state(()))
        .layer(middleware::from_fn_with_state(gateway.clone(), counted))
        .with_state(gateway)
}

async fn nothing(uri: Uri) -> Response {
    let forgot_version = ["/chat/completions", "/responses", "/models"].contains(&uri.path());
    let words = match forgot_version {
        true => "there is nothing at this path: the base URL of your client must end in /v1",
        false => "there is nothing at this path; /openapi.json lists what there is",
    };
    GatewayError::not_found("unknown_path", words).into_response()
}

async fn other_method() -> Response {
    let error =
        GatewayError::invalid("this path does not take this method; /openapi.json lists what there is");
    GatewayError { status: axum::http::StatusCode::METHOD_NOT_ALLOWED, code: "method_not_allowed", ..error }
        .into_response()
}

/// Counts and logs a request. Neither contains any of its content.
async fn counted(State(gateway): State<Gateway>, request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let method = request.method().clone();
    let response = match listen::check_head(&request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    let status = response.status().as_u16();
    tracing::debug!(%method, path, status, "a request over HTTP");
    gateway.counters.request(&path, status);
    response
}
