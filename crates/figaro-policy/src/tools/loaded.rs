//! The addresses that Telegram loads something from for a call: files, pictures of results and bills, pages it shows a
//! preview of. The fields that they stand in are named here for whoever else looks at a call.

use serde_json::{Map, Value};

use super::call::TelegramCall;
use crate::address::{Excess, Found, bare_in, in_markup};

/// Whether a field holds buttons: an address on one is opened by whoever presses it, and loaded by nobody else.
pub(super) fn is_keyboard(key: &str) -> bool {
    ["inline_keyboard", "keyboard", "buttons", "button"].contains(&key)
}

/// Whether Telegram reads HTML or Markdown with pictures and buttons in the text of a field.
pub(super) fn is_markup(key: &str) -> bool {
    ["html", "markdown"].contains(&key)
}

/// The addresses; what is no address in a place for one is among them.
///
/// # Errors
/// When there is too much to look at.
pub(super) fn loaded(call: &TelegramCall<'_>) -> Result<Found, Excess> {
    let mut found = Found::default();
    for file in call.files.iter().filter(|file| !is_handle(file)) {
        found.add((*file).to_owned())?;
    }
    let links_count = !has_preview_switch(call);
    collect(call.args, links_count, &mut found)?;
    if links_count {
        let text = call.args.get("text").and_then(Value::as_str).unwrap_or_default();
        in_markup(text, &mut found)?;
        bare_in(text).try_for_each(|address| found.add(address))?;
    }
    Ok(found)
}

/// Whether a text of the call comes without a preview where it is told to. A call without a text needs no switch.
fn has_preview_switch(call: &TelegramCall<'_>) -> bool {
    let takes = |name: &str| call.method.params.iter().any(|param| param.name == name);
    takes("link_preview_options") || !(takes("text") && takes("entities"))
}

fn collect(args: &Map<String, Value>, links_count: bool, found: &mut Found) -> Result<(), Excess> {
    for (key, value) in args {
        match value {
            _ if is_keyboard(key) => {}
            // A link in a text is loaded for a preview alone.
            _ if key.ends_with("entities") && !links_count => {}
            Value::String(text) if is_markup(key) => in_markup(text, found)?,
            Value::String(address) if key == "url" || key.ends_with("_url") => found.add(address.clone())?,
            _ => inside(value, links_count, found)?,
        }
    }
    Ok(())
}

fn inside(value: &Value, links_count: bool, found: &mut Found) -> Result<(), Excess> {
    match value {
        Value::Object(inner) => collect(inner, links_count, found),
        Value::Array(items) => items.iter().try_for_each(|item| inside(item, links_count, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// Whether it is the `file_id` of something that Telegram has already.
fn is_handle(file: &str) -> bool {
    file.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
