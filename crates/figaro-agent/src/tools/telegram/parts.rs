//! Parts of calls of methods that moderation and taking back make.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use figaro_domain::approval::MethodCall;

/// A time that is nearer counts as for ever; with something for the way to Telegram.
const MIN_AHEAD_SECONDS: i64 = 40;
/// What a member may do; all of it given lifts every restriction.
const PERMISSIONS: [&str; 16] = [
    "can_send_messages",
    "can_send_audios",
    "can_send_documents",
    "can_send_photos",
    "can_send_videos",
    "can_send_video_notes",
    "can_send_voice_notes",
    "can_send_polls",
    "can_send_other_messages",
    "can_add_web_page_previews",
    "can_react_to_messages",
    "can_edit_tag",
    "can_change_info",
    "can_invite_users",
    "can_pin_messages",
    "can_manage_topics",
];

/// A call of a method in a chat, with these arguments.
pub(in crate::tools) fn call_in(chat: &Value, method: &str, args: &[(&str, Value)]) -> MethodCall {
    let args = args.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    let arguments = [("chat_id".to_owned(), chat.clone())].into_iter().chain(args).collect();
    MethodCall { method: method.to_owned(), arguments }
}

/// All permissions, given or taken.
pub(in crate::tools) fn permissions(may: bool) -> Value {
    PERMISSIONS.iter().map(|name| ((*name).to_owned(), json!(may))).collect::<Map<_, _>>().into()
}

/// The permissions that a restricted member has, as `getChatMember` tells them.
pub(super) fn permissions_of(member: &Value) -> Value {
    let told = PERMISSIONS.iter().filter_map(|name| Some(((*name).to_owned(), member.get(*name)?.clone())));
    told.collect::<Map<_, _>>().into()
}

/// Whether Telegram would take the time until which a call is to hold as for ever, by the docs of `restrictChatMember`: less than 30
/// seconds from now. None, or 0, is meant so.
pub(super) fn is_late(args: &Map<String, Value>, now: DateTime<Utc>) -> bool {
    let until = args.get("until_date").and_then(Value::as_i64).filter(|until| *until != 0);
    until.is_some_and(|until| until < now.timestamp() + MIN_AHEAD_SECONDS)
}

/// The whole name that Telegram gives of somebody, with their username if they have one.
pub(super) fn name_of(user: &Value) -> Option<String> {
    let text = |key: &str| user.get(key)?.as_str().map(str::to_owned);
    let names: Vec<String> = ["first_name", "last_name"].into_iter().filter_map(text).collect();
    let username = text("username").map(|name| format!(" @{name}")).unwrap_or_default();
    (!names.is_empty()).then(|| format!("{}{username}", names.join(" ")))
}
