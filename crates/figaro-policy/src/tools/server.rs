//! Calls of tools of other MCP servers. Their effects are unknown here, and a server's own description opens nothing: a
//! person approves each call, unless the owner decided otherwise. After a text by others was read, only a rule with
//! `trusted: true` opens a tool that does more than read.

use super::call::CallerRole;
use super::decided::{Decided, Decision, RuleName};
use super::rule::{ChatCondition, OfServers, PLAIN_AGENT, Rule, RuleCondition};
use super::rules::Rules;
use super::target::Target;
use figaro_base::ids::ChatId;

/// A call of a tool of another MCP server as policy sees it.
#[derive(Debug, Clone, Copy)]
pub struct ServerCall<'a> {
    /// Name of the server in the owner's file.
    pub server: &'a str,
    /// Name of the tool at the server.
    pub tool: &'a str,
    /// Chat that the model is in.
    pub here: ChatId,
    /// Role of the requester in that chat; [`CallerRole::Guest`] in the run of a task, where nobody's rights count.
    pub role: CallerRole,
    /// `true` if the requester is a guest or the words are somebody else's: nothing is called. `false` in the run of a
    /// task, unless an owner made its creator a guest since.
    pub is_shut_out: bool,
    /// Agent that makes the call; `None` for Figaro itself.
    pub agent: Option<&'a str>,
    /// `true` in the run of a task, in which nobody can be asked.
    pub task: bool,
    /// `true` if the owner's file of servers allows the tool without an approval.
    pub is_approved: bool,
    /// `true` if the server says that the tool only reads.
    pub only_reads: bool,
    /// Text by others that the turn has read, such as a page, by its name; `None` for none.
    pub read: Option<&'a str>,
}

/// Decides about a call: by the owner's rules, then by the file of servers. Otherwise an owner has to approve it.
#[must_use]
pub fn decide_server(rules: &Rules, call: &ServerCall<'_>) -> Decided {
    if call.is_shut_out {
        let reason =
            "whoever asks is a guest, or the words are somebody else's: nothing of another server is called";
        return Decided::limit("server_guest", reason.to_owned());
    }
    if let Some(rule) = rules.about_servers().find(|rule| holds(rule, call)) {
        if rule.then == Decision::Allow && !rule.trusted && turns_to_others(call) {
            return Decided::after_reading(call.read, call.task);
        }
        let asks = rule.then == Decision::Ask;
        return Decided {
            decision: rule.then,
            rule: rule.name.clone(),
            reason: rule.reason.clone(),
            right: None,
            people: rule.people,
            unattended: asks && call.task,
        };
    }
    if call.is_approved && turns_to_others(call) {
        return Decided::after_reading(call.read, call.task);
    }
    let (decision, name) = match call.is_approved {
        true => (Decision::Allow, "auto_approve"),
        false => (Decision::Ask, "mcp_server"),
    };
    let reason = match decision {
        Decision::Allow => String::new(),
        Decision::Ask | Decision::Deny => format!("it calls a tool of the MCP server {}", call.server),
    };
    Decided {
        decision,
        rule: RuleName::built_in(name),
        reason,
        right: None,
        people: 1,
        unattended: decision == Decision::Ask && call.task,
    }
}

/// Returns `true` if a call may do elsewhere what a text by others says: its turn has read one, and it does more than read.
const fn turns_to_others(call: &ServerCall<'_>) -> bool {
    call.read.is_some() && !call.only_reads
}

/// Returns `true` if a rule applies to a call.
fn holds(rule: &Rule, call: &ServerCall<'_>) -> bool {
    let Some(OfServers { servers, tools }) = &rule.of_servers else { return false };
    let RuleCondition { agents, roles, chats, task, .. } = &rule.when;
    let agent = call.agent.unwrap_or(PLAIN_AGENT);
    let is_here = |chat: &ChatCondition| match chat {
        ChatCondition::Here => true,
        ChatCondition::Elsewhere => false,
        ChatCondition::Named(target) => *target == Target::Number(call.here),
    };
    servers.iter().any(|pattern| pattern.fits(call.server))
        && tools.as_ref().is_none_or(|tools| tools.iter().any(|pattern| pattern.fits(call.tool)))
        && agents.as_ref().is_none_or(|agents| agents.iter().any(|pattern| pattern.fits(agent)))
        && roles.as_ref().is_none_or(|roles| roles.contains(&call.role))
        && task.is_none_or(|task| task == call.task)
        && chats.as_ref().is_none_or(|chats| chats.iter().any(is_here))
}
