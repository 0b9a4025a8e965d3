//! Texts of a call that needs approval. The card says in a few plain lines what the call will do, where, and who asks
//! for it. The details show everything, with all arguments and the ids of people and chats.

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::tz::Tz;
use serde_json::Value;

use crate::tools::pages::NAME as READ_PAGE;
use figaro_base::text::{as_markdown, is_unseen, one_line};
use figaro_domain::approval::{Approval, ApprovalTarget, MethodCall, ToolOfServer};
use figaro_domain::delivery::Action;
use figaro_domain::task::STANDING_RULE;
use figaro_policy::tools::AFTER_READING;
use figaro_prompts::texts::{Texts, fill};

/// Maximum length of the summary of a call, in characters. [`details`] shows all of it.
const GIST_CHARS: usize = 160;
/// Values longer than this without a space, such as a file in base64, are not shown as text.
const WORD_CHARS: usize = 100;
/// Telegram takes a restriction that ends within 30 seconds as one for ever.
const TOO_NEAR: TimeDelta = TimeDelta::seconds(60);

/// Returns the buttons of the card.
pub(super) fn actions(approval: &Approval) -> Vec<Action> {
    let hour = approval.may_last.then_some(Action::ApproveHour);
    let all = [Some(Action::ApproveOnce), hour, Some(Action::ApproveDeny), Some(Action::ApproveDetails)];
    all.into_iter().flatten().collect()
}

/// Returns the text of the card, in Markdown. It has no raw arguments, and names instead of ids where possible.
/// `by` is the time until which it can be approved.
pub(super) fn card(texts: &Texts, approval: &Approval, now: &DateTime<Tz>, by: &DateTime<Tz>) -> String {
    let gists: Vec<String> = approval.calls.iter().map(|call| gist(texts, approval, call, now)).collect();
    let name = |target: &ApprovalTarget| match &target.title {
        Some(title) => shown(title),
        None if target.chat == approval.asked_in => texts.approval_here().to_owned(),
        None => texts.approval_elsewhere().to_owned(),
    };
    // Private chats have no admins.
    let has_admins = approval.targets.iter().any(|target| target.chat.is_group());
    let who = match (&approval.right, approval.needs_other) {
        (None, _) => texts.approval_by_owner(),
        (Some(_), false) if !has_admins => texts.approval_by_owner(),
        (Some(_), false) => texts.approval_by_admin(),
        (Some(_), true) => texts.approval_by_other(),
    };
    let why = match approval.rule.as_str() {
        "default/unknown_address" => Some(texts.approval_why_address().to_owned()),
        "default/reaching" => Some(texts.approval_why_reaching().to_owned()),
        AFTER_READING => None,
        "default/hidden_message" => Some(texts.approval_why_hidden().to_owned()),
        _ => approval.reason.as_deref().map(shown),
    };
    let asker = shown(&requester(approval));
    let hour = approval.may_last.then(|| fill(texts.approval_hour(), &[("name", &asker)]));
    let lines = [
        Some(fill(texts.approval_title(), &[("gist", &gists.join("; "))])),
        Some(fill(texts.approval_where(), &[("chats", &listed(approval, name))])),
        Some(fill(texts.approval_asked_by(), &[("name", &asker)])),
        why,
        approval.read.as_deref().map(|read| fill(texts.approval_read(), &[("text", &shown(read))])),
        hour,
        Some(fill(who, &[("time", &texts.spoken(by, now))])),
    ];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// Returns the time until which an approval waits that begins now: `latest`, or the time until which its calls would hold, if that
/// is earlier. What is approved after that could not be made any more. A time that is past or near stands for no end.
pub(super) fn end(approval: &Approval, now: DateTime<Utc>, latest: DateTime<Utc>) -> DateTime<Utc> {
    let times = approval.calls.iter().filter(|_| approval.server.is_none()).filter_map(until);
    let ends = times.filter_map(|until| Some(DateTime::from_timestamp(until, 0)? - TOO_NEAR));
    ends.filter(|end| *end > now).fold(latest, DateTime::min)
}

fn until(call: &MethodCall) -> Option<i64> {
    call.arguments.get("until_date").and_then(Value::as_i64)
}

/// Returns the details, in Markdown: the chats and people with their ids, and the calls with all their arguments.
#[must_use]
pub fn details(texts: &Texts, approval: &Approval) -> String {
    let chats = approval.targets.iter().map(|target| {
        let title = target.title.as_deref().map_or_else(|| texts.approval_here().to_owned(), shown);
        format!("{title} ({})", target.chat)
    });
    let asker = approval.requester.user.telegram_id().unwrap_or_default();
    let asker = format!("{} ({asker})", shown(&requester(approval)));
    let people = approval.people.iter().map(|person| format!("{} ({})", shown(&person.name), person.user));
    let numbered: Vec<String> = chats.chain([asker]).chain(people).collect();
    let numbers = fill(texts.approval_numbers(), &[("names", &numbered.join(" · "))]);
    let calls = approval.calls.iter().map(whole);
    [numbers, String::new()].into_iter().chain(calls).collect::<Vec<_>>().join("\n")
}

fn listed(approval: &Approval, name: impl Fn(&ApprovalTarget) -> String) -> String {
    approval.targets.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn requester(approval: &Approval) -> String {
    let asker = &approval.requester;
    let username = asker.username.as_deref().map(|name| format!(" @{name}")).unwrap_or_default();
    format!("{}{username}", asker.name)
}

/// Returns a one-line summary of a call.
fn gist(texts: &Texts, approval: &Approval, call: &MethodCall, now: &DateTime<Tz>) -> String {
    let of = |key: &str| call.arguments.get(key).map(plain).unwrap_or_default();
    let number = of("user_id");
    let person = approval.people.iter().find(|person| person.user.to_string() == number);
    let user = person.map_or(number.as_str(), |person| person.name.as_str());
    let words = approval
        .server
        .as_ref()
        .map_or_else(|| of_method(texts, approval, call), |_| texts.approval_server());
    let count = call.arguments.get("message_ids").and_then(Value::as_array).map_or(1, Vec::len);
    let method = if call.method == STANDING_RULE { of("method") } else { call.method.clone() };
    let server = approval.server.as_ref().map(|ToolOfServer { server, tool, .. }| (server, tool));
    let values = [
        ("user", user),
        ("text", &of("text")),
        ("url", &of("url")),
        ("title", &of("title")),
        ("about", approval.about.as_deref().unwrap_or_default()),
        ("count", &count.to_string()),
        ("times", &of("times")),
        ("method", &texts.method(&method)),
        ("server", server.map_or("", |(server, _)| server)),
        ("tool", server.map_or("", |(_, tool)| tool)),
        ("values", &said(call)),
    ];
    let until = until(call).filter(|_| server.is_none());
    let until = until.map(|until| match DateTime::from_timestamp(until, 0) {
        // Telegram accepts times in this range; see its documentation of these methods.
        Some(at) if at >= *now + TimeDelta::seconds(30) && at <= *now + TimeDelta::days(366) => {
            let at = at.with_timezone(&now.timezone());
            fill(texts.approval_until(), &[("time", &texts.spoken(&at, now))])
        }
        Some(_) | None => texts.approval_for_ever().to_owned(),
    });
    let words = fill(words, &values);
    if call.method == READ_PAGE {
        // All of it is shown: what it carries may stand at its end.
        return as_markdown(&one_line(&words, usize::MAX));
    }
    shown(format!("{words}{}", until.unwrap_or_default()).trim_end_matches([':', ' ']))
}

/// Returns the text template for a method call.
fn of_method<'a>(texts: &'a Texts, approval: &Approval, call: &MethodCall) -> &'a str {
    let names_message = approval.about.is_some();
    let is_set = |value: Option<&Value>| value.and_then(Value::as_bool).unwrap_or_default();
    let may_send = || is_set(call.arguments.get("permissions").and_then(|may| may.get("can_send_messages")));
    match call.method.as_str() {
        "banChatMember" if is_set(call.arguments.get("revoke_messages")) => texts.approval_ban_whole(),
        "banChatMember" => texts.approval_ban(),
        "unbanChatMember" => texts.approval_unban(),
        "restrictChatMember" if !may_send() => texts.approval_mute(),
        "restrictChatMember" => texts.approval_restrict(),
        "promoteChatMember" => texts.approval_promote(),
        "deleteMessage" if names_message => texts.approval_delete_of(),
        "deleteMessage" | "deleteMessages" => texts.approval_delete(),
        "pinChatMessage" if names_message => texts.approval_pin_of(),
        "pinChatMessage" => texts.approval_pin(),
        "unpinChatMessage" if names_message => texts.approval_unpin_of(),
        "unpinChatMessage" => texts.approval_unpin(),
        "setChatTitle" => texts.approval_title_change(),
        "sendMessage" => texts.approval_send(),
        STANDING_RULE => texts.approval_standing(),
        READ_PAGE => texts.approval_page(),
        _ => texts.approval_other(),
    }
}

/// Returns the texts among the arguments of a call, at any depth.
fn said(call: &MethodCall) -> String {
    fn collect<'a>(value: &'a Value, words: &mut Vec<&'a str>) {
        match value {
            Value::String(text)
                if text.chars().count() <= WORD_CHARS || text.contains(char::is_whitespace) =>
            {
                words.push(text);
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, words)),
            Value::Object(fields) => fields.values().for_each(|field| collect(field, words)),
            Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
        }
    }
    let mut words = Vec::new();
    let others = call.arguments.iter().filter(|(key, _)| !matches!(key.as_str(), "chat_id" | "parse_mode"));
    others.for_each(|(_, value)| collect(value, &mut words));
    words.join(" · ")
}

/// Formats a call with all its arguments, as they will be sent. Invisible characters, and those that change the text
/// direction, are escaped.
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
    // No text in it may close the code block.
    let longest = json.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("`{}`\n{fence}json\n{json}\n{fence}", call.method)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Escapes text of others as one line of Markdown: it has no markup, and no invisible characters.
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
            targets: vec![ApprovalTarget {
                chat: ChatId(-5),
                title: Some("Bob [Approved,by,Ann]\u{2067}".into()),
            }],
            people: vec![Concerned { user: 7, name: "Eve *x* @eve".into() }],
            about: None,
            right: Some("can_restrict_members".into()),
            needs_other: false,
            may_last: false,
            rule: "default/other".into(),
            reason: None,
            read: None,
            asked_in: ChatId(-5),
            requester: Speaker {
                user: UserId::telegram(1),
                name: r"Ann \[ok\]".into(),
                username: Some("ann".into()),
            },
        }
    }

    fn card_of(approval: &Approval) -> String {
        let now = DateTime::UNIX_EPOCH.with_timezone(&Tz::UTC);
        let by = now + TimeDelta::days(1);
        card(Locales::default().of(Some("en")), approval, &now, &by)
    }

    fn of(method: &str, arguments: &Value) -> String {
        card_of(&approval(method, arguments))
    }

    #[test]
    fn names_are_no_markup_and_unseen_letters_are_told() {
        let asked =
            approval("banChatMember", &json!({"chat_id": -5, "user_id": 7, "note": "a\u{202e}b ```"}));
        let card = card_of(&asked);
        let lines: Vec<&str> = card.lines().collect();
        assert!(lines[0].ends_with("Ban Eve &#42;x&#42; @eve"), "{card}");
        assert!(lines[1].ends_with("Bob &#91;Approved,by,Ann&#93;"), "{card}");
        assert!(lines[2].ends_with("Ann &#92;&#91;ok&#92;&#93; @ann"), "{card}");
        let details = details(Locales::default().of(Some("en")), &asked);
        for words in ["&#93; (-5)", "@ann (1)", "Eve &#42;x&#42; @eve (7)", r"a\u202eb"] {
            assert!(details.contains(words), "{words} in {details}");
        }
        assert!(details.ends_with("````"), "{details}");
    }

    #[test]
    fn a_chat_is_named_by_its_title_or_as_this_one_and_its_number_is_a_detail() {
        let of = |chat, title: Option<&str>| {
            let targets = vec![ApprovalTarget { chat: ChatId(chat), title: title.map(str::to_owned) }];
            let approval = Approval { targets, ..approval("pinChatMessage", &json!({})) };
            let details = details(Locales::default().of(Some("en")), &approval);
            assert!(details.lines().next().unwrap().contains(&chat.to_string()), "{details}");
            card_of(&approval).lines().nth(1).unwrap().to_owned()
        };
        assert_eq!(of(-5, Some("Team")), "In: Team");
        assert_eq!((of(-5, None), of(-6, None)), ("In: this chat".to_owned(), "In: another chat".to_owned()));
    }

    #[test]
    fn what_has_no_words_of_its_own_is_told_by_its_name_and_its_arguments() {
        let poll =
            of("sendPoll", &json!({"chat_id": -5, "question": "Where?", "options": [{"text": "Here"}]}));
        assert!(poll.lines().next().unwrap().ends_with("Send a poll: Where? · Here"), "{poll}");
        let word = "ы".repeat(WORD_CHARS);
        let poll = of("sendPoll", &json!({"question": word}));
        assert!(poll.contains(&word), "letters count, whatever bytes they take: {poll}");
        let dice = of("sendDice", &json!({}));
        assert!(dice.lines().next().unwrap().ends_with("Roll the dice"), "{dice}");
        let new = of("sendSomethingNew", &json!({}));
        assert!(new.lines().next().unwrap().ends_with("send something new"), "{new}");
    }

    #[test]
    fn an_approval_waits_no_longer_than_what_it_approves_would_hold() {
        let at = |seconds| DateTime::from_timestamp(seconds, 0).unwrap();
        let of = |until: i64| {
            let asked = approval("restrictChatMember", &json!({"user_id": 7, "until_date": until}));
            end(&asked, at(1_000), at(90_000)).timestamp()
        };
        assert_eq!([1_600, 100_000, 0, 900, 1_030].map(of), [1_540, 90_000, 90_000, 90_000, 90_000]);
    }

    #[test]
    fn a_time_is_told_by_the_clock_of_the_chat_and_one_taken_as_for_ever_is_told_so() {
        let until = |seconds: i64| of("restrictChatMember", &json!({"user_id": 7, "until_date": seconds}));
        assert!(until(3_600).contains("until today 01:00"), "{}", until(3_600));
        for seconds in [0, 1, 29, 367 * 86_400, -1, i64::MAX] {
            assert!(until(seconds).lines().next().unwrap().contains("for ever"), "{}", until(seconds));
        }
    }
}
