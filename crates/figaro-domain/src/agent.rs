//! Agents: instructions of a turn, with their tools and settings. `prompts` reads them from `prompts/agents/`. Also the
//! context that every run of an agent gets.

use std::collections::BTreeMap;

use serde_json::Value;

use super::generation::Generation;
use super::model::ModelName;
use figaro_base::ids::{SessionId, UserId};
use figaro_base::text::one_line;

/// Tenant of everything that arrives through Telegram, and of callers that name no tenant.
pub const DEFAULT_TENANT: &str = "default";

/// Agent that answers if no other is chosen.
pub const DEFAULT_AGENT: &str = "default";

/// Entry of an agent's tool list that stands for all tools.
pub const ALL_TOOLS: &str = "*";

/// Maximum length of an agent's one-line summary, in characters.
const MAX_SUMMARY: usize = 120;

/// Instructions with the tools, the model and the settings that go with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// Name of the agent's file: lower-case letters, digits, `_` and `-`; at most 40 characters.
    pub name: String,
    /// Version in the words of the agent's author.
    pub version: String,
    /// Instructions in Markdown; added to the system prompt after the base rules.
    pub instructions: String,
    /// Names of the agent's tools, or [`ALL_TOOLS`] alone. No other tool is offered or called.
    pub tools: Vec<String>,
    /// The tools of other MCP servers that it has beside these.
    pub server_tools: Vec<OfServer>,
    /// Names of the agents that this one may ask or hand over to. No other is called.
    pub agents: Vec<String>,
    /// `true` if people see the agent's words while it writes them, also when another agent asked it. The words of all other
    /// agents go only to the agent that asked.
    pub speaks: bool,
    /// Reactions to answers that are messages to the agent: an emoji, and the words of the message.
    pub reactions: BTreeMap<String, String>,
    /// JSON Schema of the object that the answer must match; `None` for an answer in free text.
    pub answer: Option<Value>,
    /// Model used if neither the request nor the chat names one.
    pub model: Option<ModelName>,
    /// Generation settings used if neither the request nor the chat has any.
    pub settings: Generation,
}

/// A tool of another MCP server, or all its tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfServer {
    /// Name of the MCP server, as in the settings.
    pub server: String,
    /// Name of the tool at the server, or [`ALL_TOOLS`].
    pub tool: String,
}

impl OfServer {
    /// Returns `true` if the entry covers the tool of this name.
    #[must_use]
    pub fn has(&self, tool: &str) -> bool {
        self.tool == ALL_TOOLS || self.tool == tool
    }
}

impl Agent {
    /// Returns a one-line description for people: the first sentence of the instructions.
    #[must_use]
    pub fn summary(&self) -> String {
        let flat = one_line(&self.instructions, usize::MAX);
        let end = flat.find(". ").unwrap_or(flat.len());
        one_line(flat[..end].trim_end_matches('.'), MAX_SUMMARY)
    }

    /// Returns `true` if the agent has all tools.
    #[must_use]
    pub fn has_all_tools(&self) -> bool {
        self.tools.iter().any(|tool| tool == ALL_TOOLS)
    }

    /// Returns the instructions, followed by a list of the agents that it may ask.
    #[must_use]
    pub fn instructions_naming<'a>(&self, others: impl IntoIterator<Item = &'a Self>) -> String {
        let mut text = self.instructions.clone();
        let mut others = others.into_iter().peekable();
        if others.peek().is_some() {
            text.push_str("\n\nAgents that you can ask:");
        }
        for other in others {
            text.push_str(&format!("\n- {}: {}", other.name, other.summary()));
        }
        text
    }
}

/// Requester of an agent's run, and the values that a run passes on to its children.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentContext {
    /// Person who is answered; `None` if unknown: then only public data is visible.
    pub user_id: Option<UserId>,
    /// Tenant: keeps the users, sessions and memories of several parties apart.
    pub tenant_id: String,
    /// Session of the run; `None` if nothing is stored.
    pub session_id: Option<SessionId>,
    /// Model of runs whose agent names none.
    pub default_model: ModelName,
    /// Name of the running agent; `None` for Figaro itself.
    pub agent_schema_uri: Option<String>,
    /// `true` if the run is a test of an agent. Such a run is kept apart, and nothing about people is learned from it.
    pub is_eval: bool,
    /// Kind of client that sent the request, such as `telegram` or `cli`.
    pub client_id: Option<String>,
}

impl AgentContext {
    /// Returns the context of a child: a copy with another agent and, if given, another model.
    #[must_use]
    pub fn child(&self, agent: &str, model: Option<ModelName>) -> Self {
        Self {
            agent_schema_uri: Some(agent.to_owned()),
            default_model: model.unwrap_or_else(|| self.default_model.clone()),
            ..self.clone()
        }
    }
}
