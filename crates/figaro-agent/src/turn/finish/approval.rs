//! The words of a call that takes an approval: what it will do, to whom and where, who asks for it, and all of its arguments.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use figaro_base::text::{as_markdown, is_unseen, one_line};
use figaro_domain::approval::{Approval, MethodCall, Target, ToolOfServer, WAITS_MINUTES};
use figaro_domain::delivery::Action;
use figaro_domain::task::STANDING_RULE;
use figaro_prompts::texts::{Texts, fill};

/// What it will do is named in at most so many characters; all of it follows.
const GIST_CHARS: usize = 160;

/// The buttons of it.
pub(super) fn actions(approval: &Approval) -> Vec<Action> {
    let hour = approval.may_last.then_some(Action::ApproveHour);
    [Some(Action::ApproveOnce), hour, Some(Action::ApproveDeny)].into_iter().flatten().collect()
}

/// The words, in Markdown. Long arguments become a file when they are sent, as any long code does.
pub(super) fn card(texts: &Texts, approval: &Approval, now: DateTime<Utc>) -> String {
    let gists: Vec<String> = approval.calls.iter().map(|call| gist(texts, approval, call, now)).collect();
    let name = |target: &Target| match &target.title {
        Some(title) => format!("{} ({})", shown(title), target.chat),
        None if target.chat == approval.asked_in => texts.approval_here().to_owned(),
        None => target.chat.to_string(),
    };
    let chats: Vec<String> = approval.targets.iter().map(name).collect();
    let who = match (&approval.right, approval.needs_other) {
        (None, _) => texts.approval_by_owner(),
        (Some(_), false) => texts.approval_by_admin(),
        (Some(_), true) => texts.approval_by_other(),
    };
    let why = match approval.rule.as_str() {
        "default/unknown_address" => Some(texts.approval_why_address().to_owned()),
        "default/reaching" => Some(texts.approval_why_reaching().to_owned()),
        "default/hidden_message" => Some(texts.approval_why_hidden().to_owned()),
        _ => approval.reason.as_deref().map(shown),
    };
    let asker = &approval.requester;
    let username = asker.username.as_deref().map(|name| format!(" @{name}")).unwrap_or_default();
    let asker =
        shown(&format!("{}{username} ({})", asker.name, asker.user.telegram_id().unwrap_or_default()));
    let hour = approval.may_last.then(|| fill(texts.approval_hour(), &[("name", &asker)]));
    let until = now + TimeDelta::minutes(WAITS_MINUTES.into());
    let lines = [
        Some(fill(texts.approval_title(), &[("gist", &gists.join("; "))])),
        Some(fill(texts.approval_where(), &[("chats", &chats.join(", "))])),
        Some(fill(texts.approval_asked_by(), &[("name", &asker)])),
        why,
        Some(who.to_owned()),
        hour,
        Some(fill(texts.approval_waits(), &[("time", &time(until))])),
    ];
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    let calls = approval.calls.iter().map(whole).collect::<Vec<_>>().join("\n");
    format!("{}\n\n{calls}", lines.join("\n"))
}

/// What a call does, in a line.
fn gist(texts: &Texts, approval: &Approval, call: &MethodCall, now: DateTime<Utc>) -> String {
    let of = |key: &str| call.arguments.get(key).map(plain).unwrap_or_default();
    let number = of("user_id");
    let person = approval.people.iter().find(|person| person.user.to_string() == number);
    let user = person.map_or_else(|| number.clone(), |person| format!("{} ({number})", person.name));
    if let Some(ToolOfServer { server, tool, .. }) = &approval.server {
        let words = fill(texts.approval_server(), &[("tool", tool), ("server", server)]);
        return shown(&one_line(&words, GIST_CHARS));
    }
    let words = match call.method.as_str() {
        "banChatMember" => texts.approval_ban(),
        "unbanChatMember" => texts.approval_unban(),
        "restrictChatMember" => texts.approval_restrict(),
        "promoteChatMember" => texts.approval_promote(),
        "deleteMessage" | "deleteMessages" => texts.approval_delete(),
        "pinChatMessage" => texts.approval_pin(),
        "unpinChatMessage" => texts.approval_unpin(),
        "setChatTitle" => texts.approval_title_change(),
        "sendMessage" => texts.approval_send(),
        STANDING_RULE => texts.approval_standing(),
        _ => texts.approval_other(),
    };
    let count = call.arguments.get("message_ids").and_then(Value::as_array).map_or(1, Vec::len);
    let values = [
        ("user", user.as_str()),
        ("text", &of("text")),
        ("title", &of("title")),
        ("count", &count.to_string()),
        ("times", &of("times")),
        ("method", &if call.method == STANDING_RULE { of("method") } else { call.method.clone() }),
    ];
    let until = call.arguments.get("until_date").and_then(Value::as_i64);
    let until = until.map(|until| match DateTime::from_timestamp(until, 0) {
        // So Telegram takes it, by the docs of these methods.
        Some(at) if at >= now + TimeDelta::seconds(30) && at <= now + TimeDelta::days(366) => {
            fill(texts.approval_until(), &[("time", &time(at))])
        }
        Some(_) | None => texts.approval_for_ever().to_owned(),
    });
    shown(&one_line(&format!("{}{}", fill(words, &values), until.unwrap_or_default()), GIST_CHARS))
}

fn time(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

/// A call with all its arguments, as they will be sent. What is not seen, or changes the order in which letters are shown, is
/// written as its number.
fn whole(call: &MethodCall) -> String {
    let arguments = Value::Object(call.arguments.clone());
    let json = serde_json::to_string_pretty(&arguments).unwrap_or_else(|_| arguments.to_string());
    let json: String = json
        .chars()
        .flat_map(|c| match is_unseen(c) {
            true => format!("\\u{:04x}", u32::from(c)).chars().collect::<Vec<_>>(),
            false => vec![c],
        })
        .collect();
    // No text in it may end the code that it stands in.
    let longest = json.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("`{}`\n{fence}json\n{json}\n{fence}", call.method)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Words of others in a line of Markdown: nothing of them is markup, and each letter is seen where it stands.
fn shown(words: &str) -> String {
    let seen: String = words.chars().filter(|c| !is_unseen(*c)).collect();
    as_markdown(&one_line(&seen, GIST_CHARS))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use figaro_base::ids::{ChatId, RunId, UserId};
    use figaro_domain::approval::{Concerned, Fingerprint};
    use figaro_domain::message::Speaker;
    use figaro_prompts::texts::Locales;

    fn approval(method: &str, arguments: &Value) -> Approval {
        let calls =
            vec![MethodCall { method: method.into(), arguments: arguments.as_object().unwrap().clone() }];
        Approval {
            fingerprint: Fingerprint::of(RunId::new(), "c", &calls),
            calls,
            server: None,
            targets: vec![Target { chat: ChatId(-5), title: Some("Bob [Approved,by,Ann]\u{2067}".into()) }],
            people: vec![Concerned { user: 7, name: "Eve *x* @eve".into() }],
            right: Some("can_restrict_members".into()),
            needs_other: false,
            may_last: false,
            rule: "default/other".into(),
            reason: None,
            asked_in: ChatId(-5),
            requester: Speaker {
                user: UserId::telegram(1),
                name: r"Ann \[ok\]".into(),
                username: Some("ann".into()),
            },
        }
    }

    fn of(method: &str, arguments: &Value) -> String {
        let locales = Locales::load().unwrap();
        card(locales.of(Some("en")), &approval(method, arguments), DateTime::UNIX_EPOCH)
    }

    #[test]
    fn names_are_no_markup_and_unseen_letters_are_told() {
        let card = of("banChatMember", &json!({"chat_id": -5, "user_id": 7, "note": "a\u{202e}b ```"}));
        let lines: Vec<&str> = card.lines().collect();
        assert!(lines[0].ends_with("Ban Eve &#42;x&#42; @eve (7)"), "{card}");
        assert!(lines[1].contains("Bob &#91;Approved,by,Ann&#93; (-5)"), "{card}");
        assert!(lines[2].contains("Ann &#92;&#91;ok&#92;&#93; @ann (1)"), "{card}");
        assert!(card.contains(r"a\u202eb") && card.ends_with("````"), "{card}");
    }

    #[test]
    fn a_chat_is_named_by_its_title_or_as_this_one_or_by_its_number() {
        let locales = Locales::load().unwrap();
        let of = |chat, title: Option<&str>| {
            let targets = vec![Target { chat: ChatId(chat), title: title.map(str::to_owned) }];
            let approval = Approval { targets, ..approval("pinChatMessage", &json!({})) };
            let card = card(locales.of(Some("en")), &approval, DateTime::UNIX_EPOCH);
            card.lines().nth(1).unwrap().to_owned()
        };
        assert_eq!(of(-5, Some("Team")), "In: Team (-5)");
        assert_eq!((of(-5, None), of(-6, None)), ("In: this chat".to_owned(), "In: -6".to_owned()));
    }

    #[test]
    fn a_time_that_telegram_takes_as_for_ever_is_told_so() {
        let until = |seconds: i64| of("restrictChatMember", &json!({"user_id": 7, "until_date": seconds}));
        assert!(until(3_600).contains("until 1970-01-01 01:00 UTC"), "{}", until(3_600));
        for seconds in [0, 1, 29, 367 * 86_400, -1, i64::MAX] {
            assert!(until(seconds).lines().next().unwrap().contains("for ever"), "{}", until(seconds));
        }
    }
}
