//! The words of a call that takes an approval: what it will do, to whom and where, who asks for it, and all of its arguments.

use serde_json::Value;

use crate::domain::approval::{Approval, MethodCall, Target};
use crate::domain::delivery::Action;
use crate::prompts::texts::{Texts, fill};
use crate::text::one_line;

/// A name is at most so long there.
const NAME_CHARS: usize = 60;
/// What it will do is named in at most so many characters; all of it follows.
const GIST_CHARS: usize = 160;

/// The buttons of it.
pub(super) fn actions(approval: &Approval) -> Vec<Action> {
    let hour = approval.may_last.then_some(Action::ApproveHour);
    [Some(Action::ApproveOnce), hour, Some(Action::ApproveDeny)].into_iter().flatten().collect()
}

/// The words, in Markdown. Long arguments become a file when they are sent, as any long code does.
pub(super) fn card(texts: &Texts, approval: &Approval) -> String {
    let gists: Vec<String> = approval.calls.iter().map(|call| gist(texts, call)).collect();
    let name = |target: &Target| {
        let title = target.title.as_deref().map(|title| format!("{} ", escaped(title)));
        format!("{}({})", title.unwrap_or_default(), target.chat)
    };
    let chats: Vec<String> = approval.targets.iter().map(name).collect();
    let who = match (&approval.right, approval.needs_other) {
        (None, _) => &texts.approval_by_owner,
        (Some(_), false) => &texts.approval_by_admin,
        (Some(_), true) => &texts.approval_by_other,
    };
    let lines = [
        fill(&texts.approval_title, &[("gist", &gists.join("; "))]),
        fill(&texts.approval_where, &[("chats", &chats.join(", "))]),
        fill(&texts.approval_asked_by, &[("name", &escaped(&approval.requester.name))]),
        who.clone(),
    ];
    let calls = approval.calls.iter().map(whole).collect::<Vec<_>>().join("\n");
    format!("{}\n\n{calls}", lines.join("\n"))
}

/// What a call does, in a line.
fn gist(texts: &Texts, call: &MethodCall) -> String {
    let of = |key: &str| call.arguments.get(key).map(plain).unwrap_or_default();
    let (user, text) = (of("user_id"), of("text"));
    let words = match call.method.as_str() {
        "banChatMember" => &texts.approval_ban,
        "unbanChatMember" => &texts.approval_unban,
        "restrictChatMember" => &texts.approval_restrict,
        "promoteChatMember" => &texts.approval_promote,
        "deleteMessage" | "deleteMessages" => &texts.approval_delete,
        "pinChatMessage" => &texts.approval_pin,
        "unpinChatMessage" => &texts.approval_unpin,
        "setChatTitle" => &texts.approval_title_change,
        "sendMessage" => &texts.approval_send,
        _ => &texts.approval_other,
    };
    let until = call.arguments.get("until_date").and_then(Value::as_i64).and_then(|at| {
        let at = chrono::DateTime::from_timestamp(at, 0)?;
        Some(fill(&texts.approval_until, &[("time", &at.format("%Y-%m-%d %H:%M UTC").to_string())]))
    });
    let count = call.arguments.get("message_ids").and_then(Value::as_array).map_or(1, Vec::len);
    let title = of("title");
    let said = fill(
        words,
        &[
            ("user", &user),
            ("text", &text),
            ("title", &title),
            ("count", &count.to_string()),
            ("method", &call.method),
        ],
    );
    escaped(&one_line(&format!("{said}{}", until.unwrap_or_default()), GIST_CHARS))
}

/// A call with all its arguments, as they will be sent.
fn whole(call: &MethodCall) -> String {
    let arguments = Value::Object(call.arguments.clone());
    let json = serde_json::to_string_pretty(&arguments).unwrap_or_else(|_| arguments.to_string());
    // No text in it may end the code that it stands in.
    let longest = json.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("`{}`\n{fence}json\n{json}\n{fence}", call.method)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Words of others in a line of Markdown: nothing of them is markup.
fn escaped(words: &str) -> String {
    let mut kept = String::new();
    for c in one_line(words, GIST_CHARS.max(NAME_CHARS)).chars() {
        if c.is_ascii_punctuation() {
            kept.push('\\');
        }
        kept.push(c);
    }
    kept
}
