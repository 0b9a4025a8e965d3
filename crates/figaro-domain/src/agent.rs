//! An agent: what a turn is told to be, and the tools it is given. Read from `prompts/agents/` by `prompts`. Beside it the
//! context that every run of an agent is given.

use serde_json::Value;

use super::generation::Generation;
use super::model::ModelName;
use figaro_base::ids::{SessionId, UserId};
use figaro_base::text::one_line;

/// The tenant of everything that comes by Telegram, and of a caller that names none.
pub const DEFAULT_TENANT: &str = "default";

/// The agent that answers where none was chosen.
pub const DEFAULT_AGENT: &str = "default";

/// In an agent's list of tools it stands for all there are.
pub const ALL_TOOLS: &str = "*";

/// The most characters of what an agent does, in a line.
const MAX_SUMMARY: usize = 120;

/// Instructions with the tools, the model and the settings that go with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// Lower-case letters, digits, `_` and `-`, 40 at most: the name of its file.
    pub name: String,
    /// What its author calls this state of it.
    pub version: String,
    /// Markdown; stands in the system prompt after the base rules.
    pub instructions: String,
    /// The names of the tools it has, or [`ALL_TOOLS`] alone; no other is offered or called.
    pub tools: Vec<String>,
    /// The tools of other MCP servers that it has beside these.
    pub server_tools: Vec<OfServer>,
    /// The names of the agents that it may ask or hand over to; no other is called.
    pub agents: Vec<String>,
    /// Whether people see what it writes when another agent asks it, as it writes it. The words of all others are for whoever
    /// asked them alone.
    pub speaks: bool,
    /// The JSON Schema of an object that its answer matches; `None` where it answers in free words.
    pub answer: Option<Value>,
    /// The model it is meant for, where neither the request nor the chat names one.
    pub model: Option<ModelName>,
    /// How it writes, where neither the request nor the chat says it.
    pub settings: Generation,
}

/// A tool of another MCP server, or all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfServer {
    /// The name of the server.
    pub server: String,
    /// The name of the tool at the server, or [`ALL_TOOLS`].
    pub tool: String,
}

impl OfServer {
    /// Whether this tool is meant.
    #[must_use]
    pub fn has(&self, tool: &str) -> bool {
        self.tool == ALL_TOOLS || self.tool == tool
    }
}

impl Agent {
    /// What it does, in a line for people: the first sentence of its instructions.
    #[must_use]
    pub fn summary(&self) -> String {
        let flat = one_line(&self.instructions, usize::MAX);
        let end = flat.find(". ").unwrap_or(flat.len());
        one_line(flat[..end].trim_end_matches('.'), MAX_SUMMARY)
    }

    /// Whether it has every tool there is.
    #[must_use]
    pub fn has_all_tools(&self) -> bool {
        self.tools.iter().any(|tool| tool == ALL_TOOLS)
    }

    /// Its instructions, with the agents that it may ask.
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

/// For whom a run of an agent is, and what goes with it from a run to its children.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentContext {
    /// Whoever is answered; `None` for somebody unknown, who sees only what all may see.
    pub user_id: Option<UserId>,
    /// Keeps the users, sessions and memories of several parties apart.
    pub tenant_id: String,
    /// The session that the run belongs to; `None` where nothing is kept.
    pub session_id: Option<SessionId>,
    /// The model of runs whose agent names none.
    pub default_model: ModelName,
    /// The name of the agent that runs; `None` for Figaro itself.
    pub agent_schema_uri: Option<String>,
    /// Whether the run is a test of an agent: it is kept apart and teaches nothing about anybody.
    pub is_eval: bool,
    /// The kind of client that asked, such as `telegram` or `cli`.
    pub client_id: Option<String>,
}

impl AgentContext {
    /// The context of a child: all of it, with another agent and, if one is given, another model.
    #[must_use]
    pub fn child(&self, agent: &str, model: Option<ModelName>) -> Self {
        Self {
            agent_schema_uri: Some(agent.to_owned()),
            default_model: model.unwrap_or_else(|| self.default_model.clone()),
            ..self.clone()
        }
    }
}
