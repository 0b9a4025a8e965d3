//! The owner's MCP servers file.

use std::path::Path;

use crate::app::watch::text_of;
use figaro_config::{KnownValues, ServersSettings};
use figaro_files::yaml::Misfit;
use figaro_mcp_client::file::{ServerConfig, read};

/// Parses the servers of a text.
///
/// # Errors
/// All faults, one per line, with file name and position.
pub(super) fn servers_of(text: &str, path: &Path, values: &KnownValues) -> Result<Vec<ServerConfig>, String> {
    read(text, values.all()).map_err(|faults| {
        let line = |misfit: Misfit| misfit.in_file(&path.display().to_string());
        faults.into_iter().map(line).collect::<Vec<_>>().join("\n")
    })
}

/// Content of the MCP servers file.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct LoadedServers {
    /// Text of the file; `None` if there is no file.
    pub(in crate::app) text: Option<String>,
    /// Servers, sorted by name.
    pub(in crate::app) servers: Vec<ServerConfig>,
}

/// Reads the owner's file. The file may be missing unless the settings name it.
///
/// # Errors
/// All faults of the file, one per line.
pub(in crate::app) fn load(settings: &ServersSettings) -> Result<LoadedServers, String> {
    let text = text_of(&settings.file)?;
    if text.is_none() && settings.is_named {
        return Err(format!("MCP_CONFIG names {}, and there is no such file", settings.file.display()));
    }
    let servers = match &text {
        Some(text) => servers_of(text, &settings.file, &settings.values)?,
        None => Vec::new(),
    };
    Ok(LoadedServers { text, servers })
}
