//! Parts of method calls shared by moderation and undo.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use figaro_domain::approval::MethodCall;

/// Minimum distance of `until_date` in seconds, with a margin for the transfer. Telegram treats a nearer one as permanent.
const MIN_AHEAD_SECONDS: i64 = 40;
/// Permissions of a member. Granting all of them lifts every restriction.
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

/// Makes a method call for a chat.
pub(in crate::tools) fn call_in(chat: &Value, method: &str, args: &[(&str, Value)]) -> MethodCall {
    let args = args.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    let arguments = [("chat_id".to_owned(), chat.clone())].into_iter().chain(args).collect();
    MethodCall { method: method.to_owned(), arguments }
}

/// Returns the value of all permissions, granted or revoked.
pub(in crate::tools) fn permissions(may: bool) -> Value {
    PERMISSIONS.iter().map(|name| ((*name).to_owned(), json!(may))).collect::<Map<_, _>>().into()
}

/// Returns the permissions of a restricted member, from `getChatMember`.
pub(super) fn permissions_of(member: &Value) -> Value {
    let told = PERMISSIONS.iter().filter_map(|name| Some(((*name).to_owned(), member.get(*name)?.clone())));
    told.collect::<Map<_, _>>().into()
}

/// Returns `true` if `until_date` is past or too near: Telegram treats less than 30 seconds as permanent (docs of
/// `restrictChatMember`). A missing one, or 0, is meant as permanent.
pub(super) fn is_late(args: &Map<String, Value>, now: DateTime<Utc>) -> bool {
    let until = args.get("until_date").and_then(Value::as_i64).filter(|until| *until != 0);
    until.is_some_and(|until| until < now.timestamp() + MIN_AHEAD_SECONDS)
}

/// Returns the full name of a Telegram user, with the username if there is one.
pub(super) fn name_of(user: &Value) -> Option<String> {
    let text = |key: &str| user.get(key)?.as_str().map(str::to_owned);
    let names: Vec<String> = ["first_name", "last_name"].into_iter().filter_map(text).collect();
    let username = text("username").map(|name| format!(" @{name}")).unwrap_or_default();
    (!names.is_empty()).then(|| format!("{}{username}", names.join(" ")))
}
