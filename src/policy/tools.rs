//! What the model may do with Telegram. It is assumed to be turned against its owner by something it read: it acts in
//! its own chat, on its own messages; all else needs a person's approval, and whatever is not understood is refused.

use std::net::IpAddr;

use figaro_mcp::table::{Class, Method};
use serde_json::{Map, Value};

use crate::ids::{ChatId, UserId};
use crate::text::one_line;

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
    /// Who asked in their own words; `None` for words of someone else, which nobody's rights count for.
    pub speaker: Option<&'a UserId>,
    /// Whether the model sent every message it names; `None` where it names none.
    pub own: Option<bool>,
    /// Values of parameters that Telegram may fetch a file for.
    pub files: &'a [&'a str],
}

/// Look-ups of what is the business of everybody in a chat: itself, the bot, and what Telegram shows to anyone. All
/// others, those of a newer Bot API too, take an approval.
const OPEN_LOOKUPS: [&str; 18] = [
    "getMe",
    "getChat",
    "getChatAdministrators",
    "getChatMemberCount",
    "getChatMember",
    "getUserChatBoosts",
    "getChatGifts",
    "getForumTopicIconStickers",
    "getFile",
    "getStickerSet",
    "getCustomEmojiStickers",
    "getAvailableGifts",
    "getMyCommands",
    "getMyName",
    "getMyDescription",
    "getMyShortDescription",
    "getChatMenuButton",
    "getGameHighScores",
];
/// Look-ups of a person, which only this person may ask for.
const OWN_LOOKUPS: [&str; 4] =
    ["getUserProfilePhotos", "getUserProfileAudios", "getUserGifts", "getUserPersonalChatMessages"];
/// What takes a message away again that the bot may have sent itself.
const UNDOING: [&str; 3] = ["deleteMessage", "deleteMessages", "stopPoll"];
/// What a button of the model's may have: words, looks, and where it leads to that everybody sees.
const BUTTON_FIELDS: [&str; 7] =
    ["text", "url", "copy_text", "style", "icon_custom_emoji_id", "disabled", "type"];
/// Parameters that reach for somebody else's account or purse, or past the eyes of the chat.
const REACHING: [&str; 5] = [
    "business_connection_id",
    "inline_message_id",
    "allow_paid_broadcast",
    "direct_messages_topic_id",
    "suggested_post_parameters",
];

/// Decides about a call whose arguments fit its method.
#[must_use]
pub fn decide(call: &TelegramCall<'_>) -> Decision {
    if let Some(file) = call.files.iter().find(|file| !is_public_file(file)) {
        return Decision::Deny(format!("`{}` is no public https address and no file_id", one_line(file, 80)));
    }
    if call.method.class == Class::Lifecycle {
        return Decision::Deny("it would take the update stream away from the running bot".to_owned());
    }
    if let Some(why) = smuggles(call.args) {
        return Decision::Deny(why.to_owned());
    }
    if names_elsewhere(call.args, call.here) {
        return Decision::Ask("it is aimed at another chat".to_owned());
    }
    let is_set = |key: &&str| call.args.get(*key).is_some_and(|value| *value != Value::Bool(false));
    if let Some(key) = REACHING.iter().find(|key| is_set(key)) {
        return Decision::Ask(format!("it uses {key}"));
    }
    if any_entry(call.args, &|key, value| key == "receiver_user_id" && !is_speaker(value, call)) {
        return Decision::Ask("only somebody else would see it".to_owned());
    }
    match call.method.class {
        // Figaro's cards are the bot's too, and Telegram lets the bot change them: they show what is stored.
        _ if call.method.changes_messages() && call.own != Some(true) => {
            Decision::Ask("the message is not one that you sent".to_owned())
        }
        _ if UNDOING.contains(&call.method.name.as_str()) => Decision::Allow,
        Class::Read if is_open(call) => Decision::Allow,
        Class::Read => Decision::Ask("it looks up what is not this chat's business".to_owned()),
        Class::Message if !call.method.irreversible => Decision::Allow,
        _ => Decision::Ask("it changes more than the bot's own messages".to_owned()),
    }
}

/// Whether a method takes an approval however it is called, but for undoing what the bot did itself.
#[must_use]
pub fn takes_approval(method: &Method) -> bool {
    let name = method.name.as_str();
    match method.class {
        Class::Message => false,
        Class::Read => !OPEN_LOOKUPS.contains(&name) && !OWN_LOOKUPS.contains(&name),
        _ => !UNDOING.contains(&name),
    }
}

fn is_open(call: &TelegramCall<'_>) -> bool {
    let name = call.method.name.as_str();
    let asks_for_oneself = || call.args.get("user_id").is_some_and(|user| is_speaker(user, call));
    OPEN_LOOKUPS.contains(&name) || (OWN_LOOKUPS.contains(&name) && asks_for_oneself())
}

fn is_speaker(value: &Value, call: &TelegramCall<'_>) -> bool {
    chat_number(value).is_some_and(|number| Some(&UserId::telegram(number)) == call.speaker)
}

/// Why a message must not be sent for what it brings along.
fn smuggles(args: &Map<String, Value>) -> Option<&'static str> {
    let is_keyboard = |key: &str| ["inline_keyboard", "keyboard", "buttons", "button"].contains(&key);
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
    // Buttons and pictures can also be written into the text of a rich message.
    let marked = |key: &str, value: &Value| {
        let text = value.as_str().filter(|_| key == "html" || key == "markdown");
        text.is_some_and(|text| text.to_ascii_lowercase().contains("<tg-button"))
    };
    if any_entry(args, &marked) {
        return Some("its buttons must be given as reply_markup");
    }
    let leads_inside = |key: &str, value: &Value| {
        let text = value.as_str().filter(|_| key == "html" || key == "markdown");
        text.is_some_and(|text| addresses(text).any(|address| !is_public_file(address)))
    };
    any_entry(args, &leads_inside).then_some("it shows what lies in a private network")
}

/// The web addresses in a text.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("://").filter_map(|(at, _)| {
        // The characters before may be of several bytes; those of a scheme are not.
        let scheme = text.get(..at)?.rsplit(|c: char| !c.is_ascii_alphanumeric()).next()?;
        text.get(at - scheme.len()..)
    });
    starts.filter_map(|rest| rest.split(|c: char| c.is_whitespace() || "\"'<>)]}`".contains(c)).next())
}

/// Whether something in lists, however deep, is of a kind.
fn any_item(value: &Value, is_it: &impl Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|items| items.iter().any(|item| is_it(item) || any_item(item, is_it)))
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

    fn verdict(method: &str, args: &Value, own: Option<bool>, files: &[&str]) -> &'static str {
        let method = Table::get().method(method).unwrap();
        let args = args.as_object().unwrap().clone();
        let speaker = UserId::telegram(42);
        let speaker = Some(&speaker);
        match decide(&TelegramCall { method, args: &args, here: ChatId(-5), speaker, own, files }) {
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
            ("getUserProfilePhotos", json!({"user_id": 7, "chat_id": -5}), "ask"),
            ("getUserPersonalChatMessages", json!({"user_id": 7, "chat_id": null}), "ask"),
            ("getUserGifts", json!({"user_id": "7"}), "ask"),
            ("getMyStarBalance", json!({}), "ask"),
            ("getStarTransactions", json!({}), "ask"),
            ("getBusinessConnection", json!({}), "ask"),
            ("getWebhookInfo", json!({}), "ask"),
            ("getManagedBotAccessSettings", json!({"user_id": 42}), "ask"),
        ];
        for (method, args, wanted) in cases {
            assert_eq!(verdict(method, &args, None, &[]), wanted, "{method} {args}");
        }
        let table = Table::get();
        let named = OPEN_LOOKUPS.iter().chain(&OWN_LOOKUPS);
        assert!(
            named.clone().all(|name| table.method(name).is_some_and(|method| method.class == Class::Read))
        );
        assert!(OWN_LOOKUPS.iter().all(|name| !OPEN_LOOKUPS.contains(name)));
    }

    #[test]
    fn the_model_acts_in_its_own_chat_only() {
        let cases = [
            ("sendMessage", json!({"chat_id": -5, "text": "x"}), None, "allow"),
            ("sendMessage", json!({"chat_id": "-5", "text": "x"}), None, "allow"),
            ("sendMessage", json!({"chat_id": -6, "text": "x"}), None, "ask"),
            ("sendMessage", json!({"chat_id": "@other", "text": "x"}), None, "ask"),
            ("forwardMessage", json!({"chat_id": -5, "from_chat_id": 7, "message_id": 1}), None, "ask"),
            ("sendMessage", json!({"chat_id": -5, "reply_parameters": {"chat_id": 7}}), None, "ask"),
            ("sendMediaGroup", json!({"chat_id": -5, "media": [{"x": {"chat_id": 7}}]}), None, "ask"),
            ("sendMessage", json!({"chat_id": -5, "x": [[{"chat_id": 7}]]}), None, "ask"),
            ("sendMessage", json!({"chat_id": -5, "allow_paid_broadcast": true}), None, "ask"),
            ("sendMessage", json!({"chat_id": -5, "allow_paid_broadcast": false}), None, "allow"),
            ("sendMessage", json!({"chat_id": -5, "business_connection_id": "b"}), None, "ask"),
            ("sendMessage", json!({"chat_id": -5, "direct_messages_topic_id": 7}), None, "ask"),
            ("sendMessage", json!({"chat_id": -5, "suggested_post_parameters": {}}), None, "ask"),
            ("editMessageText", json!({"inline_message_id": "i", "text": "x"}), None, "ask"),
            (
                "sendMessage",
                json!({"chat_id": -5, "ephemeral_message_parameters": {"receiver_user_id": 7}}),
                None,
                "ask",
            ),
            (
                "sendMessage",
                json!({"chat_id": -5, "ephemeral_message_parameters": {"receiver_user_id": 42}}),
                None,
                "allow",
            ),
            ("deleteMessage", json!({"chat_id": -5, "message_id": 1}), Some(true), "allow"),
            ("deleteMessage", json!({"chat_id": -5, "message_id": 1}), Some(false), "ask"),
            ("deleteMessages", json!({"chat_id": -5, "message_ids": []}), None, "ask"),
            ("deleteMessageReaction", json!({"chat_id": -5, "message_id": 1}), Some(true), "ask"),
            ("stopPoll", json!({"chat_id": -5, "message_id": 1}), Some(true), "allow"),
            ("stopPoll", json!({"chat_id": -5, "message_id": 1}), Some(false), "ask"),
            ("editMessageText", json!({"chat_id": -5, "message_id": 1, "text": "x"}), Some(true), "allow"),
            ("editMessageText", json!({"chat_id": -5, "message_id": 1, "text": "x"}), Some(false), "ask"),
            ("editMessageText", json!({"chat_id": -5, "text": "x"}), None, "ask"),
            ("setMessageReaction", json!({"chat_id": -5, "message_id": 1}), Some(false), "allow"),
            (
                "copyMessage",
                json!({"chat_id": -5, "from_chat_id": -5, "message_id": 1}),
                Some(false),
                "allow",
            ),
            ("banChatMember", json!({"chat_id": -5, "user_id": 7}), None, "ask"),
            ("sendGift", json!({"user_id": 7}), None, "ask"),
            ("getUpdates", json!({}), None, "deny"),
        ];
        for (method, args, own, wanted) in cases {
            assert_eq!(verdict(method, &args, own, &[]), wanted, "{method} {args}");
        }
    }

    #[test]
    fn whatever_changes_a_message_is_for_the_models_own() {
        let changing: Vec<&Method> =
            Table::get().methods().iter().filter(|method| method.changes_messages()).collect();
        assert!(changing.len() >= 15, "{changing:?}");
        for method in changing {
            let verdict = |own| {
                verdict(&method.name, &json!({"chat_id": -5, "message_id": 1, "message_ids": [1]}), own, &[])
            };
            assert_eq!([verdict(Some(false)), verdict(None)], ["ask", "ask"], "{}", method.name);
        }
    }

    #[test]
    fn nobody_is_looked_up_for_words_of_someone_else() {
        let method = |name: &str| Table::get().method(name).unwrap();
        let seen = json!({"chat_id": -5, "ephemeral_message_parameters": {"receiver_user_id": 42}});
        for (name, args) in
            [("getUserGifts", json!({"user_id": 42})), ("sendMessage", seen), ("getUserGifts", json!({}))]
        {
            let (method, args) = (method(name), args.as_object().unwrap().clone());
            let call =
                TelegramCall { method, args: &args, here: ChatId(-5), speaker: None, own: None, files: &[] };
            assert!(matches!(decide(&call), Decision::Ask(_)), "{name} {args:?}");
        }
    }

    #[test]
    fn its_buttons_lead_only_where_everybody_sees() {
        let button = |more: Value| {
            let mut button = json!({"text": "a"});
            button.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            button
        };
        let inline = |more| json!({"chat_id": -5, "reply_markup": {"inline_keyboard": [[button(more)]]}});
        let rich = |message: Value| json!({"chat_id": -5, "rich_message": message});
        let block = |more| rich(json!({"blocks": [{"type": "buttons", "buttons": [button(more)]}]}));
        let in_text =
            |more| rich(json!({"blocks": [{"text": [{"type": "button", "button": button(more)}]}]}));
        let cases = [
            (inline(json!({"url": "https://example.org"})), "allow"),
            (inline(json!({"copy_text": {"text": "x"}, "style": "primary"})), "allow"),
            (inline(json!({"callback_data": "b"})), "deny"),
            (inline(json!({"web_app": {"url": "https://example.org"}})), "deny"),
            (inline(json!({"login_url": {"url": "https://example.org"}})), "deny"),
            (inline(json!({"pay": true})), "deny"),
            (inline(json!({"switch_inline_query": "x"})), "deny"),
            (
                json!({"chat_id": -5, "reply_markup": {"keyboard": [[button(json!({"request_contact": true}))]]}}),
                "deny",
            ),
            (json!({"chat_id": -5, "reply_markup": {"keyboard": [["yes"]]}}), "allow"),
            (block(json!({"url": "https://example.org"})), "allow"),
            (block(json!({"callback_data": "b"})), "deny"),
            (in_text(json!({"web_app": {}})), "deny"),
            (rich(json!({"html": "<b>x</b> <a href=\"https://example.org\">y</a>"})), "allow"),
            (rich(json!({"html": "<TG-button type=\"callback_data\" data=\"x\">y</tg-button>"})), "deny"),
            (rich(json!({"markdown": "<tg-button-row>"})), "deny"),
            (rich(json!({"markdown": "![x](http://192.168.0.1/a.png)"})), "deny"),
            (rich(json!({"html": "<img src='file:///etc/passwd'>"})), "deny"),
            (rich(json!({"markdown": "look “http://10.0.0.1/a”"})), "deny"),
            (rich(json!({"markdown": "😀http://10.0.0.1/a"})), "deny"),
            (rich(json!({"markdown": "😀https://example.org/a"})), "allow"),
            (rich(json!({"markdown": "see (https://example.org/a), or https://example.org/b."})), "allow"),
        ];
        for (args, wanted) in cases {
            assert_eq!(verdict("sendRichMessage", &args, None, &[]), wanted, "{args}");
        }
    }

    #[test]
    fn what_takes_an_approval_is_known_beforehand() {
        let names =
            ["getMe", "getUserGifts", "getMyStarBalance", "sendDice", "deleteMessage", "banChatMember"];
        let takes = names.map(|name| takes_approval(Table::get().method(name).unwrap()));
        assert_eq!(takes, [false, false, true, false, false, true]);
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
            assert_eq!(verdict("sendPhoto", &args(), None, &[file]), "allow", "{file}");
        }
        for file in bad {
            assert_eq!(verdict("sendPhoto", &args(), None, &[file]), "deny", "{file}");
        }
    }
}
