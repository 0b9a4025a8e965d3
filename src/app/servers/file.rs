//! The owner's file of MCP servers on the disk.

use std::path::Path;

use crate::app::watch::text_of;
use figaro_config::{KnownValues, ServersSettings};
use figaro_files::yaml::Misfit;
use figaro_mcp_client::file::{ServerConfig, read};

/// The servers of a text.
///
/// # Errors
/// All that is wrong, a line each, with the name of the file and the place.
pub(super) fn servers_of(text: &str, path: &Path, values: &KnownValues) -> Result<Vec<ServerConfig>, String> {
    read(text, values.all()).map_err(|faults| {
        let line = |misfit: Misfit| misfit.in_file(&path.display().to_string());
        faults.into_iter().map(line).collect::<Vec<_>>().join("\n")
    })
}

/// What the settings name: the text of the file, and the servers in it.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct LoadedServers {
    /// The text; `None` where there is no file.
    pub(in crate::app) text: Option<String>,
    /// The servers, in the order of their names.
    pub(in crate::app) servers: Vec<ServerConfig>,
}

/// Reads the owner's file as settings name it. Only a file that the settings name has to be there.
///
/// # Errors
/// All that is wrong with the file, a line each.
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
