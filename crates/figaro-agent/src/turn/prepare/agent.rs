//! Which agent does a turn, with which tools and which model.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::super::error::TurnError;
use super::super::question::Question;
use crate::tools::Registry;
use crate::tools::servers::ServerTools;
use figaro_domain::agent::Agent;
use figaro_domain::chat::ChatConfig;
use figaro_domain::model::ModelName;
use figaro_domain::turn::{ActiveTurn, Approved};
use figaro_prompts::{AgentSet, Prompts};

/// The agents there are, and the tools of each. They change when the owner's files do. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Agents {
    prompts: Arc<Prompts>,
    all_tools: Arc<Registry>,
    servers: ServerTools,
    /// What was made of the agents when they last changed.
    latest: Arc<Mutex<Option<Arc<AgentTools>>>>,
}

/// The agents of one moment with their tools. A turn takes it once and goes by it to its end.
#[derive(Debug)]
pub(super) struct AgentTools {
    agents: Arc<AgentSet>,
    /// The tools of each agent, by its name.
    tools: BTreeMap<String, Arc<Registry>>,
    all_tools: Arc<Registry>,
    /// How often the tools of other servers had changed by then.
    changes: u64,
}

/// An agent and what it may call.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// The agent.
    pub(crate) agent: Arc<Agent>,
    /// Its tools.
    pub(crate) tools: Arc<Registry>,
}

/// Who does a turn: the agent of a task or of the chat with its tools, or Figaro with all there are.
pub(super) struct Part {
    pub(super) agent: Option<Arc<Agent>>,
    pub(super) tools: Arc<Registry>,
}

impl Agents {
    /// The agents of these prompts, which get their tools out of all there are and out of those of other servers.
    #[must_use]
    pub fn new(prompts: Arc<Prompts>, all_tools: Arc<Registry>, servers: ServerTools) -> Self {
        Self { prompts, all_tools, servers, latest: Arc::default() }
    }

    /// The agent of this name as it is now, with its tools; `None` where there is none.
    #[must_use]
    pub(crate) fn get(&self, name: &str) -> Option<Found> {
        self.now().get(name)
    }

    /// Waits for the server of a call that was approved while that is being started: its tools are not known before, and the
    /// approval would be used up for nothing.
    pub(in crate::turn) async fn reach(&self, approved: &Approved) {
        let server = approved.approval.server.as_ref().and_then(|tool| self.servers.servers.of(tool));
        if let Some(server) = server {
            drop(server.begun().await);
        }
    }

    /// Every tool there is.
    pub(super) const fn all_tools(&self) -> &Arc<Registry> {
        &self.all_tools
    }

    /// The agents of this moment.
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
    fn new(agents: Arc<AgentSet>, all: &Agents, changes: u64) -> Self {
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

    fn get(&self, name: &str) -> Option<Found> {
        let (agent, tools) = self.agents.get(name).zip(self.tools.get(name))?;
        Some(Found { agent: agent.clone(), tools: tools.clone() })
    }

    /// What an agent is told to be; `None` where its file says nothing.
    pub(super) fn instructions(&self, agent: &Agent) -> Option<String> {
        Some(self.agents.instructions(agent)).filter(|words| !words.is_empty())
    }

    /// Who is to do this in a chat of these settings, or of some that cannot be read.
    pub(super) fn part(&self, question: &Question, config: Option<&ChatConfig>) -> Result<Part, TurnError> {
        let Some(task) = &question.task else {
            return Ok(self.part_of_chat(config));
        };
        let of_chat = self.part_of_chat(config).tools;
        let Found { agent, tools } = self.get(&task.agent).ok_or_else(|| {
            tracing::warn!(task = %task.id, agent = task.agent, "the agent that carries out a task is not there");
            TurnError::NoAgent(task.agent.clone())
        })?;
        // What a person lets its runs do is no use to an agent that cannot call it.
        let let_go = task.standing.iter().map(|rule| rule.method.as_str());
        let tools = match task.standing.is_empty() {
            true => tools.clone(),
            false => Arc::new(tools.with(let_go, &self.all_tools)),
        };
        // What holds the chat holds what was set up in it.
        let is_held = !Arc::ptr_eq(&of_chat, &self.all_tools);
        let tools = if is_held { Arc::new(tools.within(&of_chat)) } else { tools };
        Ok(Part { agent: Some(agent), tools })
    }

    /// Without the agent that the chat has chosen, it is answered as it is elsewhere; `/agents` says so. Where nobody can
    /// tell whether one was chosen that has fewer tools, there are none.
    fn part_of_chat(&self, config: Option<&ChatConfig>) -> Part {
        let Some(config) = config else {
            return Part { agent: None, tools: Arc::new(self.all_tools.only(&[])) };
        };
        if let Some(agent) = config.agent.as_ref().filter(|_| self.agents.chosen(config).is_none()) {
            tracing::warn!(agent, "the agent that a chat has chosen is not there; the chat goes without");
        }
        match self.agents.answering(config).and_then(|agent| self.get(&agent.name)) {
            Some(Found { agent, tools }) => Part { agent: Some(agent), tools },
            None => Part { agent: None, tools: self.all_tools.clone() },
        }
    }

    /// The model that is to answer: the one asked for this once, else the task's, the session's or the chat's, which are in
    /// `config`, that of the agent chosen for the task, of the chat's, of the one for all tasks. `None` where the bot's own
    /// is to.
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
