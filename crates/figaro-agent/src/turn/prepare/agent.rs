//! Choice of the agent for a turn, with its tools and model.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::super::error::TurnError;
use super::super::question::Question;
use crate::tools::Registry;
use crate::tools::servers::ServerTools;
use figaro_domain::agent::{Agent, AgentContext, DEFAULT_TENANT};
use figaro_domain::chat::ChatConfig;
use figaro_domain::model::ModelName;
use figaro_domain::turn::{ActiveTurn, Approved};
use figaro_prompts::{AgentSet, Prompts};

/// The agents and their tools. Updated when the owner's files change. Cheap to clone.
#[derive(Debug, Clone)]
pub struct AgentCatalog {
    prompts: Arc<Prompts>,
    all_tools: Arc<Registry>,
    servers: ServerTools,
    /// Agents with tools, as built after the last change.
    latest: Arc<Mutex<Option<Arc<AgentTools>>>>,
}

/// Snapshot of the agents with their tools. A turn takes it once and uses it to its end.
#[derive(Debug)]
pub(super) struct AgentTools {
    agents: Arc<AgentSet>,
    /// Tools by the name of the agent.
    tools: BTreeMap<String, Arc<Registry>>,
    all_tools: Arc<Registry>,
    /// Change count of the servers' tools at the time of the snapshot.
    changes: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct LoadedAgent {
    pub(crate) agent: Arc<Agent>,
    pub(crate) tools: Arc<Registry>,
}

/// Agent and tools for a turn: the agent of the task or chat, or Figaro with all tools.
pub(super) struct TurnAgent {
    pub(super) agent: Option<Arc<Agent>>,
    pub(super) tools: Arc<Registry>,
}

impl AgentCatalog {
    /// Creates it for the agents of these prompts. Their tools come from `all_tools` and from the servers.
    #[must_use]
    pub fn new(prompts: Arc<Prompts>, all_tools: Arc<Registry>, servers: ServerTools) -> Self {
        Self { prompts, all_tools, servers, latest: Arc::default() }
    }

    /// Returns the current agent of this name, with its tools; `None` if there is none.
    #[must_use]
    pub(crate) fn get(&self, name: &str) -> Option<LoadedAgent> {
        self.now().get(name)
    }

    /// Waits while the server of an approved call is starting. Its tools are unknown before, and the approval would be
    /// used up in vain.
    pub(in crate::turn) async fn reach(&self, approved: &Approved) {
        let server = approved.approval.server.as_ref().and_then(|tool| self.servers.servers.of(tool));
        if let Some(server) = server {
            drop(server.begun().await);
        }
    }

    pub(super) const fn all_tools(&self) -> &Arc<Registry> {
        &self.all_tools
    }

    /// Returns the current agents, rebuilt if they or the servers' tools changed.
    pub(super) fn now(&self) -> Arc<AgentTools> {
        let (agents, changes) = (self.prompts.agents(), self.servers.changes());
        let mut latest = self.latest.lock();
        match &*latest {
            Some(agent_tools)
                if Arc::ptr_eq(&agent_tools.agents, &agents) && agent_tools.changes == changes =>
            {
                agent_tools.clone()
            }
            _ => latest.insert(Arc::new(AgentTools::new(agents, self, changes))).clone(),
        }
    }
}

impl AgentTools {
    fn new(agents: Arc<AgentSet>, all: &AgentCatalog, changes: u64) -> Self {
        let all_tools = all.all_tools.clone();
        let tools = |agent: &Agent| {
            let own = match agent.has_all_tools() {
                true => all_tools.clone(),
                false => Arc::new(all_tools.only(&agent.tools)),
            };
            match agent.server_tools.is_empty() {
                true => own,
                false => Arc::new(all.servers.beside(&own, &agent.server_tools)),
            }
        };
        let tools = agents.all().map(|agent| (agent.name.clone(), tools(agent))).collect();
        Self { agents, tools, all_tools, changes }
    }

    fn get(&self, name: &str) -> Option<LoadedAgent> {
        let (agent, tools) = self.agents.get(name).zip(self.tools.get(name))?;
        Some(LoadedAgent { agent: agent.clone(), tools: tools.clone() })
    }

    /// Returns the instructions of an agent; `None` if its file has none.
    pub(super) fn instructions(&self, agent: &Agent) -> Option<String> {
        Some(self.agents.instructions(agent)).filter(|words| !words.is_empty())
    }

    /// Returns the agent and tools for a question. `config` holds the settings of the chat; `None` if they cannot be
    /// read.
    pub(super) fn part(
        &self,
        question: &Question,
        config: Option<&ChatConfig>,
    ) -> Result<TurnAgent, TurnError> {
        let Some(task) = &question.task else {
            return Ok(self.part_of_chat(config));
        };
        let of_chat = self.part_of_chat(config).tools;
        let LoadedAgent { agent, tools } = self.get(&task.agent).ok_or_else(|| {
            tracing::warn!(task = %task.id, agent = task.agent, "the agent that carries out a task is not there");
            TurnError::NoAgent(task.agent.clone())
        })?;
        // The task's standing permissions need tools that its agent may lack.
        let let_go = task.standing.iter().map(|rule| rule.method.as_str());
        let tools = match task.standing.is_empty() {
            true => tools.clone(),
            false => Arc::new(tools.with(let_go, &self.all_tools)),
        };
        // Limits of the chat also apply to the tasks created in it.
        let is_held = !Arc::ptr_eq(&of_chat, &self.all_tools);
        let tools = if is_held { Arc::new(tools.within(&of_chat)) } else { tools };
        Ok(TurnAgent { agent: Some(agent), tools })
    }

    /// Returns the agent and tools of a chat. If the chosen agent is missing, the default answers; `/agents` says so.
    /// If the settings cannot be read, there are no tools, because an agent with fewer tools may be chosen.
    fn part_of_chat(&self, config: Option<&ChatConfig>) -> TurnAgent {
        let Some(config) = config else {
            return TurnAgent { agent: None, tools: Arc::new(self.all_tools.only(&[])) };
        };
        if let Some(agent) = config.agent.as_ref().filter(|_| self.agents.chosen(config).is_none()) {
            tracing::warn!(agent, "the agent that a chat has chosen is not there; the chat goes without");
        }
        match self.agents.answering(config).and_then(|agent| self.get(&agent.name)) {
            Some(LoadedAgent { agent, tools }) => TurnAgent { agent: Some(agent), tools },
            None => TurnAgent { agent: None, tools: self.all_tools.clone() },
        }
    }

    /// Returns the model for a turn, in this order: the turn's own, the task's, that of the session or chat (in
    /// `config`), that of the agent chosen for the task, of the chat's agent, of the agent for all tasks. `None` for
    /// the default model.
    pub(super) fn model(
        &self,
        turn: &ActiveTurn,
        question: &Question,
        config: &ChatConfig,
        agent: Option<&Agent>,
    ) -> Option<ModelName> {
        let of_task = question.task.as_ref().and_then(|task| task.model.as_ref());
        let is_own = question.task.as_ref().is_some_and(|task| task.own_agent().is_some());
        let of_agent = agent.and_then(|agent| agent.model.as_ref());
        let of_chat = self.agents.answering(config).and_then(|agent| agent.model.as_ref());
        let of_agents = if is_own { of_agent.or(of_chat) } else { of_chat.or(of_agent) };
        turn.model.as_ref().or(of_task).or(config.model.as_ref()).or(of_agents).cloned()
    }
}

/// Returns the context of the turn's agent: person, tenant, session and client.
pub(super) fn agent_context(
    turn: &ActiveTurn,
    question: &Question,
    agent: Option<&Agent>,
    model: &ModelName,
) -> AgentContext {
    let requested = question.requested.as_deref();
    let is_unknown = requested.is_some_and(|requested| requested.is_anonymous);
    let asker = question.asker().filter(|asker| asker.is_person() && !is_unknown);
    let client = requested.and_then(|requested| requested.client.clone());
    AgentContext {
        user_id: asker.map(|asker| asker.user.clone()),
        tenant_id: requested.map_or_else(|| DEFAULT_TENANT.to_owned(), |requested| requested.tenant.clone()),
        session_id: Some(turn.session).filter(|_| !requested.is_some_and(|requested| requested.is_stateless)),
        default_model: model.clone(),
        agent_schema_uri: agent.map(|agent| agent.name.clone()),
        is_eval: question.client.is_eval,
        client_id: client.or_else(|| Some(question.client.id.to_owned())),
    }
}
