//! `figaro policy explain`: shows the decision about a call, and the reason.

use figaro_mcp::table::{ApiTable, Method};
use serde_json::{Map, Value, json};

use crate::app::failure::StartupError;
use crate::app::terminal::say;
use figaro_base::ids::ChatId;
use figaro_base::text::with_nearest;
use figaro_policy::address::Addresses;
use figaro_policy::tools::{AdminRight, CallerRole, Decided, Decision, Rules, TelegramCall, decide};

/// Placeholder id of the model's own chat; no real chat has it.
const HERE: ChatId = ChatId(0);

/// Properties of a call that rules check.
#[derive(Debug)]
pub struct Explained {
    /// Method of the Bot API, or tool of an MCP server.
    pub method: String,
    /// MCP server of the tool; `None` for a method of the Bot API.
    pub server: Option<String>,
    /// Target chat, as id or `@username`; `None` for the chat that the model is in.
    pub chat: Option<String>,
    /// Role of the requester in the chat.
    pub role: CallerRole,
    /// Agent that makes the call; `None` for Figaro itself.
    pub agent: Option<String>,
    /// `true` if the model sent the messages that the call changes.
    pub own: bool,
    /// `true` if the call belongs to the run of a task.
    pub task: bool,
    /// `true` to print JSON instead of text.
    pub json: bool,
}

/// Prints the decision of the rules about a call.
///
/// # Errors
/// When the method is unknown, or takes no chat but one was given.
pub(super) fn explain(rules: &Rules, call: &Explained) -> Result<(), StartupError> {
    let method = ApiTable::get().method(&call.method).ok_or_else(|| unknown(&call.method))?;
    let args = arguments(method, call)?;
    let decided = decide(
        rules,
        &TelegramCall {
            method,
            args: &args,
            here: HERE,
            speaker: None,
            role: call.role,
            agent: call.agent.as_deref(),
            task: call.task,
            own: method.changes_messages().then_some(call.own),
            figaros: false,
            files: &[],
            addresses: &Addresses::default(),
            read: None,
            resolved: &[],
        },
    );
    tell(call, &decided, None);
    Ok(())
}

/// Prints a decision, with an optional note.
pub(super) fn tell(call: &Explained, decided: &Decided, note: Option<&str>) {
    if call.json {
        let mut json = as_json(call, decided);
        if let Some(server) = &call.server {
            json["server"] = json!(server);
            json["note"] = json!(note);
        }
        return say(&json.to_string());
    }
    as_words(call, decided).iter().for_each(|line| say(line));
    note.iter().for_each(|note| say(&format!("note: {note}")));
}

fn unknown(name: &str) -> StartupError {
    let names = ApiTable::get().methods().iter().map(|method| method.name.as_str());
    StartupError(with_nearest(format!("the Bot API has no method {name}"), name, names))
}

/// Builds the arguments that rules check: the chat, if the method takes one.
fn arguments(method: &Method, call: &Explained) -> Result<Map<String, Value>, StartupError> {
    let takes_chat = method.params.iter().any(|param| param.name == "chat_id");
    let chat = call.chat.as_ref().map_or_else(|| json!(HERE), |chat| json!(chat));
    match (takes_chat, &call.chat) {
        (true, _) => Ok(Map::from_iter([("chat_id".to_owned(), chat)])),
        (false, None) => Ok(Map::new()),
        (false, Some(_)) => Err(StartupError(format!("{} names no chat; leave --chat out", method.name))),
    }
}

fn as_json(call: &Explained, decided: &Decided) -> Value {
    json!({
        "method": call.method,
        "decision": decided.decision.name(),
        "rule": decided.rule.as_str(),
        "reason": decided.reason,
        "right": decided.right.map(AdminRight::name),
        "people": decided.people,
        "unattended": decided.unattended,
    })
}

fn as_words(call: &Explained, decided: &Decided) -> Vec<String> {
    let server = call.server.as_ref().map(|server| format!(" of the MCP server {server}"));
    let what = format!("{}{}: {}", call.method, server.unwrap_or_default(), decided.decision.name());
    let mut lines = vec![what, format!("rule: {}", decided.rule)];
    if !decided.reason.is_empty() {
        lines.push(format!("reason: {}", decided.reason));
    }
    if decided.decision == Decision::Ask {
        lines.push(format!("approval: {}", approval(decided)));
    }
    lines
}

fn approval(decided: &Decided) -> String {
    if decided.unattended {
        return "none: nobody can be asked in the run of a task, so it is refused".to_owned();
    }
    let holder = decided.right.map(|right| format!(", or an admin of the chat with {}", right.name()));
    let others = if decided.people > 1 { "; not by whoever asked for it" } else { "" };
    format!("by an owner{}{others}", holder.unwrap_or_default())
}
