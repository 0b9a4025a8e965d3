//! Reloads the owner's MCP servers file while the bot runs.

use async_trait::async_trait;

use super::file::servers_of;
use crate::app::watch::{FileText, HeldText, OwnersFiles, look_at};
use figaro_config::ServersSettings;
use figaro_mcp_client::file::ServerConfig;
use figaro_mcp_client::servers::Servers;
use figaro_prompts::texts::Texts;

/// MCP servers file. While it is broken, the previous servers stay; a missing file means no servers.
#[derive(Debug)]
pub(in crate::app) struct ServersFile {
    /// Path of the file, and values of variables in it.
    pub(in crate::app) settings: ServersSettings,
    /// Text of the servers in use; `None` if there was no file.
    pub(in crate::app) text: HeldText,
    /// Running servers; replaced on reload.
    pub(in crate::app) servers: Servers,
}

#[async_trait]
impl OwnersFiles for ServersFile {
    const KIND: &'static str = "servers";
    type Seen = FileText;
    type Read = Vec<ServerConfig>;

    fn held(&self) -> FileText {
        Ok(self.text.get())
    }

    async fn look(&self) -> Option<FileText> {
        Some(look_at(&self.settings.file).await)
    }

    fn read(&self, seen: &FileText) -> Result<Vec<ServerConfig>, String> {
        let ServersSettings { file, values, .. } = &self.settings;
        let text = seen.as_ref().map_err(Clone::clone)?;
        text.as_deref().map_or(Ok(Vec::new()), |text| servers_of(text, file, values))
    }

    fn swap(&self, configs: Vec<ServerConfig>) -> String {
        self.servers.replace(configs);
        self.servers.names().join(", ")
    }

    fn hold(&self, seen: &FileText) {
        self.text.set(seen);
    }

    fn words(texts: &Texts) -> [&str; 2] {
        [texts.servers_changed(), texts.servers_broken()]
    }

    fn place(&self) -> String {
        self.settings.file.display().to_string()
    }
}
