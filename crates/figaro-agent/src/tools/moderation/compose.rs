//! Translates an admin's request to a call of the Bot API. Pure.

use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::telegram::parts::{call_in, permissions};
use figaro_base::ids::{ChatId, MessageId};
use figaro_domain::approval::MethodCall;

/// Maximum duration of a ban or mute. Telegram treats longer ones as permanent.
const MAX_MINUTES: u32 = 366 * 24 * 60;

/// What moderation can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum ModerationAction {
    Mute,
    Unmute,
    Ban,
    Unban,
    Kick,
    DeleteMessages,
    Pin,
    Unpin,
    SetTitle,
    SetDescription,
}

/// A moderation request with resolved ids.
#[derive(Debug, Clone)]
pub(super) struct ModerationRequest {
    pub(super) action: ModerationAction,
    /// Telegram id of the person, or of the channel that wrote.
    pub(super) person: Option<i64>,
    /// Message that the question replies to.
    pub(super) replied: Option<MessageId>,
    /// Messages of the person to delete.
    pub(super) messages: Vec<MessageId>,
    pub(super) minutes: Option<u32>,
    pub(super) text: Option<String>,
}

/// Makes the call for a request.
pub(super) fn compose(
    asked: &ModerationRequest,
    here: ChatId,
    now: DateTime<Utc>,
) -> Result<MethodCall, String> {
    let call = |method, args: &[(&str, Value)]| call_in(&json!(here), method, args);
    match asked.action {
        ModerationAction::Mute | ModerationAction::Unmute => restrict(asked, here, now),
        ModerationAction::Ban | ModerationAction::Unban => ban(asked, here, now),
        // Also works for people who are not banned: they are removed and may come back.
        ModerationAction::Kick => Ok(call("unbanChatMember", &[("user_id", json!(account(asked, here)?))])),
        ModerationAction::DeleteMessages if asked.person.is_some() => match asked.messages.as_slice() {
            [] => Err("no message of theirs from the last 48 hours is known".to_owned()),
            [one] => Ok(call("deleteMessage", &[("message_id", json!(one))])),
            several => Ok(call("deleteMessages", &[("message_ids", json!(several))])),
        },
        ModerationAction::DeleteMessages => Ok(call("deleteMessage", &[("message_id", message(asked)?)])),
        ModerationAction::Pin => Ok(call("pinChatMessage", &[("message_id", message(asked)?)])),
        ModerationAction::Unpin => Ok(call("unpinChatMessage", &[("message_id", message(asked)?)])),
        ModerationAction::SetTitle => Ok(call("setChatTitle", &[("title", text(asked, 1..=128)?)])),
        ModerationAction::SetDescription => {
            Ok(call("setChatDescription", &[("description", text(asked, 0..=255)?)]))
        }
    }
}

fn restrict(asked: &ModerationRequest, here: ChatId, now: DateTime<Utc>) -> Result<MethodCall, String> {
    let may = asked.action == ModerationAction::Unmute;
    let mut args = vec![("user_id", json!(account(asked, here)?)), ("permissions", permissions(may))];
    if !may {
        args.extend(until(asked, now)?);
    }
    Ok(call_in(&json!(here), "restrictChatMember", &args))
}

/// Makes the call that bans or unbans. A channel has a method of its own and can only be banned permanently.
fn ban(asked: &ModerationRequest, here: ChatId, now: DateTime<Utc>) -> Result<MethodCall, String> {
    let bans = asked.action == ModerationAction::Ban;
    if let Some(channel) = asked.person.filter(|id| *id < 0 && *id != here.0) {
        let method = if bans { "banChatSenderChat" } else { "unbanChatSenderChat" };
        return match asked.minutes {
            Some(_) => Err("a channel can only be banned for good: leave minutes out".to_owned()),
            None => Ok(call_in(&json!(here), method, &[("sender_chat_id", json!(channel))])),
        };
    }
    let mut args = vec![("user_id", json!(account(asked, here)?))];
    match bans {
        true => args.extend(until(asked, now)?),
        false => args.push(("only_if_banned", json!(true))),
    }
    let method = if bans { "banChatMember" } else { "unbanChatMember" };
    Ok(call_in(&json!(here), method, &args))
}

fn until(asked: &ModerationRequest, now: DateTime<Utc>) -> Result<Option<(&'static str, Value)>, String> {
    match asked.minutes {
        None => Ok(None),
        Some(minutes @ 1..=MAX_MINUTES) => {
            let end = now + TimeDelta::minutes(i64::from(minutes));
            Ok(Some(("until_date", json!(end.timestamp()))))
        }
        Some(_) => Err(format!("minutes takes 1 to {MAX_MINUTES}; leave it out for good")),
    }
}

/// Returns the account of the person. Channels and anonymous admins have none.
fn account(asked: &ModerationRequest, here: ChatId) -> Result<i64, String> {
    match asked.person {
        Some(id) if id > 0 => Ok(id),
        Some(id) if id == here.0 => Err(
            "this is an anonymous admin: Telegram does not tell bots which, so nothing can be done to them"
                .to_owned(),
        ),
        Some(_) => Err("this is a channel that writes here: it can only be banned or unbanned".to_owned()),
        None => Err("person is missing: @username, a name, or \"replied\"".to_owned()),
    }
}

fn message(asked: &ModerationRequest) -> Result<Value, String> {
    let missing =
        "the question replies to no message of this chat: ask the person to reply to the one they mean";
    asked.replied.map(|id| json!(id)).ok_or_else(|| missing.to_owned())
}

fn text(asked: &ModerationRequest, chars: std::ops::RangeInclusive<usize>) -> Result<Value, String> {
    let text = asked.text.as_deref().map(str::trim).ok_or("text is missing")?;
    match chars.contains(&text.chars().count()) {
        true => Ok(json!(text)),
        false => Err(format!("text takes {} to {} characters", chars.start(), chars.end())),
    }
}

#[cfg(test)]
mod tests {
    use figaro_mcp::catalog::{Catalog, MethodSelection};
    use figaro_mcp::check::check;

    use super::*;

    const HERE: ChatId = ChatId(-100);

    fn asked(action: ModerationAction) -> ModerationRequest {
        ModerationRequest {
            action,
            person: None,
            replied: None,
            messages: Vec::new(),
            minutes: None,
            text: None,
        }
    }

    fn to(action: ModerationAction, person: i64) -> ModerationRequest {
        ModerationRequest { person: Some(person), ..asked(action) }
    }

    fn text(action: ModerationAction, text: &str) -> ModerationRequest {
        ModerationRequest { text: Some(text.to_owned()), ..asked(action) }
    }

    #[test]
    fn what_is_asked_for_becomes_the_exact_call() {
        let replied = |action| ModerationRequest { replied: Some(MessageId(9)), ..asked(action) };
        let timed = |action, minutes| ModerationRequest { minutes: Some(minutes), ..to(action, 5) };
        let delete = |ids: &[i64]| ModerationRequest {
            messages: ids.iter().copied().map(MessageId).collect(),
            ..to(ModerationAction::DeleteMessages, 5)
        };
        let (none, all) = (permissions(false), permissions(true));
        let cases = [
            (
                timed(ModerationAction::Mute, 60),
                "restrictChatMember",
                json!({"user_id": 5, "permissions": none, "until_date": 4600}),
            ),
            (to(ModerationAction::Mute, 5), "restrictChatMember", json!({"user_id": 5, "permissions": none})),
            (
                to(ModerationAction::Unmute, 5),
                "restrictChatMember",
                json!({"user_id": 5, "permissions": all}),
            ),
            (to(ModerationAction::Ban, 5), "banChatMember", json!({"user_id": 5})),
            (
                timed(ModerationAction::Ban, 1440),
                "banChatMember",
                json!({"user_id": 5, "until_date": 87_400}),
            ),
            (to(ModerationAction::Ban, -7), "banChatSenderChat", json!({"sender_chat_id": -7})),
            (
                to(ModerationAction::Unban, 5),
                "unbanChatMember",
                json!({"user_id": 5, "only_if_banned": true}),
            ),
            (to(ModerationAction::Unban, -7), "unbanChatSenderChat", json!({"sender_chat_id": -7})),
            (to(ModerationAction::Kick, 5), "unbanChatMember", json!({"user_id": 5})),
            (delete(&[3, 2, 1]), "deleteMessages", json!({"message_ids": [3, 2, 1]})),
            (delete(&[3]), "deleteMessage", json!({"message_id": 3})),
            (replied(ModerationAction::DeleteMessages), "deleteMessage", json!({"message_id": 9})),
            (replied(ModerationAction::Pin), "pinChatMessage", json!({"message_id": 9})),
            (replied(ModerationAction::Unpin), "unpinChatMessage", json!({"message_id": 9})),
            (text(ModerationAction::SetTitle, " Lunch "), "setChatTitle", json!({"title": "Lunch"})),
            (text(ModerationAction::SetDescription, ""), "setChatDescription", json!({"description": ""})),
        ];
        let now = DateTime::from_timestamp(1000, 0).unwrap();
        let catalog = Catalog::new(&MethodSelection::default());
        for (asked, method, mut args) in cases {
            args["chat_id"] = json!(HERE);
            let call = compose(&asked, HERE, now).unwrap();
            assert_eq!(
                (call.method.as_str(), Value::Object(call.arguments.clone())),
                (method, args),
                "{asked:?}"
            );
            assert!(check(catalog.method(method).unwrap(), &call.arguments).is_ok(), "{call:?}");
        }
    }

    #[test]
    fn what_is_missing_or_cannot_be_is_said() {
        let cases = [
            (asked(ModerationAction::Mute), "person is missing"),
            (to(ModerationAction::Mute, -7), "only be banned or unbanned"),
            (to(ModerationAction::Kick, HERE.0), "anonymous admin"),
            (to(ModerationAction::Ban, HERE.0), "anonymous admin"),
            (ModerationRequest { minutes: Some(0), ..to(ModerationAction::Mute, 5) }, "1 to 527040"),
            (ModerationRequest { minutes: Some(u32::MAX), ..to(ModerationAction::Ban, 5) }, "1 to 527040"),
            (ModerationRequest { minutes: Some(5), ..to(ModerationAction::Ban, -7) }, "for good"),
            (to(ModerationAction::DeleteMessages, 5), "48 hours"),
            (asked(ModerationAction::DeleteMessages), "replies to no message"),
            (asked(ModerationAction::Pin), "replies to no message"),
            (asked(ModerationAction::SetTitle), "text is missing"),
            (text(ModerationAction::SetTitle, "  "), "1 to 128"),
            (text(ModerationAction::SetTitle, &"x".repeat(129)), "1 to 128"),
            (text(ModerationAction::SetDescription, &"x".repeat(256)), "0 to 255"),
        ];
        for (asked, wanted) in cases {
            let said = compose(&asked, HERE, DateTime::UNIX_EPOCH).unwrap_err();
            assert!(said.contains(wanted), "{asked:?}: {said}");
        }
    }
}
