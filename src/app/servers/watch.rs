//! Looks at the owner's file of MCP servers while the bot runs: what is changed there holds from then on.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tracing::{info, warn};

use super::file::{servers_of, text_of};
use crate::config::ServersSettings;
use crate::delivery::Owners;
use crate::languages::Languages;
use crate::mcp::servers::Servers;
use crate::prompts::texts::{Texts, fill};
use crate::shutdown::TaskTracker;
use crate::text::one_line;

/// The pause between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// The most characters of what is wrong that owners are told; the log has all of it.
const TOLD: usize = 1000;

/// What was seen of a file: its text, or that there is none, or why it cannot be read.
type Seen = Result<Option<String>, String>;

/// Keeps the servers like the owner's file. While the file is broken, the servers of before stay; one that is gone has none.
#[derive(Debug)]
pub(in crate::app) struct ServersWatch {
    /// The file, and what stands for variables in it.
    pub(in crate::app) settings: ServersSettings,
    /// Its text, whose servers are used.
    pub(in crate::app) text: Option<String>,
    /// The servers.
    pub(in crate::app) servers: Servers,
    /// They are told of each change.
    pub(in crate::app) owners: Arc<dyn Owners>,
    /// The languages in which they are.
    pub(in crate::app) languages: Languages,
    /// It ends when this is asked to stop.
    pub(in crate::app) background: TaskTracker,
}

impl ServersWatch {
    /// Looks again and again until the bot stops. A file that is just being written is left alone: what is seen counts once
    /// two looks have seen the same.
    pub(in crate::app) async fn run(mut self) {
        let mut holds: Seen = Ok(self.text.take());
        let mut before = holds.clone();
        loop {
            tokio::select! {
                () = self.background.stopping() => return,
                () = tokio::time::sleep(EVERY) => {}
            }
            let file = self.settings.file.clone();
            let now =
                spawn_blocking(move || text_of(&file)).await.unwrap_or_else(|error| Err(error.to_string()));
            if now == before && now != holds {
                self.take(&now).await;
                holds = now.clone();
            }
            before = now;
        }
    }

    async fn take(&self, seen: &Seen) {
        let ServersSettings { file: path, values, .. } = &self.settings;
        let file = path.display().to_string();
        let read = match seen {
            Ok(text) => text.as_deref().map_or(Ok(Vec::new()), |text| servers_of(text, path, values)),
            Err(fault) => Err(fault.clone()),
        };
        let names = match read {
            Ok(configs) => {
                self.servers.replace(configs);
                let names = self.servers.names().join(", ");
                info!(file, servers = names, "the other MCP servers have changed");
                Ok(names)
            }
            Err(faults) => {
                warn!(file, faults, "the file of MCP servers cannot be used; those of before stay");
                Err(one_line(&faults, TOLD))
            }
        };
        let words = |texts: &Texts| match &names {
            Ok(names) => {
                let names = if names.is_empty() { &texts.config_none } else { names };
                fill(&texts.servers_changed, &[("file", &file), ("servers", names)])
            }
            Err(faults) => fill(&texts.servers_broken, &[("file", &file), ("faults", faults)]),
        };
        self.owners.tell(self.languages.locales.map(words)).await;
    }
}
