//! Liveness, readiness and metrics of the bot.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::caller::Caller;
use super::error::GatewayError;
use super::gateway::Gateway;
use super::metrics::Gauge;

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

/// Returns the metrics in the text format of Prometheus.
///
/// # Errors
/// If the caller may not read them.
pub(super) async fn metrics(
    State(gateway): State<Gateway>,
    caller: Caller,
) -> Result<Response, GatewayError> {
    caller.require(|rights| rights.metrics || rights.owner, "metrics")?;
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let up = gateway.clock.now() - gateway.vitals.started_at;
    let gauges = [
        Gauge {
            name: "uptime_seconds",
            help: "Since the bot started.",
            value: u64::try_from(up.num_seconds()).unwrap_or_default(),
        },
        Gauge {
            name: "turns_running",
            help: "Turns that run, those of Telegram too.",
            value: count(gateway.mailboxes.running().len()),
        },
        Gauge {
            name: "questions_waiting",
            help: "Questions and tasks that wait, those of Telegram too.",
            value: count(gateway.mailboxes.waiting()),
        },
        Gauge {
            name: "http_turns_open",
            help: "Turns of the gateway that wait or run.",
            value: count(gateway.hub.open()),
        },
        Gauge {
            name: "tokens_today",
            help: "Tokens of all model calls of the day.",
            value: gateway.ledger.spent_today().tokens,
        },
    ];
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((kind, gateway.meters.text(&gauges)).into_response())
}
