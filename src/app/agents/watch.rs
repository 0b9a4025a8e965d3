//! A change of the owner's files of agents while the bot runs: it holds from the next turn on.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::task::spawn_blocking;

use crate::app::watch::{OwnersFiles, own_names};
use figaro_mcp_client::servers::Servers;
use figaro_prompts::texts::Texts;
use figaro_prompts::{AGENTS_FOLDER, AgentFileNames, AgentFiles, AgentSet, Prompts};

/// The files of agents.
#[derive(Debug)]
pub(in crate::app) struct AgentFolder {
    /// Where agents are taken from.
    pub(in crate::app) prompts: Arc<Prompts>,
    /// The names that files may use.
    pub(in crate::app) names: AgentFileNames,
    /// The other MCP servers, whose names files may use too.
    pub(in crate::app) servers: Servers,
}

impl AgentFolder {
    /// The names that files may use now.
    fn names(&self) -> AgentFileNames {
        AgentFileNames { servers: self.servers.names(), ..self.names.clone() }
    }
}

#[async_trait]
impl OwnersFiles for AgentFolder {
    const KIND: &'static str = "agents";
    type Seen = (AgentFiles, AgentFileNames);
    type Read = AgentSet;

    fn held(&self) -> (AgentFiles, AgentFileNames) {
        (self.prompts.agents().files().clone(), self.names())
    }

    async fn look(&self) -> Option<Self::Seen> {
        let files = spawn_blocking(|| AgentFiles::of(Path::new(AGENTS_FOLDER))).await.ok()?;
        Some((files, self.names()))
    }

    fn read(&self, seen: &Self::Seen) -> Result<AgentSet, String> {
        let (files, names) = seen;
        files.read(AGENTS_FOLDER, Some(names)).map_err(|faults| faults.join("\n"))
    }

    fn is_changed(&self, agents: &AgentSet) -> bool {
        agents.files() != self.prompts.agents().files()
    }

    fn swap(&self, agents: AgentSet) -> String {
        let own = own_names(agents.all().map(|agent| agent.name.as_str()), |name| agents.is_built_in(name));
        self.prompts.replace_agents(agents);
        own
    }

    fn words(texts: &Texts) -> [&str; 2] {
        [texts.agents_changed(), texts.agents_broken()]
    }

    fn place(&self) -> String {
        AGENTS_FOLDER.to_owned()
    }
}
