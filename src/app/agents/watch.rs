//! Looks at the owner's files of agents while the bot runs: what is changed there holds from the next turn on.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tracing::{info, warn};

use crate::delivery::Owners;
use crate::languages::Languages;
use crate::mcp::servers::Servers;
use crate::prompts::texts::{Texts, fill};
use crate::prompts::{AGENTS_FOLDER, AgentFiles, Names, Prompts};
use crate::shutdown::TaskTracker;
use crate::text::one_line;

/// The pause between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// The most characters of what is wrong that owners are told; the log has all of it.
const TOLD: usize = 1000;

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
    /// They are told of each change.
    pub(in crate::app) owners: Arc<dyn Owners>,
    /// The languages in which they are.
    pub(in crate::app) languages: Languages,
    /// It ends when this is asked to stop.
    pub(in crate::app) background: TaskTracker,
}

impl AgentWatch {
    /// Looks again and again until the bot stops. Files that are just being written are left alone: what is seen counts once
    /// two looks have seen the same.
    pub(in crate::app) async fn run(self) {
        let mut judged = self.prompts.agents().files().clone();
        let mut before = judged.clone();
        let (mut told, mut names) = (None, self.names());
        loop {
            tokio::select! {
                () = self.background.stopping() => return,
                () = tokio::time::sleep(EVERY) => {}
            }
            let looking = spawn_blocking(|| AgentFiles::of(Path::new(AGENTS_FOLDER)));
            let Ok(now) = looking.await else { continue };
            let names_now = self.names();
            if now == before && (now != judged || names_now != names) {
                told = self.take(&now, &names_now, told).await;
                (judged, names) = (now.clone(), names_now);
            }
            before = now;
        }
    }

    /// The names that files may use now.
    fn names(&self) -> Names {
        Names { servers: self.servers.names(), ..self.names.clone() }
    }

    /// Has the agents of these files answer, or says what is wrong with them: once for the same faults. Gives the faults that
    /// owners know of; `None` once there are none.
    async fn take(&self, files: &AgentFiles, names: &Names, told: Option<String>) -> Option<String> {
        let is_changed = files != self.prompts.agents().files();
        match files.read(AGENTS_FOLDER, Some(names)) {
            // A server has come or gone, and nothing is said of it.
            Ok(_) if !is_changed && told.is_none() => None,
            Ok(agents) => {
                let own: Vec<&str> = agents.all().map(|agent| agent.name.as_str()).collect();
                let own: Vec<&str> = own.into_iter().filter(|name| !agents.is_built_in(name)).collect();
                let own = own.join(", ");
                self.prompts.replace_agents(agents);
                info!(agents = own, "the owner's agents have changed");
                let shown =
                    |texts: &Texts| if own.is_empty() { texts.config_none.clone() } else { own.clone() };
                self.tell(|texts| fill(&texts.agents_changed, &[("agents", &shown(texts))])).await;
                None
            }
            Err(faults) => {
                let faults = faults.join("\n");
                warn!(faults, "the owner's agents cannot be used; those of before hold");
                if told.as_ref() != Some(&faults) {
                    let shown = one_line(&faults, TOLD);
                    self.tell(|texts| fill(&texts.agents_broken, &[("faults", &shown)])).await;
                }
                Some(faults)
            }
        }
    }

    async fn tell(&self, words: impl Fn(&Texts) -> String) {
        self.owners.tell(self.languages.locales.map(words)).await;
    }
}
