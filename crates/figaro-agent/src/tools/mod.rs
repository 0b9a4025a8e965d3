//! Tools of the model. A tool is a file here and a line in `builtin`; this module has the shared parts.

pub(crate) mod action;
pub(crate) mod agents;
mod allowance;
pub mod builtin;
pub mod config;
pub mod counts;
pub mod documents;
pub mod draw;
mod find;
pub mod grounded;
pub(crate) mod lookup;
mod marked;
pub(crate) mod memories;
pub(crate) mod moderation;
mod names;
pub(crate) mod notes;
pub mod pages;
pub(crate) mod pins;
pub(crate) mod profile;
pub mod recall;
pub mod records;
mod registry;
mod schema;
pub mod servers;
pub(crate) mod source;
pub mod tasks;
pub mod tavily;
pub mod telegram;
mod typed;
pub mod web;
mod zone;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

pub(crate) use allowance::SendAllowance;
use figaro_base::ids::{MessageId, RunId, TaskId};
use figaro_domain::agent::AgentContext;
use figaro_domain::approval::{Approval, MethodCall, WAITS_MINUTES};
use figaro_domain::audit::{AuditActor, AuditEvent, AuditKind, AuditName, Audited};
use figaro_domain::chat::Place;
use figaro_domain::message::{Replied, Speaker};
use figaro_domain::tool::{Effect, SideEffects, StatusKey};
use figaro_domain::turn::{Approved, PersonQuestion};
use figaro_domain::usage::Payer;
use figaro_ledger::{DrawnBy, Tree};
use figaro_policy::access::Standing;
use figaro_policy::address::Addresses;
use figaro_policy::tools::AFTER_READING;
use figaro_provider::{MediaPart, ToolSpec};
use figaro_store::StoreError;
use marked::{as_data, as_kept_data, is_by_others};
pub use registry::Registry;
pub(crate) use source::{Sources, ToolSource};
pub(crate) use typed::{ToolDefinition, typed};

/// Default timeout of a call.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Context of a tool call: person, place and rights.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// Turn that makes the call.
    pub(crate) run: RunId,
    /// Chat and topic of the turn. Tools act nowhere else.
    pub(crate) place: Place,
    /// Person whose question the turn answers; the creator in a task's run.
    pub(crate) speaker: Speaker,
    /// Message of the question; `None` if it has none.
    pub(crate) asked: Option<MessageId>,
    /// Message of the chat that the question replies to.
    pub(crate) replied: Option<Replied>,
    /// File id of the picture that the question has or replies to.
    pub(crate) picture: Option<String>,
    /// `true` if the question has or replies to a file that is no picture.
    pub(crate) has_other_file: bool,
    /// IETF language tag of the person's client.
    pub(crate) language: Option<String>,
    /// Rights of the person in this turn.
    pub(crate) standing: Standing,
    /// Agent that makes the call, and the person it runs for.
    pub(crate) agent: AgentContext,
    /// Agents that asked for this one, the outermost first.
    pub(crate) asked_by: Vec<String>,
    /// Name of the key of the HTTP gateway that the request came with.
    pub(crate) key: Option<String>,
    /// Text by others that the turn has read, such as a page, by its name; `None` for none.
    pub(crate) read: Option<String>,
    /// Person whose words in the chat the turn has read, if it is not the one who asks.
    pub(crate) heard: Option<String>,
    /// Task, if the turn is its run.
    pub(crate) task: Option<TaskId>,
    /// Addresses from people or from searches. Tools may load no others.
    pub(crate) addresses: Addresses,
    /// Time of the call in UTC. Tools use this instead of the clock.
    pub(crate) now: DateTime<Utc>,
    /// Allowance of messages in a task's run; `None` for no limit.
    pub(crate) sends: Option<Arc<SendAllowance>>,
    /// Runs the agents that this one may ask.
    pub(crate) agents: Arc<dyn Subagents>,
    /// Reservation shared by the turn and its agents, with the caller's share; `None` if nothing is reserved.
    pub(crate) tree: Option<TreeShare>,
    /// `true` if a person can be asked: not in a task's run, nor while too many questions wait.
    pub(crate) can_ask: bool,
    /// Provider's id of the call.
    pub call: String,
    /// Calls approved by a person in place of this one. They are made exactly, and nothing else.
    pub(crate) approved: Option<Arc<Approved>>,
}

impl ToolContext {
    /// Returns the entry of the audit log for a decision about a call. `rule` is the name of the rule that decided.
    pub(crate) fn audited(&self, what: AuditKind, call: &MethodCall, rule: &str) -> Audited {
        let event = AuditEvent {
            chat: Some(self.place.chat),
            run: Some(self.run),
            call: AuditName::new(&self.call),
            method: AuditName::new(&call.method),
            rule: AuditName::new(rule),
            ..AuditEvent::new(what, AuditActor::Model, self.now)
        };
        Audited { event, arguments: Some(Value::Object(call.arguments.clone())) }
    }

    /// Takes `count` messages from the turn's allowance, before they are sent.
    ///
    /// # Errors
    /// `ToolError::Denied` if fewer are left.
    pub(crate) fn take_sends(&self, count: usize) -> Result<(), ToolError> {
        let Some(sends) = &self.sends else { return Ok(()) };
        sends.take(count).map_err(|left| {
            ToolError::Denied(format!(
                "not allowed: in one run of a task tools send {} messages at most, and {left} of them are left. Leave the \
                 rest out, and do not try again",
                sends.most()
            ))
        })
    }

    /// Returns messages that were certainly not sent.
    pub(crate) fn give_back_sends(&self, count: usize) {
        self.sends.iter().for_each(|sends| sends.give_back(count));
    }

    /// Makes the refusal of a call by policy. It tells if the turn had read a text by others before.
    pub(crate) fn refusal(&self, reason: &str) -> ToolError {
        let beginning = if self.read.is_some() { REFUSED_AFTER_READING } else { "not allowed: " };
        ToolError::Denied(format!("{beginning}{reason}."))
    }

    /// Returns the name of a text by others that the turn has read, people of the chat included.
    pub(crate) fn foreign(&self) -> Option<&str> {
        self.read.as_deref().or(self.heard.as_deref())
    }

    /// Returns the name of the text that the card of an approval shows. People read what others say in their chat, so these
    /// are named only where a call is asked about for that reason.
    pub(crate) fn read_for(&self, rule: &str) -> Option<String> {
        let heard = self.heard.clone().filter(|_| rule == AFTER_READING);
        self.read.clone().or(heard)
    }

    /// Returns the payer of model calls of this agent and within its tools.
    #[must_use]
    pub(crate) fn payer(&self) -> Payer {
        let (task, agents, key) = (self.task, self.lineage(), self.key.clone());
        Payer { task, agents, key, ..Payer::new(self.place.chat, self.speaker.user.clone()) }
    }

    /// Returns the names of this agent and of those that asked for it, the outermost first. Figaro itself has none.
    pub(crate) fn lineage(&self) -> Vec<String> {
        self.asked_by.iter().chain(&self.agent.agent_schema_uri).cloned().collect()
    }
}

#[cfg(test)]
impl ToolContext {
    /// A person's private chat, for tests of tools that do not look at it.
    pub(crate) fn somewhere() -> Self {
        use figaro_base::ids::{ChatId, UserId};
        use figaro_domain::agent::DEFAULT_TENANT;
        use figaro_domain::chat::ChatKind;
        use figaro_domain::model::ModelName;
        Self {
            run: RunId::new(),
            place: Place { chat: ChatId(1), kind: ChatKind::Private, title: None, topic: None },
            speaker: Speaker { user: UserId::telegram(1), name: "Ann".to_owned(), username: None },
            asked: None,
            replied: None,
            picture: None,
            has_other_file: false,
            language: None,
            standing: Standing::Member,
            agent: AgentContext {
                user_id: Some(UserId::telegram(1)),
                tenant_id: DEFAULT_TENANT.to_owned(),
                session_id: None,
                default_model: ModelName { provider: "a".to_owned(), model: "x".to_owned() },
                agent_schema_uri: None,
                is_eval: false,
                client_id: None,
            },
            asked_by: Vec::new(),
            key: None,
            read: None,
            heard: None,
            task: None,
            addresses: Addresses::default(),
            now: DateTime::UNIX_EPOCH,
            sends: None,
            agents: Arc::new(Alone),
            tree: None,
            can_ask: true,
            call: String::new(),
            approved: None,
        }
    }
}

/// Runs the agents that a turn asks. Implemented by `turn::children`.
#[async_trait]
pub(crate) trait Subagents: Debug + Send + Sync {
    /// Runs an agent and returns its stored outcome. The same call repeated after a restart resumes its run or returns its
    /// outcome.
    ///
    /// # Errors
    /// If there is no agent of this name, or too many have run already.
    async fn ask(&self, context: &ToolContext, asked: AgentRequest) -> Result<ToolOutput, ToolError>;
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AgentRequest {
    pub(crate) agent: String,
    /// Task of the agent, in words.
    pub(crate) input: String,
    /// Structured data for the agent.
    pub(crate) data: Option<Map<String, Value>>,
    pub(crate) timeout: Duration,
    /// `true` if the agent answers the person in place of the caller, who then says nothing more.
    pub(crate) takes_over: bool,
}

/// Rejects all requests; for callers without agents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alone;

#[async_trait]
impl Subagents for Alone {
    async fn ask(&self, _context: &ToolContext, _asked: AgentRequest) -> Result<ToolOutput, ToolError> {
        Err(ToolError::ForModel("there are no agents to ask here; do it yourself".to_owned()))
    }
}

/// Budget of model calls within a tool.
#[derive(Debug, Clone)]
pub(crate) struct TreeShare {
    /// Reservation of the turn and its agents.
    pub(crate) tree: Arc<Tree>,
    /// Caller that draws on it.
    pub(crate) by: DrawnBy,
}

/// Result of a successful call, or a question to the person.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// Result for the model, as JSON.
    pub value: Value,
    /// Side effects that matter to the rest of the turn.
    pub side_effects: SideEffects,
    /// Pictures of the result, for models that see. They last for this turn and are not stored.
    pub images: Vec<MediaPart>,
    /// Question to the person. The turn waits, and the answer replaces `value` as the result.
    pub asks: Option<PersonQuestion>,
}

impl ToolOutput {
    /// Makes an output that asks for approval.
    #[must_use]
    pub(crate) fn asking(approval: Approval) -> Self {
        let question = PersonQuestion {
            text: String::new(),
            options: Vec::new(),
            is_free: false,
            expires_after_min: WAITS_MINUTES,
            approval: Some(Box::new(approval)),
        };
        Self { asks: Some(question), ..Value::Null.into() }
    }
}

impl From<Value> for ToolOutput {
    fn from(value: Value) -> Self {
        Self { value, side_effects: SideEffects::default(), images: Vec::new(), asks: None }
    }
}

/// Beginning of the refusal of a call by policy in a turn that has read a text by others.
pub(crate) const REFUSED_AFTER_READING: &str = "not allowed, and a text by others was read before: ";

impl ToolOutput {
    /// Notes that the model reads a text by others, if the result is marked as one. Without a better name it has that of the
    /// tool.
    #[must_use]
    pub(crate) fn naming_what_is_read(mut self, tool: &str) -> Self {
        let effects = &mut self.side_effects;
        if effects.read.is_none() && is_by_others(&self.value) {
            let source = effects.sources.first().map(|source| source.url.clone());
            effects.read = Some(source.unwrap_or_else(|| tool.to_owned()));
        }
        self
    }
}

/// Error of a call. The model is told of each; none ends the turn.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The call failed. The model may correct its arguments or tell the person.
    #[error("{0}")]
    ForModel(String),
    /// Policy denied the call. Nothing was done.
    #[error("{0}")]
    Denied(String),
    /// The call failed with words of another server.
    #[error("{words}")]
    Quoted {
        /// Name of the server.
        by: String,
        /// Its words, marked as such.
        words: String,
    },
    /// The effect of the call is unknown. The text tells the model not to repeat it.
    #[error("{0}")]
    Unknown(String),
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, label = error.label(), "a tool could not use the store");
        Self::ForModel("the bot's storage failed; nothing was changed".to_owned())
    }
}

/// Need of a tool besides its turn. The tool is left out where its need is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolNeed {
    /// It works anywhere, also without a chat that is kept.
    Nothing,
    /// A chat that people read later.
    Chat,
    /// A kept store: the tool stores or looks up memories.
    Memory,
}

/// A function that the model can call. The registry lists tools; `turn::execute` calls them.
#[async_trait]
pub trait Tool: Debug + Send + Sync {
    /// Returns the name, description, parameters and kind.
    fn spec(&self) -> &Arc<ToolSpec>;
    /// Returns the effect of a call: it reads, writes or destroys. Policy judges by it.
    fn effect(&self) -> Effect;
    /// Returns the key of the status text shown during a call.
    fn status(&self) -> StatusKey;
    /// Returns search words for a rare tool, which is offered only once found: English terms for its purpose. `None` for
    /// other tools.
    fn rare(&self) -> Option<&str> {
        None
    }
    /// Returns the need of the tool besides its turn.
    fn needs(&self) -> ToolNeed {
        ToolNeed::Nothing
    }
    /// Returns the timeout of a call.
    fn timeout(&self) -> Duration {
        CALL_TIMEOUT
    }
    /// Returns the tool with its full schema, for agents that name it; other turns have no room for it.
    fn in_whole(&self) -> Option<Arc<dyn Tool>> {
        None
    }
    /// Returns the number of messages that a call with these arguments sends to the chat.
    fn sends(&self, _arguments: &Value) -> usize {
        0
    }
    /// Executes one call. `arguments` is the JSON value written by the model; it may not match the schema. Returns a result
    /// for the model or a [`ToolError`].
    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError>;
}
