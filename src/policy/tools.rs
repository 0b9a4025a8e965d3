//! What the model may do with Telegram. It is assumed to be turned against its owner by something it read: it acts in
//! its own chat, on its own messages; all else needs a person's approval, and whatever is not understood is refused.

use std::net::IpAddr;

use figaro_mcp::table::{Class, Method};
use serde_json::{Map, Value};

use crate::ids::{ChatId, UserId};

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is made.
    Allow,
    /// A person would have to approve it, for this reason.
    Ask(String),
    /// It is never made, for this reason.
    Deny(String),
}

/// A call of a Bot API method as policy sees it.
#[derive(Debug, Clone, Copy)]
pub struct TelegramCall<'a> {
    /// The method.
    pub method: &'a Method,
    /// The arguments.
    pub args: &'a Map<String, Value>,
    /// The chat the model is in.
    pub here: ChatId,
    /// Who asked.
    pub speaker: &'a UserId,
    /// Whether every message it names is the bot's own; `None` where it names none.
    pub own: Option<bool>,
    /// Values of parameters that Telegram may fetch a file for.
    pub files: &'a [&'a str],
}

/// Decides about a call.
#[must_use]
pub fn decide(call: &TelegramCall<'_>) -> Decision {
    if let Some(file) = call.files.iter().find(|file| !is_public_file(file)) {
        return Decision::Deny(format!("`{file}` is no public https address and no file_id"));
    }
    if call.method.class == Class::Lifecycle {
        return Decision::Deny("it would take the update stream away from the running bot".to_owned());
    }
    if any_entry(call.args, &|key, _| key == "callback_data") {
        return Decision::Deny("a button of its own would pass for one of the bot's settings".to_owned());
    }
    if names_elsewhere(call.args, call.here) {
        return Decision::Ask("it is aimed at another chat".to_owned());
    }
    if let Some(key) = ["business_connection_id", "inline_message_id", "allow_paid_broadcast"]
        .into_iter()
        .find(|key| call.args.get(*key).is_some_and(|value| !value.is_null() && *value != Value::Bool(false)))
    {
        return Decision::Ask(format!("it uses {key}"));
    }
    if call.method.class == Class::Read
        && let Some(why) = pries(call)
    {
        return Decision::Ask(why.to_owned());
    }
    match call.method.class {
        Class::Read | Class::Message => Decision::Allow,
        Class::Delete if call.own == Some(true) => Decision::Allow,
        Class::Delete => Decision::Ask("it deletes a message that is not the bot's own".to_owned()),
        Class::Answers
        | Class::Profile
        | Class::Stickers
        | Class::Moderation
        | Class::Business
        | Class::Other
        | Class::Money
        | Class::ManagedBots
        | Class::Lifecycle => Decision::Ask("it changes more than the bot's own messages".to_owned()),
    }
}

/// Words in the names of look-ups that tell of the owner's money, business and set-up.
const OWNERS_MATTERS: [&str; 4] = ["Star", "Business", "Webhook", "ManagedBot"];

/// Why a look-up is no business of whoever is in this chat, if so.
fn pries(call: &TelegramCall<'_>) -> Option<&'static str> {
    if OWNERS_MATTERS.iter().any(|word| call.method.name.contains(word)) {
        return Some("it tells of the bot owner's matters");
    }
    // With a chat, the chat is what counts: it is this one.
    let user = call.args.get("user_id").filter(|_| !call.args.contains_key("chat_id"))?;
    let is_speaker = chat_number(user).is_some_and(|number| UserId::telegram(number) == *call.speaker);
    (!is_speaker).then_some("it tells of a person who did not ask")
}

/// Whether any argument, however deep, names a chat that is not `here`.
fn names_elsewhere(args: &Map<String, Value>, here: ChatId) -> bool {
    any_entry(args, &|key, value| {
        key.ends_with("chat_id") && !value.is_null() && chat_number(value) != Some(here.0)
    })
}

/// Whether an entry of the arguments, however deep, is of a kind.
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

/// The number of a chat, however it is written; a `@username` has none.
#[must_use]
pub fn chat_number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// A `file_id`, or an http(s) address that is not on a private network. An own Bot API server would fetch the
/// latter from inside the owner's network, and read local files for `file:`.
fn is_public_file(value: &str) -> bool {
    let is_handle = value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if is_handle {
        return true;
    }
    let Ok(url) = reqwest::Url::parse(value) else {
        return false;
    };
    let Some(host) = url.host_str().filter(|_| ["http", "https"].contains(&url.scheme())) else {
        return false;
    };
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => is_public_address(address),
        Err(_) => {
            let host = host.trim_end_matches('.').to_ascii_lowercase();
            let local = ["localhost", "local", "internal", "lan", "home.arpa"];
            host.contains('.') && !local.iter().any(|end| host == *end || host.ends_with(&format!(".{end}")))
        }
    }
}

fn is_public_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            let shared = a == 100 && (64..128).contains(&b);
            let reserved = a == 0 || a >= 240;
            !(v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_multicast()
                || shared
                || reserved)
        }
        IpAddr::V6(v6) => match v6.to_ipv4() {
            Some(v4) => is_public_address(IpAddr::V4(v4)),
            // Only 2000::/3 is routed on the internet; 64:ff9b::/96 and 2002::/16 wrap other addresses.
            None => (v6.segments()[0] & 0xe000) == 0x2000 && v6.segments()[0] != 0x2002,
        },
    }
}

#[cfg(test)]
mod tests {
    use figaro_mcp::table::Table;
    use serde_json::json;

    use super::*;

    /// A method of this class whose name gives nothing away.
    fn any(class: Class) -> &'static Method {
        let plain = |method: &&Method| {
            method.class == class && !OWNERS_MATTERS.iter().any(|word| method.name.contains(word))
        };
        Table::get().methods().iter().find(plain).unwrap()
    }

    fn verdict(method: &Method, args: &Value, own: Option<bool>, files: &[&str]) -> &'static str {
        let args = args.as_object().unwrap().clone();
        let speaker = UserId::telegram(42);
        match decide(&TelegramCall { method, args: &args, here: ChatId(-5), speaker: &speaker, own, files }) {
            Decision::Allow => "allow",
            Decision::Ask(_) => "ask",
            Decision::Deny(_) => "deny",
        }
    }

    #[test]
    fn the_model_looks_up_what_is_the_chats_business() {
        let cases = [
            ("getMe", json!({}), "allow"),
            ("getChat", json!({"chat_id": -5}), "allow"),
            ("getChat", json!({"chat_id": -6}), "ask"),
            ("getChatMember", json!({"chat_id": -5, "user_id": 7}), "allow"),
            ("getFile", json!({"file_id": "AgAC"}), "allow"),
            ("getStickerSet", json!({"name": "x"}), "allow"),
            ("getUserProfilePhotos", json!({"user_id": 42}), "allow"),
            ("getUserProfilePhotos", json!({"user_id": 7}), "ask"),
            ("getUserGifts", json!({"user_id": "7"}), "ask"),
            ("getMyStarBalance", json!({}), "ask"),
            ("getStarTransactions", json!({}), "ask"),
            ("getBusinessConnection", json!({}), "ask"),
            ("getWebhookInfo", json!({}), "ask"),
            ("getManagedBotAccessSettings", json!({"user_id": 42}), "ask"),
        ];
        for (name, args, wanted) in cases {
            let method = Table::get().method(name).unwrap();
            assert_eq!(verdict(method, &args, None, &[]), wanted, "{name} {args}");
        }
    }

    #[test]
    fn the_model_acts_in_its_own_chat_only() {
        let cases = [
            (Class::Message, json!({"chat_id": -5, "text": "x"}), None, "allow"),
            (Class::Message, json!({"chat_id": "-5", "text": "x"}), None, "allow"),
            (Class::Message, json!({"chat_id": -6, "text": "x"}), None, "ask"),
            (Class::Message, json!({"chat_id": "@other", "text": "x"}), None, "ask"),
            (Class::Message, json!({"chat_id": -5, "from_chat_id": 7, "message_id": 1}), None, "ask"),
            (Class::Message, json!({"chat_id": -5, "reply_parameters": {"chat_id": 7}}), None, "ask"),
            (Class::Message, json!({"chat_id": -5, "media": [{"x": {"chat_id": 7}}]}), None, "ask"),
            (Class::Message, json!({"chat_id": -5, "x": [[{"chat_id": 7}]]}), None, "ask"),
            (
                Class::Message,
                json!({"reply_markup": {"x": [[{"text": "a", "callback_data": "b"}]]}}),
                None,
                "deny",
            ),
            (Class::Message, json!({"reply_markup": {"x": [[{"text": "a", "url": "b"}]]}}), None, "allow"),
            (Class::Message, json!({"chat_id": -5, "allow_paid_broadcast": true}), None, "ask"),
            (Class::Message, json!({"chat_id": -5, "allow_paid_broadcast": false}), None, "allow"),
            (Class::Message, json!({"chat_id": -5, "business_connection_id": "b"}), None, "ask"),
            (Class::Message, json!({"inline_message_id": "i", "text": "x"}), None, "ask"),
            (Class::Read, json!({"chat_id": -5}), None, "allow"),
            (Class::Read, json!({"chat_id": 7}), None, "ask"),
            (Class::Delete, json!({"chat_id": -5, "message_id": 1}), Some(true), "allow"),
            (Class::Delete, json!({"chat_id": -5, "message_id": 1}), Some(false), "ask"),
            (Class::Delete, json!({"chat_id": -5}), None, "ask"),
            (Class::Moderation, json!({"chat_id": -5, "user_id": 7}), None, "ask"),
            (Class::Money, json!({"user_id": 7}), None, "ask"),
            (Class::Lifecycle, json!({}), None, "deny"),
        ];
        for (class, args, own, wanted) in cases {
            assert_eq!(verdict(any(class), &args, own, &[]), wanted, "{class:?} {args}");
        }
    }

    #[test]
    fn files_come_from_public_places_only() {
        let good = [
            "AgACAgIAAxkBAAI_-9",
            "https://example.org/a.jpg",
            "http://93.184.216.34/x",
            "https://[2606:4700::1111]/",
        ];
        let bad = [
            "file:///etc/passwd",
            "http://localhost/x",
            "http://127.0.0.1:8081/",
            "https://10.1.2.3/",
            "http://[::1]/",
            "http://[::ffff:192.168.0.1]/",
            "http://169.254.169.254/latest",
            "ftp://example.org/x",
            "http://router.lan/",
            "http://intranet/",
            "attach://photo",
            "http://0x7f.1/",
            "http://100.64.0.1/",
            "http://[fd00::1]/",
        ];
        let args = || json!({"chat_id": -5});
        for file in good {
            assert_eq!(verdict(any(Class::Message), &args(), None, &[file]), "allow", "{file}");
        }
        for file in bad {
            assert_eq!(verdict(any(Class::Message), &args(), None, &[file]), "deny", "{file}");
        }
    }
}
