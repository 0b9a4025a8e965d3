//! Current agents, and the files that they are read from.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::advice::advice;
use super::names::AgentFileNames;
use super::read::read;
use crate::files::{FileFault, PromptFolder, own_files};
use figaro_domain::agent::{Agent, DEFAULT_AGENT};
use figaro_domain::chat::ChatConfig;
use figaro_domain::task::SCHEDULED_AGENT;

const FOLDER: PromptFolder = PromptFolder {
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
    /// Agent files of a folder at one moment: two are equal if nothing changed between them.
    AgentFiles of FOLDER
}

impl AgentFiles {
    /// Reads the agents of these files, and built-in ones without a file of the same name. Messages show the folder as
    /// `shown`. Without `names` any tool and provider may be named.
    ///
    /// # Errors
    /// Every fault of any file, one per line: file, line, column and text.
    pub fn read(&self, shown: &str, names: Option<&AgentFileNames>) -> Result<AgentSet, Vec<String>> {
        let agents = FOLDER.read(&self.0, shown, |source| read(source, names))?;
        Ok(AgentSet::new(agents, self.clone()))
    }

    /// Returns the ineffective parts of these files, by the agent's name; empty if any file is invalid.
    #[must_use]
    pub fn advice(&self) -> BTreeMap<String, Vec<&'static str>> {
        FOLDER
            .read(&self.0, FOLDER.name, |source| Ok::<_, Vec<FileFault>>(advice(source.text)))
            .unwrap_or_default()
    }
}

/// Agents from files and built-in ones, read together. A turn uses one set from its beginning to its end.
#[derive(Debug)]
pub struct AgentSet {
    agents: BTreeMap<String, Arc<Agent>>,
    files: AgentFiles,
}

impl AgentSet {
    /// Creates a set of these agents and their files.
    fn new(agents: BTreeMap<String, Agent>, files: AgentFiles) -> Self {
        let agents = agents.into_iter().map(|(name, agent)| (name, Arc::new(agent)));
        Self { agents: agents.collect(), files }
    }

    /// Returns the agent with this name; `None` if no file defines it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Agent>> {
        self.agents.get(name)
    }

    /// Iterates over all agents, by name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Agent>> {
        self.agents.values()
    }

    /// Iterates over the agents that a chat can choose: all but the one for tasks and the default.
    pub fn choosable(&self) -> impl Iterator<Item = &Arc<Agent>> {
        self.all().filter(|agent| ![SCHEDULED_AGENT, DEFAULT_AGENT].contains(&agent.name.as_str()))
    }

    /// Iterates over the agents that a task can have: those that a chat can choose, and the default one for tasks.
    pub fn for_tasks(&self) -> impl Iterator<Item = &Arc<Agent>> {
        self.all().filter(|agent| agent.name != DEFAULT_AGENT)
    }

    /// Returns the agent chosen in these chat settings, if it exists.
    #[must_use]
    pub fn chosen(&self, config: &ChatConfig) -> Option<&Arc<Agent>> {
        let name = config.agent.as_deref()?;
        self.choosable().find(|agent| agent.name == name)
    }

    /// Returns the agent that answers with these chat settings: the chosen one if it exists, else the owner's default.
    /// `None` for Figaro itself.
    #[must_use]
    pub fn answering(&self, config: &ChatConfig) -> Option<&Arc<Agent>> {
        self.chosen(config).or_else(|| self.own_default())
    }

    /// Returns the owner's agent for chats without a choice. The built-in default is Figaro itself.
    #[must_use]
    pub fn own_default(&self) -> Option<&Arc<Agent>> {
        self.get(DEFAULT_AGENT).filter(|_| !self.is_built_in(DEFAULT_AGENT))
    }

    /// Returns `true` if the agent of this name is built in and not overridden by the owner.
    #[must_use]
    pub fn is_built_in(&self, name: &str) -> bool {
        !self.files.define(name)
    }

    /// Returns the instructions of an agent, with the agents that it may ask.
    #[must_use]
    pub fn instructions(&self, agent: &Agent) -> String {
        agent.instructions_naming(agent.agents.iter().filter_map(|name| self.get(name)).map(AsRef::as_ref))
    }

    /// Returns the files that they were read from.
    #[must_use]
    pub const fn files(&self) -> &AgentFiles {
        &self.files
    }
}
