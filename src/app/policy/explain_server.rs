//! `figaro policy explain` for a tool of another MCP server. The server is not started, so its tool descriptions are
//! unknown.

use super::explain::{Explained, tell};
use crate::app::failure::StartupError;
use figaro_base::ids::ChatId;
use figaro_base::text::with_nearest;
use figaro_mcp_client::file::{ALL, ServerConfig};
use figaro_policy::tools::{CallerRole, Decision, Rules, ServerCall, decide_server};

/// Placeholder id of the model's own chat; no real chat has it.
const HERE: ChatId = ChatId(0);

/// Separator between server and tool in the name that a model calls.
const BETWEEN: &str = "__";

/// Splits a method such as `server__tool` into server and tool.
pub(super) fn named_by_server(mut call: Explained) -> Explained {
    if call.server.is_none()
        && let Some((server, tool)) = call.method.split_once(BETWEEN)
    {
        (call.server, call.method) = (Some(server.to_owned()), tool.to_owned());
    }
    call
}

/// Prints the decision of the rules, then of the servers file, about a tool of this server.
///
/// # Errors
/// When the server is unknown, or an option does not apply to such a call.
pub(super) fn explain_server(
    rules: &Rules,
    servers: &[ServerConfig],
    server: &str,
    call: &Explained,
) -> Result<(), StartupError> {
    let Some(config) = servers.iter().find(|config| config.name == server) else {
        let names = servers.iter().map(|config| config.name.as_str());
        return Err(StartupError(with_nearest(format!("there is no MCP server {server}"), server, names)));
    };
    if call.own {
        return Err(StartupError("--own is about messages; leave it out for a tool of a server".to_owned()));
    }
    let has = |names: &[String], word: &str| names.iter().any(|name| name == word);
    let is_approved = has(&config.auto_approve, &call.method);
    let decided = decide_server(
        rules,
        &ServerCall {
            server,
            tool: &call.method,
            here: here(call)?,
            // The run of a task has no user's rights.
            role: if call.task { CallerRole::Guest } else { call.role },
            is_shut_out: call.role == CallerRole::Guest && !call.task,
            agent: call.agent.as_deref(),
            task: call.task,
            is_approved,
            only_reads: false,
            read: None,
        },
    );
    let is_left_out = config.is_disabled || has(&config.disabled_tools, &call.method);
    // The servers file counts only if no rule of the owner decides.
    let is_for_file = decided.decision == Decision::Ask && !decided.rule.is_owners();
    let note = if is_left_out {
        Some("nobody has it: mcp.json has the server or the tool off")
    } else if is_for_file && has(&config.auto_approve, ALL) {
        Some(
            "autoApprove has \"*\": it is allowed where the server says that it only reads or destroys nothing",
        )
    } else {
        None
    };
    tell(call, &decided, note);
    Ok(())
}

/// Returns the id of the chat that the model is in.
fn here(call: &Explained) -> Result<ChatId, StartupError> {
    let words =
        "a tool of a server names no chat: --chat is where the model is, here or the number of a chat";
    match call.chat.as_deref().map(str::parse) {
        None => Ok(HERE),
        Some(Ok(number)) => Ok(ChatId(number)),
        Some(Err(_)) => Err(StartupError(words.to_owned())),
    }
}
