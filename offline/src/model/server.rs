//! Server of the offline model, with the routes of all dialects. An unknown route returns an error in no particular format.

use axum::extract::Request;
#[cfg(feature = "testing")]
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::json;
use tokio::net::TcpListener;

use super::shared::SharedModel;
use super::{chat, embeddings, gemini, ollama, openai, responses};
use crate::at_once;

/// Serves all dialects until the runtime stops.
pub(super) async fn serve(shared: SharedModel, listener: TcpListener) {
    let app = Router::new()
        .merge(openai::routes())
        .merge(embeddings::routes())
        .merge(responses::routes())
        .merge(chat::routes())
        .merge(ollama::routes())
        .merge(gemini::routes())
        .fallback(unknown)
        .with_state(shared.clone());
    let stop = async move { shared.stopping().await };
    if let Err(error) = axum::serve(at_once(listener), app).with_graceful_shutdown(stop).await {
        tracing::error!(%error, "the offline model stopped serving");
    }
}

async fn unknown(
    #[cfg(feature = "testing")] State(shared): State<SharedModel>,
    request: Request,
) -> Response {
    let why = format!("there is no {} {}", request.method(), request.uri().path());
    #[cfg(feature = "testing")]
    shared.records().add_violation(&why);
    (StatusCode::NOT_FOUND, Json(json!({"error": why}))).into_response()
}
