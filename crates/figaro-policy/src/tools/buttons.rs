//! Checks of the buttons that the model attaches to messages.

use serde_json::{Map, Value};

use super::loaded::{is_keyboard, is_markup};

/// Allowed fields of a button: its text, its looks, and a visible destination.
const BUTTON_FIELDS: [&str; 7] =
    ["text", "url", "copy_text", "style", "icon_custom_emoji_id", "disabled", "type"];

/// Returns why a message must not be sent because of what it carries along; `None` if it may.
pub(super) fn smuggles(args: &Map<String, Value>) -> Option<&'static str> {
    let odd_button = |button: &Value| {
        button
            .as_object()
            .is_some_and(|button| button.keys().any(|key| !BUTTON_FIELDS.contains(&key.as_str())))
    };
    let acts = |key: &str, value: &Value| {
        key == "callback_data" || (is_keyboard(key) && (odd_button(value) || any_item(value, &odd_button)))
    };
    if any_entry(args, &acts) {
        return Some("its buttons may carry a text to copy or a link, nothing that acts");
    }
    // Buttons can also be written in the markup of a rich message.
    let marked = |key: &str, value: &Value| {
        let text = value.as_str().filter(|_| is_markup(key));
        text.is_some_and(|text| text.to_ascii_lowercase().contains("<tg-button"))
    };
    any_entry(args, &marked).then_some("its buttons must be given as reply_markup")
}

/// Returns `true` if an item of nested lists matches.
fn any_item(value: &Value, is_it: &impl Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|items| items.iter().any(|item| is_it(item) || any_item(item, is_it)))
}

/// Returns `true` if an entry of the arguments matches, at any depth.
fn any_entry(args: &Map<String, Value>, is_it: &impl Fn(&str, &Value) -> bool) -> bool {
    args.iter().any(|(key, value)| is_it(key, value) || any_inside(value, is_it))
}

fn any_inside(value: &Value, is_it: &impl Fn(&str, &Value) -> bool) -> bool {
    match value {
        Value::Object(inner) => any_entry(inner, is_it),
        Value::Array(items) => items.iter().any(|item| any_inside(item, is_it)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
