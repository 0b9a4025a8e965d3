//! Calls in the name of a person who connected the bot to their account.

use serde_json::{Map, Value, json};

use super::super::error::BotApiError;
use super::super::state::TelegramState;
use super::request::{CheckedRequest, MethodOutcome};

/// Sends a message in the name of the person. The bot then gets it as an update, like every message of the account.
pub(super) fn send(
    state: &mut TelegramState,
    request: &CheckedRequest<'_>,
    connection: &str,
    mut content: Map<String, Value>,
) -> MethodOutcome {
    let chat = request.number("chat_id").unwrap_or_default();
    content.insert("date".to_owned(), json!(request.now));
    content.insert("sender_business_bot".to_owned(), state.world.bot.json());
    let message = state.business.send(connection, chat, content)?;
    state.updates.push("business_message", &message);
    state.tell("business", message.clone());
    Ok(message)
}

pub(super) fn get_connection(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let id = request.text("business_connection_id").unwrap_or_default();
    let link = state.business.connections.get(id);
    link.map(|link| link.json(id)).ok_or_else(|| BotApiError::bad("business connection not found"))
}

pub(super) fn read(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let connection = request.text("business_connection_id").unwrap_or_default();
    let link = state.business.usable(connection, "can_read_messages")?;
    let (chat, id) =
        (request.number("chat_id").unwrap_or_default(), request.number("message_id").unwrap_or_default());
    if !link.messages.get(&chat).is_some_and(|all| all.iter().any(|message| message["message_id"] == id)) {
        return Err(BotApiError::bad("MESSAGE_ID_INVALID"));
    }
    link.read.push((chat, id));
    Ok(json!(true))
}
