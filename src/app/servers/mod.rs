//! Other MCP servers: the owner's file, and `figaro mcp`, which checks it.

mod file;
mod watch;

use std::collections::HashMap;
use std::path::PathBuf;

use figaro_mcp::proxy::Proxies;

pub(super) use self::file::{LoadedServers, load};
pub(super) use self::watch::ServersFile;
use super::additions::Additions;
use super::failure::StartupError;
use super::groups::{Groups, LAST_CALL};
use super::providers::variables;
use super::terminal::{all_said, counted, say};
use super::watch::{named, text_of};
use figaro_base::secret::Redactor;
use figaro_config::{KnownValues, ServersSettings};
use figaro_mcp_client::file::ServerConfig;
use figaro_mcp_client::servers::{Server, ServerPhase, ServerRecipe, ServerStatus, Servers};

/// Options of `figaro mcp`.
#[derive(Debug)]
pub struct ServersTask {
    /// File to check; `None` for the file of the settings.
    pub file: Option<PathBuf>,
    /// `true` to start the servers too.
    pub start: bool,
}

/// Checks the file and prints the result. Reads no settings other than the path of the file and variables that the file
/// names.
///
/// # Errors
/// All faults of the file, one per line; servers that do not answer.
pub async fn servers(
    task: ServersTask,
    values: &HashMap<String, String>,
    additions: &Additions,
) -> Result<(), StartupError> {
    let settings = ServersSettings::alone(values, &variables(additions)?);
    let settings = settings.map_err(|faults| StartupError(faults.to_string()))?;
    let settings = match task.file {
        Some(file) => ServersSettings { file: named(file)?, is_named: true, ..settings },
        None => settings,
    };
    let file = settings.file.display();
    let LoadedServers { text, servers } = load(&settings).map_err(StartupError)?;
    match text {
        None => say(&format!("✓ there is no {file}: no other MCP server is used")),
        Some(_) if servers.is_empty() => say(&format!("✓ {file}: no servers")),
        Some(_) if task.start => start(servers, &settings.values).await?,
        Some(_) => servers.iter().for_each(|server| {
            say(&line(server));
            if let Some(command) = server.missing_program() {
                say(&format!("! {}: there is no program {command} in the PATH", server.name));
            }
        }),
    }
    all_said()
}

/// Returns the server names of the configured file, even if it has faults.
pub(super) fn names(settings: &ServersSettings) -> Vec<String> {
    let text = text_of(&settings.file).ok().flatten();
    figaro_mcp_client::file::names(&text.unwrap_or_default())
}

fn line(server: &ServerConfig) -> String {
    let off = if server.is_disabled { ", disabled" } else { "" };
    format!("✓ {}: {}{off}", server.name, server.place())
}

/// Starts each server, prints its tools, and stops it.
async fn start(configs: Vec<ServerConfig>, values: &KnownValues) -> Result<(), StartupError> {
    let groups = Groups::default();
    let recipe = recipe(values, &Proxies::default(), Redactor::default())?;
    let servers = Servers::start(configs, recipe, groups.back.clone());
    let mut all_well = true;
    for server in servers.all() {
        let status = server.begun().await;
        all_well &= !matches!(status.phase, ServerPhase::Failed(_));
        tell(&server, &status);
    }
    groups.end_helpers(LAST_CALL).await;
    match all_well {
        true => Ok(()),
        false => Err(StartupError("not every server answers; see the lines marked ✗".to_owned())),
    }
}

fn tell(server: &Server, status: &ServerStatus) {
    let ServerConfig { name, .. } = &server.config;
    match &status.phase {
        ServerPhase::Off | ServerPhase::Starting => say(&line(&server.config)),
        ServerPhase::Failed(why) => say(&format!("✗ {name}: {why}")),
        ServerPhase::Ready => {
            let count = status.tools.len();
            say(&format!("{}, {}", line(&server.config), counted(count, "tool")));
        }
    }
    for tool in status.tools.iter() {
        say(&format!("  {}: {}", tool.remote, figaro_base::text::one_line(&tool.description, 100)));
    }
    for left_out in status.left_out.iter() {
        say(&format!("  ⚠ {} is left out: {}", left_out.name, left_out.reason));
    }
    if status.beyond > 0 {
        say(&format!("  ⚠ at least {} more are left out: there are too many", status.beyond));
    }
}

/// Builds the recipe for starting and reaching servers.
///
/// # Errors
/// When the system's certificates or a proxy cannot be used.
pub(super) fn recipe(
    inherited: &KnownValues,
    proxies: &Proxies,
    redactor: Redactor,
) -> Result<ServerRecipe, StartupError> {
    Ok(ServerRecipe {
        inherited: inherited.clone(),
        guard: guard(),
        http: super::environment::servers_client(proxies)?,
        redactor,
    })
}

/// Returns the path of this executable if it is `figaro`; a program that embeds the bot cannot act as guard.
fn guard() -> Option<PathBuf> {
    let this = std::env::current_exe().ok()?;
    this.file_stem().is_some_and(|name| name == "figaro").then_some(this)
}
