//! Keyboards under messages: checks, and the fields stored with a message.

use serde_json::{Value, json};

use super::super::entities::covered;
use super::super::error::BotApiError;
use super::super::mini_app;
use super::super::world::{Person, World, inline_buttons};

/// Checks that every button of an inline keyboard has exactly one working action.
pub(in super::super) fn check(markup: Option<&Value>) -> Result<(), BotApiError> {
    inline_buttons(markup).try_for_each(check_button)
}

/// Returns the inline keyboard of a call. Messages store no empty keyboards and no other kinds. Errors as [`check_place`].
pub(super) fn inline(markup: Option<&Value>, is_private: bool) -> Result<Option<Value>, BotApiError> {
    check_place(markup, is_private)?;
    let has_buttons = inline_buttons(markup).next().is_some();
    Ok(markup.filter(|_| has_buttons).map(|markup| json!({"inline_keyboard": markup["inline_keyboard"]})))
}

/// Checks that a button opens a Mini App only in a private chat with the bot.
pub(super) fn check_place(markup: Option<&Value>, is_private: bool) -> Result<(), BotApiError> {
    let has_app = inline_buttons(markup).any(|button| button.get("web_app").is_some());
    if has_app && !is_private { Err(BotApiError::bad("BUTTON_TYPE_INVALID")) } else { Ok(()) }
}

/// Returns the `force_reply` request of a message just sent. Clients open their composer for it. `people` are the users
/// asked: with `selective`, those the message mentions or replies to; else everybody.
pub(super) fn reply_asked(markup: Option<&Value>, message: &Value, world: &World) -> Option<Value> {
    let markup = markup.filter(|markup| markup["force_reply"] == true)?;
    let is_selective = markup["selective"] == true && message["chat"]["type"] != "private";
    Some(json!({
        "chat_id": message["chat"]["id"], "message_id": message["message_id"],
        "placeholder": markup["input_field_placeholder"], "people": is_selective.then(|| people_of(message, world)),
    }))
}

/// Returns the ids of the people whom a message mentions or replies to.
fn people_of(message: &Value, world: &World) -> Vec<i64> {
    let text = message["text"].as_str().unwrap_or_default();
    let named = |entity: &Value| match entity["type"].as_str()? {
        "text_mention" => entity["user"]["id"].as_i64(),
        "mention" => {
            let name = covered(text, entity)?;
            let is_named = |person: &&Person| {
                person.username.as_deref().is_some_and(|username| {
                    name.get(1..).is_some_and(|name| name.eq_ignore_ascii_case(username))
                })
            };
            world.people.values().find(is_named).map(|person| person.id)
        }
        _ => None,
    };
    let named = message["entities"].as_array().into_iter().flatten().filter_map(named);
    message["reply_to_message"]["from"]["id"].as_i64().into_iter().chain(named).collect()
}

fn check_button(button: &Value) -> Result<(), BotApiError> {
    if button["text"].as_str().unwrap_or_default().trim().is_empty() {
        return Err(BotApiError::bad("inline keyboard button has no text"));
    }
    let looks = ["text", "icon_custom_emoji_id", "style"];
    let actions = button.as_object().map_or(0, |b| b.keys().filter(|k| !looks.contains(&k.as_str())).count());
    if actions != 1 {
        return Err(BotApiError::bad(
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
        ));
    }
    let data = button["callback_data"].as_str().map_or(1, str::len);
    if data == 0 || data > 64 {
        return Err(BotApiError::bad("BUTTON_DATA_INVALID"));
    }
    let url = button["url"].as_str().unwrap_or("https://example.com");
    if !["http://", "https://", "tg://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err(BotApiError::bad(format!(
            "inline keyboard button URL '{url}' is invalid: Wrong HTTP URL"
        )));
    }
    check_app(button)
}

fn check_app(button: &Value) -> Result<(), BotApiError> {
    let Some(app) = button.get("web_app") else { return Ok(()) };
    let url = app["url"].as_str().unwrap_or_default();
    match mini_app::fault_of_url(url) {
        Some(fault) => {
            Err(BotApiError::bad(format!("inline keyboard button Web App URL '{url}' is invalid: {fault}")))
        }
        None => Ok(()),
    }
}
