//! Pins of a session.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::body::{self, RequestBody};
use super::caller::Caller;
use super::entities;
use super::error::GatewayError;
use super::gateway::Gateway;
use super::sessions::{CallerSession, found};
use figaro_base::ids::{EntryId, PinId, SessionId};
use figaro_domain::conversation::Message;
use figaro_domain::pin::{MAX_CONTENT_CHARS, Pin, PinType};
use figaro_store::PinAdded;

/// Number of messages searched at a time.
const AT_ONCE: usize = 500;

/// Body of a request for a pin.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewPin {
    content: String,
    #[serde(default, alias = "importance")]
    importance_score: Option<f32>,
    #[serde(default)]
    pin_type: Option<PinType>,
    #[serde(default)]
    source_message_id: Option<EntryId>,
}

/// Lists the pins of a session.
///
/// # Errors
/// If there is no such session.
pub(super) async fn list(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Value>, GatewayError> {
    let CallerSession { spot, session } = found(&gateway, &caller, &name)?;
    let pins = gateway.store.pins().of_chat(spot.place.chat)?;
    // Internal notes, such as the start of a session, are in no prompt.
    let is_listed = |pin: &&Pin| pin.session == session.id && pin.is_shown_in(session.id);
    let pins: Vec<Value> = pins.iter().filter(is_listed).map(entities::pin).collect();
    Ok(Json(json!({"object": "list", "data": pins})))
}

/// Adds a pin to a session.
///
/// # Errors
/// If there is no such session or message, the content is empty, or the session has too many pins.
pub(super) async fn add(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(name): Path<String>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), GatewayError> {
    let CallerSession { spot, session } = found(&gateway, &caller, &name)?;
    let RequestBody { said: new, .. } = body::read::<NewPin>(&caller.account, request).await?;
    let content = new.content.trim();
    if content.is_empty() || content.chars().count() > MAX_CONTENT_CHARS {
        let words = format!("a pin has 1 to {MAX_CONTENT_CHARS} characters");
        return Err(GatewayError::invalid(words).about("content"));
    }
    let mut pin = Pin::new(spot.place.chat, session.id, content.to_owned(), gateway.clock.now());
    pin.author = Some(spot.user);
    pin.pin_type = new.pin_type.unwrap_or_default();
    if let Some(importance) = new.importance_score {
        if !(0.0..=10.0).contains(&importance) {
            return Err(GatewayError::invalid("the importance is from 0 to 10").about("importance_score"));
        }
        pin.importance = importance;
    }
    if let Some(source) = new.source_message_id {
        let none = || GatewayError::invalid("the session has no such message").about("source_message_id");
        let source = message_of(&gateway, session.id, source)?.ok_or_else(none)?;
        // Content that differs from the message is a quote: it stays when the message is edited.
        let is_part = source.text.trim() != content;
        pin = Pin { source_message_id: Some(source.id), source: Some(source.key()), is_part, ..pin };
    }
    match gateway.store.pins().add(&pin).await? {
        PinAdded::New => Ok((StatusCode::CREATED, Json(entities::pin(&pin)))),
        PinAdded::Already(id) => Ok((StatusCode::OK, Json(entities::pin(&Pin { id, ..pin })))),
        PinAdded::Full => Err(GatewayError::conflict("there is no room for more pins: remove one")),
    }
}

/// Returns a message of a session by its id.
fn message_of(
    gateway: &Gateway,
    session: SessionId,
    id: EntryId,
) -> Result<Option<Arc<Message>>, GatewayError> {
    let mut from = 0;
    loop {
        let read = gateway.store.messages().messages_from(session, from, AT_ONCE)?;
        if let Some(found) = read.iter().find(|message| message.id == id) {
            return Ok(Some(found.clone()));
        }
        match read.last() {
            Some(last) if read.len() == AT_ONCE => from = last.index.saturating_add(1),
            _ => return Ok(None),
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct PinPath {
    session: String,
    pin: String,
}

/// Removes a pin of a session.
///
/// # Errors
/// If there is no such pin.
pub(super) async fn remove(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(PinPath { session, pin }): Path<PinPath>,
) -> Result<StatusCode, GatewayError> {
    let none = || GatewayError::not_found("no_pin", "there is no such pin");
    let CallerSession { spot, session } = found(&gateway, &caller, &session)?;
    let pin: PinId = pin.parse().map_err(|_odd| none())?;
    let pins = gateway.store.pins().of_chat(spot.place.chat)?;
    if !pins.iter().any(|known| known.id == pin && known.session == session.id) {
        return Err(none());
    }
    gateway.store.pins().remove(spot.place.chat, pin).await?.map(|_| StatusCode::NO_CONTENT).ok_or_else(none)
}
