//! A change of the owner's files of agents while the bot runs: it holds from the next turn on.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::task::spawn_blocking;
use tracing::{info, warn};

use crate::app::watch::{News, Watched, told, watch};
use figaro_base::shutdown::TaskTracker;
use figaro_mcp_client::servers::Servers;
use figaro_prompts::texts::{Texts, fill};
use figaro_prompts::{AGENTS_FOLDER, AgentFiles, Names, Prompts};

/// Keeps the agents like the owner's files. While one of them is broken, all agents of before stay as they were: what was
/// changed in several files holds together or not at all.
#[derive(Debug)]
pub(in crate::app) struct AgentWatch {
    /// Where agents are taken from.
    pub(in crate::app) prompts: Arc<Prompts>,
    /// The names that files may use.
    pub(in crate::app) names: Names,
    /// The other MCP servers, whose names files may use too.
    pub(in crate::app) servers: Servers,
    /// The faults that owners know of; `None` while there are none.
    pub(in crate::app) known: Option<String>,
    /// Owners are told of each change.
    pub(in crate::app) news: News,
    /// It ends when this is asked to stop.
    pub(in crate::app) background: TaskTracker,
}

impl AgentWatch {
    /// Looks until the bot stops.
    pub(in crate::app) async fn run(self) {
        let holds = (self.prompts.agents().files().clone(), self.names());
        let background = self.background.clone();
        watch(self, holds, background).await;
    }

    /// The names that files may use now.
    fn names(&self) -> Names {
        Names { servers: self.servers.names(), ..self.names.clone() }
    }
}

#[async_trait]
impl Watched for AgentWatch {
    type Seen = (AgentFiles, Names);

    async fn look(&self) -> Option<Self::Seen> {
        let files = spawn_blocking(|| AgentFiles::of(Path::new(AGENTS_FOLDER))).await.ok()?;
        Some((files, self.names()))
    }

    /// The same faults are told once.
    async fn take(&mut self, seen: &Self::Seen) {
        let (files, names) = seen;
        let is_changed = files != self.prompts.agents().files();
        let read = files.read(AGENTS_FOLDER, Some(names)).map_err(|faults| faults.join("\n"));
        self.news.note("agents", read.as_ref().err().map(String::as_str));
        match read {
            // A server has come or gone, and nothing is said of it.
            Ok(_) if !is_changed && self.known.is_none() => {}
            Ok(agents) => {
                let own: Vec<&str> = agents.all().map(|agent| agent.name.as_str()).collect();
                let own: Vec<&str> = own.into_iter().filter(|name| !agents.is_built_in(name)).collect();
                let own = own.join(", ");
                self.prompts.replace_agents(agents);
                self.known = None;
                info!(agents = own, "the owner's agents have changed");
                let shown =
                    |texts: &Texts| if own.is_empty() { texts.config_none().to_owned() } else { own.clone() };
                self.news.tell(|texts| fill(texts.agents_changed(), &[("agents", &shown(texts))])).await;
            }
            Err(faults) => {
                warn!(faults, "the owner's agents cannot be used; those of before hold");
                if self.known.as_ref() != Some(&faults) {
                    let shown = told(&faults);
                    self.news.tell(|texts| fill(texts.agents_broken(), &[("faults", &shown)])).await;
                }
                self.known = Some(faults);
            }
        }
    }
}
