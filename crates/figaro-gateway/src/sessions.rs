//! Stored data of a caller: sessions with their messages, and memories.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::caller::{Caller, CallerPlace};
use super::entities;
use super::error::GatewayError;
use super::gateway::Gateway;
use figaro_base::ids::{MemoryId, UserId};
use figaro_config::Rights;
use figaro_domain::conversation::Session;
use figaro_domain::erasure::{Erasure, Forgotten};
use figaro_domain::facts::OwnChange;

/// Default and maximum number of objects in a page.
const USUAL: usize = 50;
const MOST: usize = 500;

/// Page of a list: at most `limit` objects, after one and before another.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PageRequest<T> {
    limit: Option<usize>,
    after: Option<T>,
    before: Option<T>,
}

pub(super) struct CallerSession {
    pub(super) spot: CallerPlace,
    pub(super) session: Session,
}

const fn may_see(rights: &Rights) -> bool {
    rights.sessions
}

impl<T> PageRequest<T> {
    fn limit(&self) -> usize {
        self.limit.unwrap_or(USUAL).clamp(1, MOST)
    }
}

impl PageRequest<String> {
    /// Returns this page of the sessions, which are addressed by name. The flag is `true` if there are more in the
    /// direction of the page.
    fn of(&self, sessions: &[Session]) -> Result<(Vec<Session>, bool), GatewayError> {
        let place = |field: &str, name: &str| {
            let place = sessions.iter().position(|session| session.external_name.as_deref() == Some(name));
            place.ok_or_else(|| GatewayError::invalid("there is no session of this name").about(field))
        };
        let first =
            self.after.as_deref().map(|name| place("after", name)).transpose()?.map_or(0, |at| at + 1);
        let end =
            self.before.as_deref().map(|name| place("before", name)).transpose()?.unwrap_or(sessions.len());
        let part = sessions.get(first..end).unwrap_or_default();
        let limit = self.limit().min(part.len());
        // With `before` alone, the page ends right before that session.
        let from = if self.before.is_some() && self.after.is_none() { part.len() - limit } else { 0 };
        let page = part.get(from..from + limit).unwrap_or_default();
        Ok((page.to_vec(), page.len() < part.len()))
    }
}

/// Query of a page. A malformed query is refused in the format that clients know.
type Paged<T> = Result<Query<PageRequest<T>>, axum::extract::rejection::QueryRejection>;

fn page<T>(query: Paged<T>) -> Result<PageRequest<T>, GatewayError> {
    query.map(|Query(page)| page).map_err(|error| GatewayError::invalid(error.body_text()))
}

fn person(caller: &Caller) -> Result<UserId, GatewayError> {
    caller.require(may_see, "sessions")?;
    caller.person().ok_or_else(unknown)
}

fn unknown() -> GatewayError {
    GatewayError::forbidden("who is not known has sessions by their names alone: send X-User-Id, or a token")
}

/// Returns the existing session of this name. Never creates one.
pub(super) fn found(gateway: &Gateway, caller: &Caller, name: &str) -> Result<CallerSession, GatewayError> {
    caller.require(may_see, "sessions")?;
    let none = || GatewayError::not_found("no_session", "there is no session of this name");
    let conversation = gateway.store.external().find(&caller.session(name)?)?.ok_or_else(none)?;
    let current = gateway.store.sessions().current(conversation)?.ok_or_else(none)?;
    let session = gateway.store.sessions().find(current)?.ok_or_else(none)?;
    Ok(CallerSession { spot: caller.in_conversation(conversation), session })
}

/// Lists the sessions of a person, newest message first.
///
/// # Errors
/// If the caller is anonymous.
pub(super) async fn list(
    State(gateway): State<Gateway>,
    caller: Caller,
    query: Paged<String>,
) -> Result<Json<Value>, GatewayError> {
    caller.require(may_see, "sessions")?;
    let (home, page) = (caller.home().ok_or_else(unknown)?, page(query)?);
    let mut sessions = Vec::new();
    if let Some(home) = gateway.store.external().find(&home)? {
        for end in gateway.store.messages().session_ends(home.chat)? {
            let session = gateway.store.sessions().find(end.session)?;
            sessions.extend(session.filter(|session| session.external_name.is_some()));
        }
    }
    sessions.sort_by_key(|session| std::cmp::Reverse((session.updated_at, session.id)));
    let (sessions, has_more) = page.of(&sessions)?;
    let name = |session: Option<&Session>| session.and_then(|session| session.external_name.clone());
    let data: Vec<Value> = sessions.iter().map(entities::session).collect();
    Ok(Json(json!({
        "object": "list", "data": data, "has_more": has_more, "first_id": name(sessions.first()), "last_id": name(sessions.last()),
    })))
}

/// Shows a session with its counts of stored objects.
///
/// # Errors
/// If there is no such session.
pub(super) async fn one(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Value>, GatewayError> {
    let CallerSession { spot, session } = found(&gateway, &caller, &name)?;
    let outline = gateway.store.sessions().outline(session.id)?;
    let stats = gateway.store.sessions().stats(spot.place.chat, session.id)?;
    let mut shown = entities::session(&session);
    if let Some(shown) = shown.as_object_mut() {
        let stats = json!({
            "messages": outline.messages,
            "summaries": stats.summaries,
            "pins": stats.pins,
            "oldest": stats.oldest,
            "newest": stats.newest,
            "mean_importance": stats.importance,
        });
        shown.insert("stats".to_owned(), stats);
    }
    Ok(Json(shown))
}

/// Erases a session and everything said in it.
///
/// # Errors
/// If there is no such session, or a turn is running in it.
pub(super) async fn erase(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<StatusCode, GatewayError> {
    let CallerSession { spot, session } = found(&gateway, &caller, &name)?;
    let what = Erasure::of_external(spot.place.conversation(), session.id, spot.user);
    match gateway.eraser.erase(&what, None).await? {
        Forgotten::Done(_) => {
            gateway.hub.forget_conversation(spot.place.conversation());
            Ok(StatusCode::NO_CONTENT)
        }
        Forgotten::Busy => Err(GatewayError::conflict(
            "an answer is being written in this session: try again when it is done",
        )),
    }
}

/// Lists the messages of a session, oldest first.
///
/// # Errors
/// If there is no such session.
pub(super) async fn messages(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(name): Path<String>,
    query: Paged<u32>,
) -> Result<Json<Value>, GatewayError> {
    let page = page(query)?;
    let CallerSession { session, .. } = found(&gateway, &caller, &name)?;
    let from = page.after.map_or(0, |after| after.saturating_add(1));
    let limit = page.limit();
    let mut found = gateway.store.messages().messages_from(session.id, from, limit + 1)?;
    let is_before = |index: u32| page.before.is_none_or(|before| index < before);
    found.retain(|message| is_before(message.index));
    let has_more = found.len() > limit;
    found.truncate(limit);
    let kept = found.iter().filter(|message| !message.replaced);
    let messages: Vec<Value> = kept.map(|message| entities::message(message)).collect();
    let last = found.last().map(|message| message.index);
    Ok(Json(json!({"object": "list", "data": messages, "has_more": has_more, "last": last})))
}

/// Lists the memories of a person.
///
/// # Errors
/// If the caller is anonymous.
pub(super) async fn memories(
    State(gateway): State<Gateway>,
    caller: Caller,
) -> Result<Json<Value>, GatewayError> {
    let person = person(&caller)?;
    let memories = gateway.store.facts().of_person(&person)?;
    let shown = memories.iter().filter(|memory| memory.is_active()).map(entities::memory);
    Ok(Json(json!({"object": "list", "data": shown.collect::<Vec<_>>()})))
}

/// Removes a memory of a person.
///
/// # Errors
/// If there is no such memory.
pub(super) async fn remove_memory(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, GatewayError> {
    let person = person(&caller)?;
    let none = || GatewayError::not_found("no_memory", "there is no such memory");
    let memory: MemoryId = id.parse().map_err(|_odd| none())?;
    let now = gateway.clock.now();
    let removed = gateway.store.facts().change(&person, memory, OwnChange::Remove, now).await?;
    removed.ok_or_else(none)?;
    // Kept answers may contain the memory.
    gateway.hub.forget_caller(&caller.identity());
    Ok(StatusCode::NO_CONTENT)
}

/// Erases all memories of a person.
///
/// # Errors
/// If the caller is anonymous.
pub(super) async fn forget(
    State(gateway): State<Gateway>,
    caller: Caller,
) -> Result<Json<Value>, GatewayError> {
    let person = person(&caller)?;
    let erased = gateway.store.facts().erase(&person).await?;
    // Kept answers may contain the memories.
    gateway.hub.forget_caller(&caller.identity());
    Ok(Json(json!({"erased": erased})))
}
