//! Reloads the owner's agent files while the bot runs. Changes apply from the next turn.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::task::spawn_blocking;

use crate::app::watch::{OwnersFiles, own_names};
use figaro_base::clock::Clock;
use figaro_mcp_client::servers::Servers;
use figaro_prompts::texts::Texts;
use figaro_prompts::{AgentFileNames, AgentFiles, AgentSet, Prompts};

#[derive(Debug)]
pub(in crate::app) struct AgentFolder {
    pub(in crate::app) folder: PathBuf,
    /// Holder of the current agents; replaced on reload.
    pub(in crate::app) prompts: Arc<Prompts>,
    pub(in crate::app) clock: Clock,
    /// Names that agent files may use.
    pub(in crate::app) names: AgentFileNames,
    /// Other MCP servers; agent files may use their names too.
    pub(in crate::app) servers: Servers,
}

impl AgentFolder {
    /// Returns the names that agent files may use, with the current MCP servers.
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
        let folder = self.folder.clone();
        let files = spawn_blocking(move || AgentFiles::of(&folder)).await.ok()?;
        Some((files, self.names()))
    }

    fn read(&self, seen: &Self::Seen) -> Result<AgentSet, String> {
        let (files, names) = seen;
        files.read(&self.place(), Some(names)).map_err(|faults| faults.join("\n"))
    }

    fn is_changed(&self, agents: &AgentSet) -> bool {
        agents.files() != self.prompts.agents().files()
    }

    fn swap(&self, agents: AgentSet) -> String {
        let own = own_names(agents.all().map(|agent| agent.name.as_str()), |name| agents.is_built_in(name));
        self.prompts.replace_agents(agents, self.clock.now());
        own
    }

    fn words(texts: &Texts) -> [&str; 2] {
        [texts.agents_changed(), texts.agents_broken()]
    }

    fn place(&self) -> String {
        self.folder.display().to_string()
    }
}
