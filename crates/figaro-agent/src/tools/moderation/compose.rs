//! What an admin asks for as a call of the Bot API. Pure.

use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::telegram::parts::{call_in, permissions};
use figaro_base::ids::{ChatId, MessageId};
use figaro_domain::approval::MethodCall;

/// Telegram takes what ends in more than 366 days for endless.
const MAX_MINUTES: u32 = 366 * 24 * 60;

/// What moderation can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum Action {
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

/// What is asked for, with ids in the place of names.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) action: Action,
    /// Telegram's number of the person, or of the channel that speaks.
    pub(super) person: Option<i64>,
    /// The message that the question replies to.
    pub(super) replied: Option<MessageId>,
    /// Of the person, those to be deleted.
    pub(super) messages: Vec<MessageId>,
    pub(super) minutes: Option<u32>,
    pub(super) text: Option<String>,
}

/// The call that does what is asked for in a chat, or what is missing.
pub(super) fn compose(asked: &Asked, here: ChatId, now: DateTime<Utc>) -> Result<MethodCall, String> {
    let call = |method, args: &[(&str, Value)]| call_in(&json!(here), method, args);
    match asked.action {
        Action::Mute | Action::Unmute => restrict(asked, here, now),
        Action::Ban | Action::Unban => ban(asked, here, now),
        // Also who is banned no more: they are out of the chat, and may come back.
        Action::Kick => Ok(call("unbanChatMember", &[("user_id", json!(account(asked, here)?))])),
        Action::DeleteMessages if asked.person.is_some() => match asked.messages.as_slice() {
            [] => Err("no message of theirs from the last 48 hours is known".to_owned()),
            [one] => Ok(call("deleteMessage", &[("message_id", json!(one))])),
            several => Ok(call("deleteMessages", &[("message_ids", json!(several))])),
        },
        Action::DeleteMessages => Ok(call("deleteMessage", &[("message_id", message(asked)?)])),
        Action::Pin => Ok(call("pinChatMessage", &[("message_id", message(asked)?)])),
        Action::Unpin => Ok(call("unpinChatMessage", &[("message_id", message(asked)?)])),
        Action::SetTitle => Ok(call("setChatTitle", &[("title", text(asked, 1..=128)?)])),
        Action::SetDescription => Ok(call("setChatDescription", &[("description", text(asked, 0..=255)?)])),
    }
}

fn restrict(asked: &Asked, here: ChatId, now: DateTime<Utc>) -> Result<MethodCall, String> {
    let may = asked.action == Action::Unmute;
    let mut args = vec![("user_id", json!(account(asked, here)?)), ("permissions", permissions(may))];
    if !may {
        args.extend(until(asked, now)?);
    }
    Ok(call_in(&json!(here), "restrictChatMember", &args))
}

/// A channel that speaks is banned by a method of its own, and for good.
fn ban(asked: &Asked, here: ChatId, now: DateTime<Utc>) -> Result<MethodCall, String> {
    let bans = asked.action == Action::Ban;
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

fn until(asked: &Asked, now: DateTime<Utc>) -> Result<Option<(&'static str, Value)>, String> {
    match asked.minutes {
        None => Ok(None),
        Some(minutes @ 1..=MAX_MINUTES) => {
            let end = now + TimeDelta::minutes(i64::from(minutes));
            Ok(Some(("until_date", json!(end.timestamp()))))
        }
        Some(_) => Err(format!("minutes takes 1 to {MAX_MINUTES}; leave it out for good")),
    }
}

/// The person's account. Channels and anonymous admins have none.
fn account(asked: &Asked, here: ChatId) -> Result<i64, String> {
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

fn message(asked: &Asked) -> Result<Value, String> {
    let missing =
        "the question replies to no message of this chat: ask the person to reply to the one they mean";
    asked.replied.map(|id| json!(id)).ok_or_else(|| missing.to_owned())
}

fn text(asked: &Asked, chars: std::ops::RangeInclusive<usize>) -> Result<Value, String> {
    let text = asked.text.as_deref().map(str::trim).ok_or("text is missing")?;
    match chars.contains(&text.chars().count()) {
        true => Ok(json!(text)),
        false => Err(format!("text takes {} to {} characters", chars.start(), chars.end())),
    }
}

#[cfg(test)]
mod tests {
    use figaro_mcp::catalog::{Catalog, Choice};
    use figaro_mcp::check::check;

    use super::*;

    const HERE: ChatId = ChatId(-100);

    fn asked(action: Action) -> Asked {
        Asked { action, person: None, replied: None, messages: Vec::new(), minutes: None, text: None }
    }

    fn to(action: Action, person: i64) -> Asked {
        Asked { person: Some(person), ..asked(action) }
    }

    fn text(action: Action, text: &str) -> Asked {
        Asked { text: Some(text.to_owned()), ..asked(action) }
    }

    #[test]
    fn what_is_asked_for_becomes_the_exact_call() {
        let replied = |action| Asked { replied: Some(MessageId(9)), ..asked(action) };
        let timed = |action, minutes| Asked { minutes: Some(minutes), ..to(action, 5) };
        let delete = |ids: &[i64]| Asked {
            messages: ids.iter().copied().map(MessageId).collect(),
            ..to(Action::DeleteMessages, 5)
        };
        let (none, all) = (permissions(false), permissions(true));
        let cases = [
            (
                timed(Action::Mute, 60),
                "restrictChatMember",
                json!({"user_id": 5, "permissions": none, "until_date": 4600}),
            ),
            (to(Action::Mute, 5), "restrictChatMember", json!({"user_id": 5, "permissions": none})),
            (to(Action::Unmute, 5), "restrictChatMember", json!({"user_id": 5, "permissions": all})),
            (to(Action::Ban, 5), "banChatMember", json!({"user_id": 5})),
            (timed(Action::Ban, 1440), "banChatMember", json!({"user_id": 5, "until_date": 87_400})),
            (to(Action::Ban, -7), "banChatSenderChat", json!({"sender_chat_id": -7})),
            (to(Action::Unban, 5), "unbanChatMember", json!({"user_id": 5, "only_if_banned": true})),
            (to(Action::Unban, -7), "unbanChatSenderChat", json!({"sender_chat_id": -7})),
            (to(Action::Kick, 5), "unbanChatMember", json!({"user_id": 5})),
            (delete(&[3, 2, 1]), "deleteMessages", json!({"message_ids": [3, 2, 1]})),
            (delete(&[3]), "deleteMessage", json!({"message_id": 3})),
            (replied(Action::DeleteMessages), "deleteMessage", json!({"message_id": 9})),
            (replied(Action::Pin), "pinChatMessage", json!({"message_id": 9})),
            (replied(Action::Unpin), "unpinChatMessage", json!({"message_id": 9})),
            (text(Action::SetTitle, " Lunch "), "setChatTitle", json!({"title": "Lunch"})),
            (text(Action::SetDescription, ""), "setChatDescription", json!({"description": ""})),
        ];
        let now = DateTime::from_timestamp(1000, 0).unwrap();
        let catalog = Catalog::new(&Choice::default());
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
            (asked(Action::Mute), "person is missing"),
            (to(Action::Mute, -7), "only be banned or unbanned"),
            (to(Action::Kick, HERE.0), "anonymous admin"),
            (to(Action::Ban, HERE.0), "anonymous admin"),
            (Asked { minutes: Some(0), ..to(Action::Mute, 5) }, "1 to 527040"),
            (Asked { minutes: Some(u32::MAX), ..to(Action::Ban, 5) }, "1 to 527040"),
            (Asked { minutes: Some(5), ..to(Action::Ban, -7) }, "for good"),
            (to(Action::DeleteMessages, 5), "48 hours"),
            (asked(Action::DeleteMessages), "replies to no message"),
            (asked(Action::Pin), "replies to no message"),
            (asked(Action::SetTitle), "text is missing"),
            (text(Action::SetTitle, "  "), "1 to 128"),
            (text(Action::SetTitle, &"x".repeat(129)), "1 to 128"),
            (text(Action::SetDescription, &"x".repeat(256)), "0 to 255"),
        ];
        for (asked, wanted) in cases {
            let said = compose(&asked, HERE, DateTime::UNIX_EPOCH).unwrap_err();
            assert!(said.contains(wanted), "{asked:?}: {said}");
        }
    }
}
