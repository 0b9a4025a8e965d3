//! Keyboards under messages: which Telegram takes, and what of them a message keeps.

use serde_json::{Value, json};

use super::super::error::Refusal;

/// Refuses an inline keyboard with a button that does not have exactly one working action.
pub(in super::super) fn check(markup: Option<&Value>) -> Result<(), Refusal> {
    let rows = markup.and_then(|m| m["inline_keyboard"].as_array());
    rows.into_iter().flatten().filter_map(Value::as_array).flatten().try_for_each(check_button)
}

/// The inline keyboard of a call; other kinds of keyboard are not kept in messages, nor is an empty one.
pub(super) fn inline(markup: Option<&Value>) -> Option<Value> {
    let rows = markup?["inline_keyboard"].as_array()?;
    let empty = rows.iter().all(|row| row.as_array().is_none_or(Vec::is_empty));
    (!empty).then(|| json!({"inline_keyboard": rows}))
}

fn check_button(button: &Value) -> Result<(), Refusal> {
    let looks = ["text", "icon_custom_emoji_id", "style"];
    let actions = button.as_object().map_or(0, |b| b.keys().filter(|k| !looks.contains(&k.as_str())).count());
    if actions != 1 {
        return Err(Refusal::bad(
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
        ));
    }
    let data = button["callback_data"].as_str().map_or(1, str::len);
    if data == 0 || data > 64 {
        return Err(Refusal::bad("BUTTON_DATA_INVALID"));
    }
    let url = button["url"].as_str().unwrap_or("https://example.com");
    if !["http://", "https://", "tg://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err(Refusal::bad(format!("inline keyboard button URL '{url}' is invalid: Wrong HTTP URL")));
    }
    Ok(())
}
