//! Restricts previews to known addresses: Telegram loads the page of a preview, and an address can carry data out.

use figaro_mcp::table::Method;
use serde_json::{Map, Value, json};

use crate::address::Addresses;

const OPTIONS: &str = "link_preview_options";

/// Changes the arguments of a call so that each text previews a known address or none. In rich messages, which cannot
/// switch previews off, no bare word becomes a link.
pub fn settle_previews(method: &Method, args: &mut Map<String, Value>, known: &Addresses) {
    if method.params.iter().any(|param| param.name == OPTIONS) {
        settle(args, "text", known);
    }
    args.values_mut().for_each(|value| inside(value, known));
    quiet_rich(args);
}

fn inside(value: &mut Value, known: &Addresses) {
    match value {
        Value::Object(map) => {
            settle(map, "message_text", known);
            quiet_rich(map);
            map.values_mut().for_each(|value| inside(value, known));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| inside(item, known)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn quiet_rich(map: &mut Map<String, Value>) {
    if let Some(Value::Object(rich)) = map.get_mut("rich_message") {
        rich.insert("skip_entity_detection".to_owned(), true.into());
    }
}

/// Sets the preview options of a text.
fn settle(map: &mut Map<String, Value>, text: &str, known: &Addresses) {
    let Some(text) = map.get(text).and_then(Value::as_str) else { return };
    let options = map.get(OPTIONS).and_then(Value::as_object).cloned().unwrap_or_default();
    let is_known = |url: &&str| known.first_in(url).as_deref() == Some(*url);
    let named = options.get("url").and_then(Value::as_str).filter(is_known).map(ToOwned::to_owned);
    let is_off = options.get("is_disabled") == Some(&Value::Bool(true));
    let options = match named.or_else(|| known.first_in(text)).filter(|_| !is_off) {
        Some(url) => {
            let looks = options.into_iter().filter(|(key, _)| key != "is_disabled");
            let pinned = ("url".to_owned(), url.into());
            Value::Object(looks.chain([pinned]).collect())
        }
        None => json!({"is_disabled": true}),
    };
    map.insert(OPTIONS.to_owned(), options);
}
