//! Following of turns: by the caller who began them, from the beginning, and any number of times.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::response::sse::Event;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use super::caller::{Caller, header};
use super::chat::usage;
use super::error::GatewayError;
use super::events::{events, metadata};
use super::gateway::Gateway;
use super::hub::{Follower, HubTurn};
use super::models::may_ask;
use super::said::TurnTranscript;
use super::sse::{self, TurnEventWriter};
use figaro_agent::delivery::{OutsideEvent, TurnEvent, TurnEventKind};
use figaro_base::ids::RequestId;

/// Follows a turn.
///
/// # Errors
/// If the caller has no such turn.
pub(super) async fn follow(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, GatewayError> {
    caller.require(may_ask, "questions")?;
    let turn = turn_of(&gateway, &caller, &id)?;
    let seen = header(&headers, "last-event-id")?.map(str::parse::<usize>).transpose();
    let seen = seen.map_err(|_odd| GatewayError::invalid("Last-Event-ID is no number of an event"))?;
    Ok(stream(turn, seen, caller.account.follow()?))
}

/// Follows the newest turn of a session.
///
/// # Errors
/// If there is no such turn.
pub(super) async fn follow_session(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(session): Path<String>,
) -> Result<Response, GatewayError> {
    caller.require(may_ask, "questions")?;
    let conversation = gateway.store.external().find(&caller.session(&session)?)?;
    let turn = conversation.and_then(|conversation| gateway.hub.newest_in(conversation));
    let turn = turn.filter(|turn| turn.is_of(&caller.identity()));
    let turn = turn
        .ok_or_else(|| GatewayError::not_found("no_turn", "no turn of this session can be followed now"))?;
    Ok(stream(turn, None, caller.account.follow()?))
}

/// Stops a turn, even while others follow it.
///
/// # Errors
/// If the caller has no such turn.
pub(super) async fn stop(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, GatewayError> {
    caller.require(may_ask, "questions")?;
    let turn = id_of(&id).and_then(|id| gateway.hub.any_turn(id, &caller.identity())).ok_or_else(no_turn)?;
    turn.stop();
    Ok(StatusCode::NO_CONTENT)
}

/// Returns a turn by the id in the headers of its answer.
fn turn_of(gateway: &Gateway, caller: &Caller, id: &str) -> Result<Arc<HubTurn>, GatewayError> {
    id_of(id).and_then(|id| gateway.hub.turn(id, &caller.identity())).ok_or_else(no_turn)
}

fn id_of(id: &str) -> Option<RequestId> {
    id.trim_start_matches("chatcmpl-").trim_start_matches("resp_").parse().ok()
}

fn no_turn() -> GatewayError {
    GatewayError::not_found(
        "no_turn",
        "there is no such turn of yours, or it was over more than ten minutes ago",
    )
}

fn stream(turn: Arc<HubTurn>, seen: Option<usize>, place: OwnedSemaphorePermit) -> Response {
    let first = seen.is_none().then(|| sse::event("metadata", &metadata(&turn)));
    let following = FollowerState { said: TurnTranscript::default(), at: 0, seen, _place: place };
    sse::stream(first.into_iter().collect(), Follower::new(turn), following)
}

/// State of a follower: the text so far and its position.
struct FollowerState {
    said: TurnTranscript,
    /// Number of messages read so far.
    at: usize,
    /// Number of messages that the follower saw before; `None` for a new follower.
    seen: Option<usize>,
    /// Permit among the caller's followers.
    _place: OwnedSemaphorePermit,
}

impl TurnEventWriter for FollowerState {
    fn hear(&mut self, told: &OutsideEvent) -> Vec<Event> {
        self.said.hear(told);
        let written = match told {
            OutsideEvent::Event(TurnEvent { kind: TurnEventKind::Delta(text), .. }) => {
                self.numbered("delta", &json!({"text": text})).into_iter().collect()
            }
            _ => events(told).iter().filter_map(|event| self.numbered(event.name, &event.data)).collect(),
        };
        self.at += 1;
        written
    }

    fn end(&mut self, turn: &HubTurn) -> Vec<Event> {
        let written = match self.said.ended(turn) {
            Ok(closing) => {
                let model = closing.model.as_ref().map(ToString::to_string);
                let calls = turn.handover().map_or(0, |handover| handover.calls.len());
                let done = json!({
                    "text": self.said.whole(), "model": model, "usage": usage(closing.usage), "calls_for_you": calls,
                });
                self.numbered("done", &done)
            }
            Err(error) => self.numbered("error", &error.body()),
        };
        written.into_iter().collect()
    }

    fn hears_after(&self) -> bool {
        true
    }
}

impl FollowerState {
    /// Returns a numbered event, or `None` if the follower has seen it.
    fn numbered(&self, name: &str, data: &Value) -> Option<Event> {
        self.seen.is_none_or(|seen| self.at > seen).then(|| sse::numbered(self.at, name, data))
    }
}
