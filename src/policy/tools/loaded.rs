//! The addresses that Telegram loads something from for a call: files, pictures of results and bills, pages it shows a
//! preview of.

use serde_json::{Map, Value};

use super::TelegramCall;
use crate::policy::address::{bare_in, in_markup};

/// Lists of buttons: an address on one is opened by whoever presses it, and loaded by nobody else.
const KEYBOARDS: [&str; 4] = ["inline_keyboard", "keyboard", "buttons", "button"];
/// Texts in which Telegram reads HTML or Markdown with pictures.
const MARKUP: [&str; 2] = ["html", "markdown"];

/// The addresses, each maybe more than once; what is no address in a place for one is among them.
pub(super) fn loaded(call: &TelegramCall<'_>) -> Vec<String> {
    let files = call.files.iter().filter(|file| !is_handle(file)).map(|file| (*file).to_owned());
    let mut found: Vec<String> = files.collect();
    let links_count = !has_preview_switch(call);
    collect(call.args, links_count, &mut found);
    if links_count {
        let text = call.args.get("text").and_then(Value::as_str).unwrap_or_default();
        found.extend(in_markup(text).into_iter().chain(bare_in(text)));
    }
    found
}

/// Whether a text of the call comes without a preview where it is told to. A call without a text needs no switch.
fn has_preview_switch(call: &TelegramCall<'_>) -> bool {
    let takes = |name: &str| call.method.params.iter().any(|param| param.name == name);
    takes("link_preview_options") || !(takes("text") && takes("entities"))
}

fn collect(args: &Map<String, Value>, links_count: bool, found: &mut Vec<String>) {
    for (key, value) in args {
        match value {
            _ if KEYBOARDS.contains(&key.as_str()) => {}
            // A link in a text is loaded for a preview alone.
            _ if key.ends_with("entities") && !links_count => {}
            Value::String(text) if MARKUP.contains(&key.as_str()) => found.extend(in_markup(text)),
            Value::String(address) if key == "url" || key.ends_with("_url") => found.push(address.clone()),
            _ => inside(value, links_count, found),
        }
    }
}

fn inside(value: &Value, links_count: bool, found: &mut Vec<String>) {
    match value {
        Value::Object(inner) => collect(inner, links_count, found),
        Value::Array(items) => items.iter().for_each(|item| inside(item, links_count, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether it is the `file_id` of something that Telegram has already.
fn is_handle(file: &str) -> bool {
    file.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
