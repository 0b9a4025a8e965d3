//! The summaries of a session.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::caller::Caller;
use super::error::ApiError;
use super::gateway::Gateway;
use super::models::may_ask;
use super::sessions::{Found, found};
use figaro_agent::turn::summaries::Unmade;
use figaro_domain::summary::Summary;
use figaro_domain::usage::Usage;
use figaro_store::SummaryStore;

/// Lists the summaries of a session, those of the oldest messages first.
///
/// # Errors
/// If there is none.
pub(super) async fn list(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let Found { session, .. } = found(&gateway, &caller, &name).await?;
    let summaries = gateway.store.summaries(session.id).await?;
    let summaries: Vec<Value> =
        summaries.iter().filter(|summary| !summary.is_stale()).map(summary_json).collect();
    Ok(Json(json!({"object": "list", "data": summaries})))
}

/// Summarises what no summary of a session covers yet, as much as one covers.
///
/// # Errors
/// If there is no such session, nothing to be summarised, or no room for it.
pub(super) async fn make(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    caller.require(may_ask, "questions")?;
    let Found { session, .. } = found(&gateway, &caller, &name).await?;
    // It asks a model, so it counts as a question does.
    let (account, clock) = (caller.account.clone(), gateway.clock.clone());
    let room = caller.account.admit(clock.now().date_naive())?;
    let (told, made) = oneshot::channel();
    // Also for a caller who does not wait for it: the model works for them then, too.
    gateway.background.spawn("summary_asked", async move {
        let spent = |usage: Usage| account.spend(usage.total(), clock.now().date_naive());
        drop(told.send(gateway.summariser.now(session.id, &spent).await));
        drop(room);
    });
    // It ends without a word where the bot ends.
    let made = made.await.map_err(|_ended| ApiError::stopping())?;
    Ok((StatusCode::CREATED, Json(summary_json(&made.map_err(unmade)?))))
}

fn unmade(error: Unmade) -> ApiError {
    match error {
        Unmade::Nothing => ApiError {
            code: "nothing_to_summarise",
            ..ApiError::conflict("nothing is there to be summarised: summaries cover all that was said")
        },
        Unmade::Changed => ApiError::conflict(
            "the session has changed while it was summarised: look at its summaries, then ask again",
        ),
        Unmade::OverBudget => ApiError::too_many(
            "insufficient_quota",
            "the share of today's budget for work in the background is used up; the owner sets it by BACKGROUND_SHARE",
        ),
        Unmade::Model(why) => {
            tracing::warn!(why, "a session could not be summarised on request");
            ApiError::bad_gateway("no_summary", "the model gave no summary: ask again in a minute")
        }
        Unmade::Store(error) => error.into(),
    }
}

fn summary_json(summary: &Summary) -> Value {
    json!({
        "id": summary.id.to_string(), "object": "summary", "summary": summary.summary,
        "message_count": summary.message_count, "start": summary.start, "end": summary.end,
        "importance": summary.importance, "created_at": summary.created_at,
    })
}
