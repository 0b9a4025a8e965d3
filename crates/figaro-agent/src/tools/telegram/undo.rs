//! Builds the call that undoes another one. Pure.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value, json};

use super::parts::{call_in, is_late, permissions, permissions_of};
use figaro_domain::approval::MethodCall;

/// End of a ban or restriction.
const UNTIL: &str = "until_date";

/// Returns the call that undoes `done`; `None` if nothing can. `result` is Telegram's answer. `before` is the earlier
/// state, if known: from `getChat` for a title or description, from `getChatMember` for a restriction or ban. Without it a
/// restriction cannot be undone, since the person may have been restricted before.
#[must_use]
pub(super) fn undo_of(done: &MethodCall, result: &Value, before: Option<&Value>) -> Option<MethodCall> {
    let args = &done.arguments;
    let chat = args.get("chat_id")?;
    let keep = |names: &[&str]| -> Map<String, Value> {
        let named = names.iter().filter_map(|name| Some(((*name).to_owned(), args.get(*name)?.clone())));
        [("chat_id".to_owned(), chat.clone())].into_iter().chain(named).collect()
    };
    let call = |method: &str, args| Some(MethodCall { method: method.to_owned(), arguments: args });
    match done.method.as_str() {
        "pinChatMessage" => call("unpinChatMessage", keep(&["message_id", "business_connection_id"])),
        "unpinChatMessage" if args.contains_key("message_id") => {
            call("pinChatMessage", keep(&["message_id", "business_connection_id"]))
        }
        // They were banned before: undoing must not let them in.
        "banChatMember" | "restrictChatMember" if status(before) == Some("kicked") => None,
        // With unknown earlier state they may have been banned before; and an unban does not restore a restriction.
        "banChatMember" if matches!(status(before), None | Some("restricted")) => None,
        "banChatMember" => {
            let mut back = keep(&["user_id"]);
            back.insert("only_if_banned".to_owned(), json!(true));
            call("unbanChatMember", back)
        }
        "banChatSenderChat" => call("unbanChatSenderChat", keep(&["sender_chat_id"])),
        "restrictChatMember" => call("restrictChatMember", restored(keep(&["user_id"]), before?)),
        "setChatTitle" => put_back("setChatTitle", "title", chat, before),
        "setChatDescription" => put_back("setChatDescription", "description", chat, before),
        // The owner of a business account deletes what was sent in its name.
        _ if args.contains_key("business_connection_id") => None,
        _ => unsent(chat, result),
    }
}

/// Returns the method and arguments that read the state before a call or its undoing; `None` if the state does not matter.
pub(super) fn looks_at(call: &MethodCall) -> Option<(&'static str, Map<String, Value>)> {
    let (method, names): (_, &[&str]) = match call.method.as_str() {
        "restrictChatMember" | "banChatMember" | "unbanChatMember" => {
            ("getChatMember", &["chat_id", "user_id"])
        }
        "setChatTitle" | "setChatDescription" => ("getChat", &["chat_id"]),
        _ => return None,
    };
    let named =
        names.iter().filter_map(|name| Some(((*name).to_owned(), call.arguments.get(*name)?.clone())));
    Some((method, named.collect()))
}

/// Returns the state left by a call that somebody may change before the undo, as in `getChat` and `getChatMember`.
pub(super) fn left_by(done: &MethodCall, now: DateTime<Utc>) -> Map<String, Value> {
    let of = |name: &str| done.arguments.get(name).cloned();
    let left = match done.method.as_str() {
        "banChatMember" => {
            // Telegram treats longer bans as permanent (docs of the method).
            let for_ever = (now + TimeDelta::days(366)).timestamp();
            let until = of("until_date").and_then(|until| until.as_i64()).filter(|until| *until <= for_ever);
            Some((UNTIL, json!(until.unwrap_or_default())))
        }
        "setChatTitle" => of("title").map(|title| ("title", title)),
        "setChatDescription" => Some(("description", of("description").unwrap_or_else(|| json!("")))),
        _ => None,
    };
    left.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns `true` if somebody has changed the state since; `state` is the current result of [`looks_at`]. A ban by somebody
/// else, or for another time, stays.
pub(super) fn is_changed(undo: &MethodCall, left: &Map<String, Value>, state: &Value) -> bool {
    let is_banned = status(Some(state)) == Some("kicked");
    match undo.method.as_str() {
        "restrictChatMember" => is_banned,
        "unbanChatMember" => {
            is_banned && left.get(UNTIL).is_some_and(|until| *until != *state.get(UNTIL).unwrap_or(&json!(0)))
        }
        _ => left.iter().any(|(name, value)| value != state.get(name).unwrap_or(&json!(""))),
    }
}

/// Adapts the call to the current time. An earlier restriction that has expired is lifted, since Telegram would treat its
/// end as permanent.
pub(super) fn in_time(mut call: MethodCall, now: DateTime<Utc>) -> MethodCall {
    if call.method == "restrictChatMember" && is_late(&call.arguments, now) {
        call.arguments.remove("until_date");
        call.arguments.insert("permissions".to_owned(), permissions(true));
    }
    call
}

fn status(member: Option<&Value>) -> Option<&str> {
    member?.get("status")?.as_str()
}

/// Restores the earlier restriction of a member; without one, lifts all restrictions so that the chat's permissions apply.
fn restored(mut args: Map<String, Value>, before: &Value) -> Map<String, Value> {
    let earlier = Some(before).filter(|member| status(Some(member)) == Some("restricted"));
    let given = earlier.map_or_else(|| permissions(true), permissions_of);
    args.insert("permissions".to_owned(), given);
    let until = earlier.and_then(|member| member.get("until_date")).filter(|until| **until != json!(0));
    if let Some(until) = until {
        args.insert("until_date".to_owned(), until.clone());
    }
    if earlier.is_some() {
        // Otherwise granting one permission would imply others.
        args.insert("use_independent_chat_permissions".to_owned(), json!(true));
    }
    args
}

/// Restores an earlier title or description. A missing description was empty; a title is never missing.
fn put_back(method: &str, field: &str, chat: &Value, before: Option<&Value>) -> Option<MethodCall> {
    let before = before?;
    let earlier = match (before.get(field), field) {
        (Some(earlier), _) => earlier.clone(),
        (None, "description") => json!(""),
        (None, _) => return None,
    };
    Some(call_in(chat, method, &[(field, earlier)]))
}

/// Deletes the new messages of a result: whole messages that were not edited, or the ids returned by copies and forwards.
fn unsent(asked: &Value, result: &Value) -> Option<MethodCall> {
    let sent = result.as_array().map_or(std::slice::from_ref(result), Vec::as_slice);
    let is_new = |message: &Value| message.get("edit_date").is_none();
    let ids: Vec<&Value> =
        sent.iter().filter(|one| is_new(one)).filter_map(|one| one.get("message_id")).collect();
    let chat = sent.first().and_then(|one| one.pointer("/chat/id")).unwrap_or(asked);
    match ids.as_slice() {
        [] => None,
        [one] => Some(call_in(chat, "deleteMessage", &[("message_id", (*one).clone())])),
        several => Some(call_in(chat, "deleteMessages", &[("message_ids", json!(several))])),
    }
}

#[cfg(test)]
mod tests {
    use figaro_mcp::catalog::{Catalog, MethodSelection};
    use figaro_mcp::check::check;

    use super::*;

    fn call(method: &str, args: Value) -> MethodCall {
        let Value::Object(args) = args else { panic!("no object") };
        MethodCall { method: method.to_owned(), arguments: args }
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn what_can_be_taken_back_is() {
        let restricted = json!({"status": "restricted", "can_send_messages": true, "can_send_polls": false,
            "until_date": 99, "user": {"id": 5}});
        let narrow = json!({"can_send_messages": true, "can_send_polls": false});
        let sent = |id: i64| json!({"message_id": id, "chat": {"id": -7}, "date": 1});
        let before = json!({"title": "Old", "description": "About"});
        let (member, kicked) = (json!({"status": "member"}), json!({"status": "kicked"}));
        let mute = || {
            call(
                "restrictChatMember",
                json!({"chat_id": -1, "user_id": 5, "permissions": {}, "until_date": 7}),
            )
        };
        let cases = [
            (
                call("sendMessage", json!({"chat_id": "@news", "text": "x"})),
                sent(3),
                None,
                Some(call("deleteMessage", json!({"chat_id": -7, "message_id": 3}))),
            ),
            (
                call("sendMediaGroup", json!({"chat_id": -7, "media": []})),
                json!([sent(3), sent(4)]),
                None,
                Some(call("deleteMessages", json!({"chat_id": -7, "message_ids": [3, 4]}))),
            ),
            (
                call("copyMessage", json!({"chat_id": -7, "from_chat_id": -1, "message_id": 1})),
                json!({"message_id": 8}),
                None,
                Some(call("deleteMessage", json!({"chat_id": -7, "message_id": 8}))),
            ),
            (
                call("editMessageText", json!({"chat_id": -7, "message_id": 3, "text": "x"})),
                json!({"message_id": 3, "edit_date": 2, "chat": {"id": -7}}),
                None,
                None,
            ),
            (
                call("pinChatMessage", json!({"chat_id": -1, "message_id": 3, "disable_notification": true})),
                json!(true),
                None,
                Some(call("unpinChatMessage", json!({"chat_id": -1, "message_id": 3}))),
            ),
            (
                call("unpinChatMessage", json!({"chat_id": -1, "message_id": 3})),
                json!(true),
                None,
                Some(call("pinChatMessage", json!({"chat_id": -1, "message_id": 3}))),
            ),
            (call("unpinChatMessage", json!({"chat_id": -1})), json!(true), None, None),
            (call("banChatMember", json!({"chat_id": -1, "user_id": 5})), json!(true), None, None),
            (
                call("banChatMember", json!({"chat_id": -1, "user_id": 5})),
                json!(true),
                Some(&restricted),
                None,
            ),
            (
                call("banChatMember", json!({"chat_id": -1, "user_id": 5, "until_date": 9})),
                json!(true),
                Some(&member),
                Some(call("unbanChatMember", json!({"chat_id": -1, "user_id": 5, "only_if_banned": true}))),
            ),
            (call("banChatMember", json!({"chat_id": -1, "user_id": 5})), json!(true), Some(&kicked), None),
            (
                call("sendMessage", json!({"chat_id": -7, "text": "x", "business_connection_id": "b"})),
                sent(3),
                None,
                None,
            ),
            (
                call("banChatSenderChat", json!({"chat_id": -1, "sender_chat_id": -9})),
                json!(true),
                None,
                Some(call("unbanChatSenderChat", json!({"chat_id": -1, "sender_chat_id": -9}))),
            ),
            (mute(), json!(true), None, None),
            (mute(), json!(true), Some(&kicked), None),
            (
                mute(),
                json!(true),
                Some(&member),
                Some(call(
                    "restrictChatMember",
                    json!({"chat_id": -1, "user_id": 5, "permissions": permissions(true)}),
                )),
            ),
            (
                mute(),
                json!(true),
                Some(&restricted),
                Some(call(
                    "restrictChatMember",
                    json!({"chat_id": -1, "user_id": 5, "permissions": narrow,
                    "until_date": 99, "use_independent_chat_permissions": true}),
                )),
            ),
            (
                call("setChatTitle", json!({"chat_id": -1, "title": "New"})),
                json!(true),
                Some(&before),
                Some(call("setChatTitle", json!({"chat_id": -1, "title": "Old"}))),
            ),
            (call("setChatTitle", json!({"chat_id": -1, "title": "New"})), json!(true), None, None),
            (
                call("setChatDescription", json!({"chat_id": -1, "description": "x"})),
                json!(true),
                Some(&json!({"title": "T"})),
                Some(call("setChatDescription", json!({"chat_id": -1, "description": ""}))),
            ),
            (call("deleteMessage", json!({"chat_id": -1, "message_id": 3})), json!(true), None, None),
            (call("unbanChatMember", json!({"chat_id": -1, "user_id": 5})), json!(true), None, None),
            (call("getMe", json!({})), json!({"id": 1}), None, None),
        ];
        let catalog = Catalog::new(&MethodSelection::default());
        for (done, result, before, wanted) in cases {
            let undo = undo_of(&done, &result, before);
            assert_eq!(undo, wanted, "{done:?}");
            if let Some(undo) = undo {
                assert!(check(catalog.method(&undo.method).unwrap(), &undo.arguments).is_ok(), "{undo:?}");
            }
        }
    }

    #[test]
    fn an_earlier_restriction_that_has_ended_is_lifted() {
        let muted = json!({"chat_id": -1, "user_id": 5, "permissions": {"can_send_messages": false}, "until_date": 100});
        let at = |seconds: i64| {
            in_time(call("restrictChatMember", muted.clone()), DateTime::from_timestamp(seconds, 0).unwrap())
        };
        assert_eq!(at(0), call("restrictChatMember", muted.clone()));
        let lifted = json!({"chat_id": -1, "user_id": 5, "permissions": permissions(true)});
        assert_eq!(at(90), call("restrictChatMember", lifted));
    }

    #[test]
    fn what_is_looked_up_names_the_chat_and_the_person() {
        let (method, args) =
            looks_at(&call("banChatMember", json!({"chat_id": -1, "user_id": 5, "until_date": 9}))).unwrap();
        assert_eq!((method, Value::Object(args)), ("getChatMember", json!({"chat_id": -1, "user_id": 5})));
        assert_eq!(looks_at(&call("pinChatMessage", json!({"chat_id": -1, "message_id": 5}))), None);
    }

    #[test]
    fn what_somebody_changed_since_is_seen() {
        let now = DateTime::UNIX_EPOCH;
        let ban =
            |until: i64| call("banChatMember", json!({"chat_id": -1, "user_id": 5, "until_date": until}));
        let unban = call("unbanChatMember", json!({"chat_id": -1, "user_id": 5}));
        let lift = call("restrictChatMember", json!({"chat_id": -1, "user_id": 5, "permissions": {}}));
        let title = |title: &str| call("setChatTitle", json!({"chat_id": -1, "title": title}));
        let about = |about: &str| call("setChatDescription", json!({"chat_id": -1, "description": about}));
        let kicked = |until: i64| json!({"status": "kicked", "until_date": until});
        let cases = [
            (ban(900), &unban, kicked(900), false),
            (ban(900), &unban, kicked(0), true),
            (ban(0), &unban, kicked(0), false),
            (ban(40_000_000), &unban, kicked(0), false),
            (ban(900), &unban, json!({"status": "left"}), false),
            (lift.clone(), &lift, json!({"status": "restricted"}), false),
            (lift.clone(), &lift, kicked(0), true),
            (title("New"), &title("Old"), json!({"title": "New"}), false),
            (title("New"), &title("Old"), json!({"title": "Newer"}), true),
            (about(""), &about("x"), json!({"title": "New"}), false),
            (about("y"), &about("x"), json!({"title": "New"}), true),
        ];
        for (done, undo, state, wanted) in cases {
            assert_eq!(is_changed(undo, &left_by(&done, now), &state), wanted, "{done:?} {state}");
        }
    }
}
