//! Liveness, readiness and metrics of the bot.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::caller::Caller;
use super::error::GatewayError;
use super::gateway::Gateway;
use super::probes;

/// Reports that the process is alive.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// Reports whether the bot takes questions.
pub(super) async fn ready(State(gateway): State<Gateway>) -> Response {
    match gateway.background.is_stopping() {
        false => "ready\n".into_response(),
        true => (StatusCode::SERVICE_UNAVAILABLE, "stopping\n").into_response(),
    }
}

/// Returns the metrics of the process in the text format of OpenMetrics.
///
/// # Errors
/// If the caller may not read them.
pub(super) async fn metrics(
    State(gateway): State<Gateway>,
    caller: Caller,
) -> Result<Response, GatewayError> {
    probes::answer(&gateway.metrics, &caller)
}
