//! Summaries of a session.

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::body;
use super::caller::Caller;
use super::entities;
use super::error::GatewayError;
use super::gateway::Gateway;
use super::models::may_ask;
use super::sessions::{CallerSession, found};
use figaro_agent::turn::summaries::{SummaryRange, Unmade};
use figaro_base::ids::EntryId;

/// Body of a request for a summary.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct NewSummary {
    start_message_id: Option<EntryId>,
    end_message_id: Option<EntryId>,
}

/// Lists the summaries of a session, those of the oldest messages first.
///
/// # Errors
/// If there is no such session.
pub(super) async fn list(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Value>, GatewayError> {
    let CallerSession { session, .. } = found(&gateway, &caller, &name)?;
    let summaries = gateway.store.summaries().of_session(session.id)?;
    let summaries: Vec<Value> =
        summaries.iter().filter(|summary| !summary.is_stale()).map(entities::summary).collect();
    Ok(Json(json!({"object": "list", "data": summaries})))
}

/// Summarises a range of messages. Without a range, summarises the next messages without a summary, as many as one
/// summary covers.
///
/// # Errors
/// If there is no such session, nothing to summarise, or no room, or if the range does not continue the last summary.
pub(super) async fn make(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(name): Path<String>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), GatewayError> {
    caller.require(may_ask, "questions")?;
    let CallerSession { session, .. } = found(&gateway, &caller, &name)?;
    let NewSummary { start_message_id, end_message_id } =
        body::read_or_none(&caller.account, request).await?;
    let wanted = SummaryRange { start: start_message_id, end: end_message_id };
    // A summary asks a model, so it counts as a question.
    let (key, room) = (caller.account.key().map(str::to_owned), caller.account.admit()?);
    let (told, made) = oneshot::channel();
    // The summary is finished even if the caller disconnects. The model then works for them too.
    let summariser = gateway.summariser.clone();
    gateway.background.spawn("summary_asked", async move {
        drop(told.send(summariser.now(session.id, wanted, key.as_deref()).await));
        drop(room);
    });
    // The task ends without a result if the bot is stopping.
    let made = made.await.map_err(|_ended| GatewayError::stopping())?;
    Ok((StatusCode::CREATED, Json(entities::summary(&made.map_err(|why| gateway.dated(unmade(why)))?))))
}

fn unmade(error: Unmade) -> GatewayError {
    match error {
        Unmade::Untiled { field, next } => GatewayError::invalid(format!(
            "summaries have no gaps between them and do not overlap: the next one begins with the message {}, and ends with one behind it \
             or, where its messages were covered before, with {}",
            next.start,
            next.end.map_or_else(|| "any".to_owned(), |end| format!("the message {end}")),
        ))
        .about(field),
        Unmade::Nothing => GatewayError {
            code: "nothing_to_summarise",
            ..GatewayError::conflict("nothing is there to be summarised: summaries cover all that was said")
        },
        Unmade::Changed => GatewayError::conflict(
            "the session has changed while it was summarised: look at its summaries, then ask again",
        ),
        Unmade::OverBudget(until) => GatewayError {
            over_until: Some(until),
            ..GatewayError::too_many(
                "insufficient_quota",
                "the budget for work in the background is used up; the owner sets its share by BACKGROUND_SHARE",
            )
        },
        Unmade::Model(why) => {
            tracing::warn!(why, "a session could not be summarised on request");
            GatewayError::bad_gateway("no_summary", "the model gave no summary: ask again in a minute")
        }
        Unmade::Store(error) => error.into(),
    }
}
