//! The bot's menu button, of all private chats or of one.

use serde_json::{Value, json};

use super::super::error::BotApiError;
use super::super::mini_app;
use super::super::state::TelegramState;
use super::request::{CheckedRequest, MethodOutcome};

pub(super) fn set(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    // Telegram reads the button before the chat.
    let button = request.value("menu_button").cloned().unwrap_or_else(|| json!({"type": "default"}));
    check(&button)?;
    let chat = chat(state, request)?;
    state.menu.set(chat, button);
    state.tell("menu_buttons", json!({"buttons": state.menu_buttons()}));
    Ok(json!(true))
}

pub(super) fn get(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let chat = chat(state, request)?;
    Ok(state.menu.get(chat))
}

/// Returns the private chat of the call; `None` means all.
fn chat(state: &TelegramState, request: &CheckedRequest<'_>) -> Result<Option<i64>, BotApiError> {
    match request.number("chat_id") {
        None => Ok(None),
        Some(id) if id <= 0 => Err(BotApiError::bad("invalid chat_id specified")),
        Some(id) if state.world.people.contains_key(&id) => Ok(Some(id)),
        Some(_) => Err(BotApiError::bad("user not found")),
    }
}

fn check(button: &Value) -> Result<(), BotApiError> {
    if button["type"] != "web_app" {
        return Ok(());
    }
    if button["text"].as_str().is_none_or(str::is_empty) {
        return Err(BotApiError::bad("menu button text must be non-empty"));
    }
    let url = button["web_app"]["url"].as_str().unwrap_or_default();
    match mini_app::fault_of_url(url) {
        Some(fault) => Err(BotApiError::bad(format!("menu button Web App URL '{url}' is invalid: {fault}"))),
        None => Ok(()),
    }
}
