//! Addresses that Telegram loads for a call: files, pictures of results and bills, pages with a preview. The fields that
//! hold them are named here for other checks too.

use serde_json::{Map, Value};

use super::call::TelegramCall;
use crate::address::{AddressSet, Excess, bare_in, in_markup};

/// Returns `true` if a field holds buttons: only the person who presses a button opens its address.
pub(super) fn is_keyboard(key: &str) -> bool {
    ["inline_keyboard", "keyboard", "buttons", "button"].contains(&key)
}

/// Returns `true` if Telegram reads HTML or Markdown with pictures and buttons in the text of this field.
pub(super) fn is_markup(key: &str) -> bool {
    ["html", "markdown"].contains(&key)
}

/// Returns the addresses; a value that is no address in the place of one is included.
///
/// # Errors
/// When there is too much to look at.
pub(super) fn loaded(call: &TelegramCall<'_>) -> Result<AddressSet, Excess> {
    let mut found = AddressSet::default();
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

/// Returns `true` if the preview of each text of the call can be switched off. A call without a text needs no switch.
fn has_preview_switch(call: &TelegramCall<'_>) -> bool {
    let takes = |name: &str| call.method.params.iter().any(|param| param.name == name);
    takes("link_preview_options") || !(takes("text") && takes("entities"))
}

fn collect(args: &Map<String, Value>, links_count: bool, found: &mut AddressSet) -> Result<(), Excess> {
    for (key, value) in args {
        match value {
            _ if is_keyboard(key) => {}
            // A link in a text is loaded for its preview only.
            _ if key.ends_with("entities") && !links_count => {}
            Value::String(text) if is_markup(key) => in_markup(text, found)?,
            Value::String(address) if key == "url" || key.ends_with("_url") => found.add(address.clone())?,
            _ => inside(value, links_count, found)?,
        }
    }
    Ok(())
}

fn inside(value: &Value, links_count: bool, found: &mut AddressSet) -> Result<(), Excess> {
    match value {
        Value::Object(inner) => collect(inner, links_count, found),
        Value::Array(items) => items.iter().try_for_each(|item| inside(item, links_count, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// Returns `true` if the value is the `file_id` of a file that Telegram already has.
fn is_handle(file: &str) -> bool {
    file.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
