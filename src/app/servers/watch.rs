//! A change of the owner's file of MCP servers while the bot runs.

use async_trait::async_trait;
use tracing::{info, warn};

use super::file::servers_of;
use crate::app::watch::{FileText, News, Watched, look_at, told, watch};
use figaro_base::shutdown::TaskTracker;
use figaro_config::ServersSettings;
use figaro_mcp_client::servers::Servers;
use figaro_prompts::texts::{Texts, fill};

/// Keeps the servers like the owner's file. While the file is broken, the servers of before stay; one that is gone has none.
#[derive(Debug)]
pub(in crate::app) struct ServersWatch {
    /// The file, and what stands for variables in it.
    pub(in crate::app) settings: ServersSettings,
    /// Its text, whose servers are used.
    pub(in crate::app) text: Option<String>,
    /// The servers.
    pub(in crate::app) servers: Servers,
    /// Owners are told of each change.
    pub(in crate::app) news: News,
    /// It ends when this is asked to stop.
    pub(in crate::app) background: TaskTracker,
}

impl ServersWatch {
    /// Looks until the bot stops.
    pub(in crate::app) async fn run(mut self) {
        let (holds, background) = (Ok(self.text.take()), self.background.clone());
        watch(self, holds, background).await;
    }
}

#[async_trait]
impl Watched for ServersWatch {
    type Seen = FileText;

    async fn look(&self) -> Option<FileText> {
        Some(look_at(&self.settings.file).await)
    }

    async fn take(&mut self, seen: &FileText) {
        let ServersSettings { file: path, values, .. } = &self.settings;
        let file = path.display().to_string();
        let read = match seen {
            Ok(text) => text.as_deref().map_or(Ok(Vec::new()), |text| servers_of(text, path, values)),
            Err(fault) => Err(fault.clone()),
        };
        self.news.note("servers", read.as_ref().err().map(String::as_str));
        let names = match read {
            Ok(configs) => {
                self.servers.replace(configs);
                let names = self.servers.names().join(", ");
                info!(file, servers = names, "the other MCP servers have changed");
                Ok(names)
            }
            Err(faults) => {
                warn!(file, faults, "the file of MCP servers cannot be used; those of before stay");
                Err(told(&faults))
            }
        };
        let words = |texts: &Texts| match &names {
            Ok(names) => {
                let names = if names.is_empty() { texts.config_none() } else { names };
                fill(texts.servers_changed(), &[("file", &file), ("servers", names)])
            }
            Err(faults) => fill(texts.servers_broken(), &[("file", &file), ("faults", faults)]),
        };
        self.news.tell(words).await;
    }
}
