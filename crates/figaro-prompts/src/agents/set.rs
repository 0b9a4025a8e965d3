//! The agents there are at one moment, and the files that they are read from.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::advice::advice;
use super::names::Names;
use super::read::read;
use crate::files::{Fault, Folder, own_files};
use figaro_domain::agent::{Agent, DEFAULT_AGENT};
use figaro_domain::chat::ChatConfig;
use figaro_domain::task::SCHEDULED_AGENT;

/// The files of agents.
const FOLDER: Folder = Folder {
    name: "agents",
    what: "an agent",
    embedded: &[
        ("default", include_str!("../../../../prompts/agents/default.yaml")),
        ("extractor", include_str!("../../../../prompts/agents/extractor.yaml")),
        ("orchestrator", include_str!("../../../../prompts/agents/orchestrator.yaml")),
        ("researcher", include_str!("../../../../prompts/agents/researcher.yaml")),
        ("scheduled", include_str!("../../../../prompts/agents/scheduled.yaml")),
    ],
};

own_files! {
    /// The files of agents in a folder, as they were at one moment: two are equal if nothing has changed between them.
    AgentFiles of FOLDER
}

impl AgentFiles {
    /// The agents of these files and, where they have none of their name, those built in. `shown` is the folder as people
    /// are told it. Without `names` any tool and any provider may be named.
    ///
    /// # Errors
    /// Everything that is wrong with any file, a line each: file, line, column, and what it is.
    pub fn read(&self, shown: &str, names: Option<&Names>) -> Result<AgentSet, Vec<String>> {
        let agents = FOLDER.read(&self.0, shown, |source| read(source, names))?;
        Ok(AgentSet::new(agents, self.clone()))
    }

    /// What of these files is allowed but has no effect, by the agent's name. Nothing if any file is wrong.
    #[must_use]
    pub fn advice(&self) -> BTreeMap<String, Vec<&'static str>> {
        FOLDER
            .read(&self.0, FOLDER.name, |source| Ok::<_, Vec<Fault>>(advice(source.text)))
            .unwrap_or_default()
    }
}

/// The agents of files and those built in, as they were read together. A turn goes by one of these from its beginning to its
/// end.
#[derive(Debug)]
pub struct AgentSet {
    agents: BTreeMap<String, Arc<Agent>>,
    files: AgentFiles,
}

impl AgentSet {
    /// These agents, by name, and the files that they were read from.
    fn new(agents: BTreeMap<String, Agent>, files: AgentFiles) -> Self {
        let agents = agents.into_iter().map(|(name, agent)| (name, Arc::new(agent)));
        Self { agents: agents.collect(), files }
    }

    /// The agent with this name; `None` where no file defines it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Agent>> {
        self.agents.get(name)
    }

    /// All agents, by name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Agent>> {
        self.agents.values()
    }

    /// The agents that a chat can choose: all but the one that carries out tasks and the one that answers without a choice.
    pub fn choosable(&self) -> impl Iterator<Item = &Arc<Agent>> {
        self.all().filter(|agent| ![SCHEDULED_AGENT, DEFAULT_AGENT].contains(&agent.name.as_str()))
    }

    /// The agents that a task can be given: those that a chat can choose, and the one that carries out tasks otherwise.
    pub fn for_tasks(&self) -> impl Iterator<Item = &Arc<Agent>> {
        self.all().filter(|agent| agent.name != DEFAULT_AGENT)
    }

    /// The agent that a chat of these settings has chosen, if it is there.
    #[must_use]
    pub fn chosen(&self, config: &ChatConfig) -> Option<&Arc<Agent>> {
        let name = config.agent.as_deref()?;
        self.choosable().find(|agent| agent.name == name)
    }

    /// The agent that answers in a chat of these settings: the chosen one if it is there, else the owner's own default.
    /// `None` for Figaro itself.
    #[must_use]
    pub fn answering(&self, config: &ChatConfig) -> Option<&Arc<Agent>> {
        self.chosen(config).or_else(|| self.own_default())
    }

    /// The owner's own agent for chats that chose none. The built-in one is Figaro itself.
    #[must_use]
    pub fn own_default(&self) -> Option<&Arc<Agent>> {
        self.get(DEFAULT_AGENT).filter(|_| !self.is_built_in(DEFAULT_AGENT))
    }

    /// Whether the agent of this name is as it comes with Figaro: no file of the owner's stands in its place.
    #[must_use]
    pub fn is_built_in(&self, name: &str) -> bool {
        !self.files.define(name)
    }

    /// What an agent is told to be, with the agents that it may ask.
    #[must_use]
    pub fn instructions(&self, agent: &Agent) -> String {
        agent.instructions_naming(agent.agents.iter().filter_map(|name| self.get(name)).map(AsRef::as_ref))
    }

    /// The files that they were read from.
    #[must_use]
    pub const fn files(&self) -> &AgentFiles {
        &self.files
    }
}
