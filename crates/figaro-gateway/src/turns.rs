//! Turns that can be followed: by whoever began them, from their beginning, and as often as they like.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;

use super::caller::{Caller, header};
use super::chat::usage;
use super::error::ApiError;
use super::events::{Metadata, event};
use super::gateway::Gateway;
use super::hub::{Follower, Turn};
use super::models::may_ask;
use super::said::Said;
use super::sse::{self, Frames};
use figaro_agent::delivery::{Told, TurnEventKind};
use figaro_base::ids::RequestId;
use figaro_store::ExternalStore;

/// So often something is sent where a turn says nothing.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Follows a turn.
///
/// # Errors
/// If there is no such turn of the caller's.
pub(super) async fn follow(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    caller.require(may_ask, "questions")?;
    let turn = turn_of(&gateway, &caller, &id)?;
    let seen = header(&headers, "last-event-id")?.map(str::parse::<usize>).transpose();
    let seen = seen.map_err(|_odd| ApiError::invalid("Last-Event-ID is no number of an event"))?;
    Ok(stream(turn, seen, caller.account.follow()?))
}

/// Follows the newest turn of a session.
///
/// # Errors
/// If there is none.
pub(super) async fn follow_session(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(session): Path<String>,
) -> Result<Response, ApiError> {
    caller.require(may_ask, "questions")?;
    let conversation = gateway.store.external(&caller.session(&session)?).await?;
    let turn = conversation.and_then(|conversation| gateway.hub.newest_in(conversation));
    let turn = turn.filter(|turn| turn.is_of(&caller.identity()));
    let turn =
        turn.ok_or_else(|| ApiError::not_found("no_turn", "no turn of this session can be followed now"))?;
    Ok(stream(turn, None, caller.account.follow()?))
}

/// Stops a turn, whoever follows it.
///
/// # Errors
/// If there is no such turn of the caller's.
pub(super) async fn stop(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    caller.require(may_ask, "questions")?;
    let turn = id_of(&id).and_then(|id| gateway.hub.any_turn(id, &caller.identity())).ok_or_else(no_turn)?;
    turn.stop();
    Ok(StatusCode::NO_CONTENT)
}

/// A turn by the id that the head of its answer has.
fn turn_of(gateway: &Gateway, caller: &Caller, id: &str) -> Result<Arc<Turn>, ApiError> {
    id_of(id).and_then(|id| gateway.hub.turn(id, &caller.identity())).ok_or_else(no_turn)
}

fn id_of(id: &str) -> Option<RequestId> {
    id.trim_start_matches("chatcmpl-").trim_start_matches("resp_").parse().ok()
}

fn no_turn() -> ApiError {
    ApiError::not_found("no_turn", "there is no such turn of yours, or it was over more than ten minutes ago")
}

fn stream(turn: Arc<Turn>, seen: Option<usize>, place: OwnedSemaphorePermit) -> Response {
    let metadata = Metadata { turn: turn.id(), session: None, agent: turn.agent().map(str::to_owned) };
    let first = seen.is_none().then(|| sse::event("metadata", &metadata.json()));
    sse::stream(Following {
        follower: Follower::new(turn),
        said: Said::default(),
        at: 0,
        seen,
        first,
        is_over: false,
        _place: place,
    })
}

/// What is still to be sent to a follower.
struct Following {
    follower: Follower,
    said: Said,
    /// So many things were told.
    at: usize,
    /// The follower has seen so much before.
    seen: Option<usize>,
    first: Option<String>,
    is_over: bool,
    /// Among the followers of the caller.
    _place: OwnedSemaphorePermit,
}

impl Frames for Following {
    async fn next(&mut self) -> Option<String> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        if self.is_over {
            return None;
        }
        loop {
            let told = match tokio::time::timeout(KEEP_ALIVE, self.follower.next()).await {
                Err(_silent) => return Some(sse::comment("keep-alive")),
                Ok(told) => told,
            };
            let Some(told) = told else {
                self.is_over = true;
                return self.seen.is_none_or(|seen| self.at > seen).then(|| self.end());
            };
            let at = self.at;
            self.at += 1;
            let frame = self.frame(&told, at);
            if let Some(frame) = frame.filter(|_| self.seen.is_none_or(|seen| at > seen)) {
                return Some(frame);
            }
        }
    }
}

impl Following {
    fn frame(&mut self, told: &Told, at: usize) -> Option<String> {
        self.said.hear(told);
        if let Told::Event(event) = told
            && let TurnEventKind::Delta(text) = &event.kind
        {
            return Some(sse::numbered(at, "delta", &json!({"text": text})));
        }
        event(told).map(|event| sse::numbered(at, event.name, &event.data))
    }

    fn end(&self) -> String {
        match self.said.ended(self.follower.turn()) {
            Ok(closing) => {
                let model = closing.model.as_ref().map(ToString::to_string);
                let handover = self.follower.turn().handover();
                let calls = handover.map_or(0, |handover| handover.calls.len());
                let done = json!({
                    "text": self.said.whole(), "model": model, "usage": usage(closing.usage), "calls_for_you": calls,
                });
                sse::numbered(self.at, "done", &done)
            }
            Err(error) => sse::numbered(self.at, "error", &error.body()),
        }
    }
}
