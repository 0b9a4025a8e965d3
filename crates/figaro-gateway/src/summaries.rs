//! The summaries of a session.

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::body;
use super::caller::Caller;
use super::entities;
use super::error::ApiError;
use super::gateway::Gateway;
use super::models::may_ask;
use super::sessions::{Found, found};
use figaro_agent::turn::summaries::{Unmade, Wanted};
use figaro_base::ids::EntryId;
use figaro_domain::usage::Usage;

/// The body of a request for a summary.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct NewSummary {
    start_message_id: Option<EntryId>,
    end_message_id: Option<EntryId>,
}

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
    let summaries = gateway.store.summaries().of_session(session.id).await?;
    let summaries: Vec<Value> =
        summaries.iter().filter(|summary| !summary.is_stale()).map(entities::summary).collect();
    Ok(Json(json!({"object": "list", "data": summaries})))
}

/// Summarises the messages from one to another or, without these, what no summary of a session covers yet: as much as one covers.
///
/// # Errors
/// If there is no such session, nothing to be summarised, no room for it, or the messages are not those that come next.
pub(super) async fn make(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(name): Path<String>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    caller.require(may_ask, "questions")?;
    let Found { session, .. } = found(&gateway, &caller, &name).await?;
    let NewSummary { start_message_id, end_message_id } =
        body::read_or_none(&caller.account, request).await?;
    let wanted = Wanted { start: start_message_id, end: end_message_id };
    // It asks a model, so it counts as a question does.
    let (account, clock) = (caller.account.clone(), gateway.clock.clone());
    let room = caller.account.admit(clock.now())?;
    let (told, made) = oneshot::channel();
    // Also for a caller who does not wait for it: the model works for them then, too.
    let summariser = gateway.summariser.clone();
    gateway.background.spawn("summary_asked", async move {
        let spent = |usage: Usage| account.spend(usage.total(), clock.now().date_naive());
        drop(told.send(summariser.now(session.id, wanted, &spent).await));
        drop(room);
    });
    // It ends without a word where the bot ends.
    let made = made.await.map_err(|_ended| ApiError::stopping())?;
    Ok((StatusCode::CREATED, Json(entities::summary(&made.map_err(|why| gateway.dated(unmade(why)))?))))
}

fn unmade(error: Unmade) -> ApiError {
    match error {
        Unmade::Untiled { field, next } => ApiError::invalid(format!(
            "summaries have no gaps between them and do not overlap: the next one begins with the message {}, and ends with one behind it \
             or, where its messages were covered before, with {}",
            next.start,
            next.end.map_or_else(|| "any".to_owned(), |end| format!("the message {end}")),
        ))
        .about(field),
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
