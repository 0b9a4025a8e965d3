//! What is kept of a caller: their sessions, with messages and pins, and what is remembered of them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::body::{self, Body};
use super::caller::{Caller, Spot};
use super::error::ApiError;
use super::gateway::Gateway;
use figaro_base::ids::{MemoryId, PinId, UserId};
use figaro_config::Rights;
use figaro_domain::conversation::{Message, Role, Session};
use figaro_domain::erasure::{Erasure, Forgotten};
use figaro_domain::facts::OwnChange;
use figaro_domain::pin::{MAX_CONTENT_CHARS, Pin};
use figaro_store::{ErasureStore, ExternalStore, FactStore, MemoryStore, PinAdded, PinStore, SessionStore};

/// So many things are given at once where nobody says how many, and at most.
const USUAL: usize = 50;
const MOST: usize = 500;

/// Which part of a list is wanted.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Page {
    /// At most so many.
    #[serde(default)]
    limit: Option<usize>,
    /// Those behind this one.
    #[serde(default)]
    after: Option<u32>,
}

/// What is to be pinned.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct NewPin {
    content: String,
    #[serde(default)]
    importance: Option<f32>,
}

/// A session of a caller.
pub(super) struct Found {
    pub(super) spot: Spot,
    pub(super) session: Session,
}

const fn may_see(rights: &Rights) -> bool {
    rights.sessions
}

impl Page {
    fn limit(self) -> usize {
        self.limit.unwrap_or(USUAL).clamp(1, MOST)
    }
}

/// A query as this page; what is none is refused in the form that clients know.
type Paged = Result<Query<Page>, axum::extract::rejection::QueryRejection>;

fn page(query: Paged) -> Result<Page, ApiError> {
    query.map(|Query(page)| page).map_err(|error| ApiError::invalid(error.body_text()))
}

/// The person who asks.
fn person(caller: &Caller) -> Result<UserId, ApiError> {
    caller.require(may_see, "sessions")?;
    caller.person().ok_or_else(unknown)
}

fn unknown() -> ApiError {
    ApiError::forbidden("who is not known has sessions by their names alone: send X-User-Id, or a token")
}

/// The session of this name, which nothing here begins.
pub(super) async fn found(gateway: &Gateway, caller: &Caller, name: &str) -> Result<Found, ApiError> {
    caller.require(may_see, "sessions")?;
    let none = || ApiError::not_found("no_session", "there is no session of this name");
    let conversation = gateway.store.external(&caller.session(name)?).await?.ok_or_else(none)?;
    let current = gateway.store.current_session(conversation).await?.ok_or_else(none)?;
    let session = gateway.store.session_by_id(current).await?.ok_or_else(none)?;
    Ok(Found { spot: caller.in_conversation(conversation), session })
}

/// Lists the sessions of a person, the one with the newest message first.
///
/// # Errors
/// If nobody knows who asks.
pub(super) async fn list(
    State(gateway): State<Gateway>,
    caller: Caller,
    query: Paged,
) -> Result<Json<Value>, ApiError> {
    caller.require(may_see, "sessions")?;
    let (home, page) = (caller.home().ok_or_else(unknown)?, page(query)?);
    let mut sessions = Vec::new();
    if let Some(home) = gateway.store.external(&home).await? {
        for end in gateway.store.session_ends(home.chat).await? {
            let session = gateway.store.session_by_id(end.session).await?;
            sessions.extend(session.filter(|session| session.external_name.is_some()));
        }
    }
    sessions.sort_by_key(|session| std::cmp::Reverse(session.updated_at));
    let sessions: Vec<Value> = sessions.iter().take(page.limit()).map(session_json).collect();
    Ok(Json(json!({"object": "list", "data": sessions})))
}

/// Shows a session, with what is kept of it.
///
/// # Errors
/// If there is none.
pub(super) async fn one(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let Found { spot, session } = found(&gateway, &caller, &name).await?;
    let outline = gateway.store.outline(session.id).await?;
    let stats = gateway.store.session_stats(spot.place.chat, session.id).await?;
    let mut shown = session_json(&session);
    if let Some(shown) = shown.as_object_mut() {
        let stats = json!({
            "messages": outline.messages,
            "summaries": stats.summaries,
            "pins": stats.pins,
            "oldest": session.created_at,
            "newest": session.updated_at,
            "mean_importance": stats.importance,
        });
        shown.insert("stats".to_owned(), stats);
    }
    Ok(Json(shown))
}

/// Erases a session with all that was said in it.
///
/// # Errors
/// If there is none, or a turn of it is at work.
pub(super) async fn erase(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<StatusCode, ApiError> {
    let Found { spot, session } = found(&gateway, &caller, &name).await?;
    let what = Erasure::of_external(spot.place.conversation(), session.id, spot.user);
    match gateway.store.erase(&what, gateway.clock.now()).await? {
        Forgotten::Done(_) => {
            gateway.hub.forget_conversation(spot.place.conversation());
            Ok(StatusCode::NO_CONTENT)
        }
        Forgotten::Busy => {
            Err(ApiError::conflict("an answer is being written in this session: try again when it is done"))
        }
    }
}

/// Lists the messages of a session, the oldest first.
///
/// # Errors
/// If there is none.
pub(super) async fn messages(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(name): Path<String>,
    query: Paged,
) -> Result<Json<Value>, ApiError> {
    let page = page(query)?;
    let Found { session, .. } = found(&gateway, &caller, &name).await?;
    let from = page.after.map_or(0, |after| after.saturating_add(1));
    let limit = page.limit();
    let found = gateway.store.messages_from(session.id, from, limit).await?;
    let has_more = found.len() == limit;
    let messages: Vec<Value> = found.iter().filter(|message| !message.replaced).map(message_json).collect();
    let last = found.last().map(|message| message.index);
    Ok(Json(json!({"object": "list", "data": messages, "has_more": has_more, "last": last})))
}

/// Lists the pins of a session.
///
/// # Errors
/// If there is none.
pub(super) async fn pins(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let Found { spot, session } = found(&gateway, &caller, &name).await?;
    let pins = gateway.store.pins(spot.place.chat).await?;
    // What Figaro notes for itself, such as when a session began, stands in no prompt.
    let is_listed = |pin: &&Pin| pin.session == session.id && pin.is_shown_in(session.id);
    let pins: Vec<Value> = pins.iter().filter(is_listed).map(pin_json).collect();
    Ok(Json(json!({"object": "list", "data": pins})))
}

/// Pins words for a session.
///
/// # Errors
/// If there is no session, no words, or no room.
pub(super) async fn add_pin(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(name): Path<String>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let Found { spot, session } = found(&gateway, &caller, &name).await?;
    let Body { said: new, .. } = body::read::<NewPin>(&caller.account, request).await?;
    let content = new.content.trim();
    if content.is_empty() || content.chars().count() > MAX_CONTENT_CHARS {
        let words = format!("a pin has 1 to {MAX_CONTENT_CHARS} characters");
        return Err(ApiError::invalid(words).about("content"));
    }
    let mut pin = Pin::new(spot.place.chat, session.id, content.to_owned(), gateway.clock.now());
    pin.author = Some(spot.user);
    if let Some(importance) = new.importance {
        if !(0.0..=10.0).contains(&importance) {
            return Err(ApiError::invalid("the importance is from 0 to 10").about("importance"));
        }
        pin.importance = importance;
    }
    match gateway.store.add_pin(&pin).await? {
        PinAdded::New => Ok((StatusCode::CREATED, Json(pin_json(&pin)))),
        PinAdded::Already(id) => Ok((StatusCode::OK, Json(pin_json(&Pin { id, ..pin })))),
        PinAdded::Full => Err(ApiError::conflict("there is no room for more pins: remove one")),
    }
}

/// Removes a pin of a session.
///
/// # Errors
/// If there is none.
pub(super) async fn remove_pin(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(PinPath { session, pin }): Path<PinPath>,
) -> Result<StatusCode, ApiError> {
    let none = || ApiError::not_found("no_pin", "there is no such pin");
    let Found { spot, session } = found(&gateway, &caller, &session).await?;
    let pin: PinId = pin.parse().map_err(|_odd| none())?;
    let is_there = gateway
        .store
        .pins(spot.place.chat)
        .await?
        .iter()
        .any(|known| known.id == pin && known.session == session.id);
    if !is_there {
        return Err(none());
    }
    gateway.store.remove_pin(spot.place.chat, pin).await?.map(|_| StatusCode::NO_CONTENT).ok_or_else(none)
}

/// A pin of a session.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct PinPath {
    session: String,
    pin: String,
}

/// Lists what is remembered of a person.
///
/// # Errors
/// If nobody knows who asks.
pub(super) async fn memories(
    State(gateway): State<Gateway>,
    caller: Caller,
) -> Result<Json<Value>, ApiError> {
    let person = person(&caller)?;
    let memories = gateway.store.memories(&person).await?;
    let shown = memories.iter().filter(|memory| memory.is_active()).map(|memory| {
        json!({
            "id": memory.id.to_string(), "object": "memory", "content": memory.content,
            "access_count": memory.access_count, "created_at": memory.created_at, "updated_at": memory.updated_at,
        })
    });
    Ok(Json(json!({"object": "list", "data": shown.collect::<Vec<_>>()})))
}

/// Removes something that is remembered of a person.
///
/// # Errors
/// If there is none.
pub(super) async fn remove_memory(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    let person = person(&caller)?;
    let none = || ApiError::not_found("no_memory", "there is no such memory");
    let memory: MemoryId = id.parse().map_err(|_odd| none())?;
    let now = gateway.clock.now();
    let removed = gateway.store.change_memory(&person, memory, OwnChange::Remove, now).await?;
    removed.ok_or_else(none)?;
    // Answers tell what was remembered.
    gateway.hub.forget_caller(&caller.identity());
    Ok(StatusCode::NO_CONTENT)
}

/// Erases all that is remembered of a person.
///
/// # Errors
/// If nobody knows who asks.
pub(super) async fn forget(State(gateway): State<Gateway>, caller: Caller) -> Result<Json<Value>, ApiError> {
    let person = person(&caller)?;
    let erased = gateway.store.erase_memories(&person).await?;
    // Answers tell what was remembered.
    gateway.hub.forget_caller(&caller.identity());
    Ok(Json(json!({"erased": erased})))
}

fn session_json(session: &Session) -> Value {
    json!({
        "id": session.external_name,
        "object": "session",
        "name": session.name.as_ref().map(|name| &name.text),
        "created_at": session.created_at,
        "updated_at": session.updated_at,
    })
}

fn message_json(message: &Arc<Message>) -> Value {
    let tool =
        message.tool.as_ref().map(|tool| json!({"name": tool.tool_name, "arguments": tool.tool_arguments}));
    json!({
        "index": message.index,
        "role": message.role,
        // What a tool found is data of others, and may be orders to whatever model a client shows it to.
        "content": (message.role != Role::Tool).then_some(&message.text),
        "model": message.model_id,
        "tool": tool.filter(|_| message.role == Role::Tool),
        "importance": message.importance,
        "created_at": message.created_at,
    })
}

fn pin_json(pin: &Pin) -> Value {
    json!({
        "id": pin.id.to_string(), "object": "pin", "content": pin.content,
        "importance": pin.importance, "pin_type": pin.pin_type, "created_at": pin.created_at,
    })
}
