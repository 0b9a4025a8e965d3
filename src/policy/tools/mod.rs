//! What the model may do with Telegram. It is assumed to be turned against its owner by something it read: it acts in
//! its own chat, on its own messages; all else needs a person's approval, and whatever is not understood is refused.

mod call;
mod loaded;
mod previews;
mod terms;
#[cfg(test)]
mod tests;

use figaro_mcp::table::{Class, Method};
use serde_json::{Map, Value};

pub use self::call::TelegramCall;
use self::loaded::{is_keyboard, is_markup, loaded};
pub use self::previews::settle_previews;
pub use self::terms::{Terms, terms};
use super::address::is_public;
use crate::ids::{ChatId, UserId};
use crate::text::one_line;

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The call is made.
    Allow,
    /// A person has to approve it: by the rule with this name, for this reason.
    Ask(&'static str, String),
    /// It is never made, for this reason.
    Deny(String),
}

/// Names of the rules that have a call asked about.
pub const OTHER_CHAT: &str = "default/other_chat";
/// Telegram would load an address that only the model wrote.
pub const UNKNOWN_ADDRESS: &str = "default/unknown_address";
/// It reaches for somebody else's account or purse.
pub const REACHING_RULE: &str = "default/reaching";
/// Only one person would see it.
pub const HIDDEN_MESSAGE: &str = "default/hidden_message";
/// It changes a message that the model did not send.
pub const OTHERS_MESSAGE: &str = "default/others_message";
/// It looks up what is not the chat's business.
pub const OTHER_LOOKUP: &str = "default/other_lookup";
/// All else that changes something.
pub const OTHER: &str = "default/other";

/// What settles what somebody pays, in classes of other names.
const SETTLES_PAYMENT: [&str; 3] =
    ["answerPreCheckoutQuery", "answerShippingQuery", "createChatSubscriptionInviteLink"];
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
    let loaded = match loaded(call) {
        Ok(loaded) => loaded,
        Err(excess) => return Decision::Deny(excess.to_string()),
    };
    if let Some(address) = loaded.iter().find(|address| !is_public(address)) {
        return Decision::Deny(format!(
            "Telegram would have to load `{}`, which is not on the public web. Give a file_id, or the whole address \
             (https://…) of a public page or file as a person wrote it or as search found it",
            shown(address)
        ));
    }
    if call.method.class == Class::Lifecycle {
        return Decision::Deny("it would take the update stream away from the running bot".to_owned());
    }
    let name = call.method.name.as_str();
    if matches!(call.method.class, Class::Money | Class::ManagedBots) || SETTLES_PAYMENT.contains(&name) {
        return Decision::Deny(
            "it moves money, or gives power over another bot, which nobody can approve here".to_owned(),
        );
    }
    if let Some(why) = smuggles(call.args) {
        return Decision::Deny(why.to_owned());
    }
    if names_elsewhere(call.args, call.here) {
        return Decision::Ask(OTHER_CHAT, "it is aimed at another chat".to_owned());
    }
    // They show what is stored; who approved another text for one would make it lie.
    if call.figaros
        && matches!(call.method.class, Class::Message | Class::Delete)
        && call.method.changes_messages()
    {
        return Decision::Deny("the message is not one that you sent, but Figaro's own".to_owned());
    }
    if let Some(address) = loaded.iter().find(|address| !call.addresses.has(address)) {
        return Decision::Ask(
            UNKNOWN_ADDRESS,
            format!(
                "Telegram would load `{}`, which no person wrote and no search of this turn found. Give a file_id, or an \
             address exactly as a person wrote it or as search found it; any other address goes into your answer's text",
                shown(address)
            ),
        );
    }
    let is_set = |key: &&str| call.args.get(*key).is_some_and(|value| *value != Value::Bool(false));
    if let Some(key) = REACHING.iter().find(|key| is_set(key)) {
        return Decision::Ask(REACHING_RULE, format!("it uses {key}"));
    }
    if any_entry(call.args, &|key, value| key == "receiver_user_id" && !is_speaker(value, call)) {
        return Decision::Ask(HIDDEN_MESSAGE, "only somebody else would see it".to_owned());
    }
    match call.method.class {
        _ if call.method.changes_messages() && call.own != Some(true) => {
            Decision::Ask(OTHERS_MESSAGE, "the message is not one that you sent".to_owned())
        }
        _ if UNDOING.contains(&call.method.name.as_str()) => Decision::Allow,
        Class::Read if is_open(call) => Decision::Allow,
        Class::Read => Decision::Ask(OTHER_LOOKUP, "it looks up what is not this chat's business".to_owned()),
        Class::Message if !call.method.irreversible => Decision::Allow,
        _ => Decision::Ask(OTHER, "it changes more than the bot's own messages".to_owned()),
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
    // Buttons can also be written into the text of a rich message.
    let marked = |key: &str, value: &Value| {
        let text = value.as_str().filter(|_| is_markup(key));
        text.is_some_and(|text| text.to_ascii_lowercase().contains("<tg-button"))
    };
    any_entry(args, &marked).then_some("its buttons must be given as reply_markup")
}

/// An address as it is told to the model.
fn shown(address: &str) -> String {
    one_line(address, 80)
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
