//! Rules about tool calls: the owner's file, and `figaro policy`, which checks and explains them.

mod explain;
mod explain_server;
mod file;
mod watch;

use std::collections::HashMap;
use std::path::PathBuf;

pub use self::explain::Explained;
use self::explain::explain;
use self::explain_server::{explain_server, named_by_server};
pub(super) use self::file::load;
pub(super) use self::watch::PolicyFile;
use super::additions::Additions;
use super::failure::StartupError;
use super::providers::variables;
use super::servers;
use super::terminal::{all_said, counted, say};
use super::watch::named;
use figaro_base::text::with_nearest;
use figaro_config::{PolicySettings, ServersSettings, SettingsFaults};

/// Subcommand of `figaro policy`.
#[derive(Debug)]
pub enum PolicyTask {
    /// Check this rules file; `None` for the file of the settings.
    Check(Option<PathBuf>),
    /// Explain the decision about a call.
    Explain(Explained),
}

/// Runs the subcommand and prints its result. Reads only the settings of the rules and of MCP servers.
///
/// # Errors
/// All faults of the rules, one per line, or the fault of the request.
pub fn policy(
    task: PolicyTask,
    values: &HashMap<String, String>,
    additions: &Additions,
) -> Result<(), StartupError> {
    let variables = variables(additions)?;
    let wrong = |faults: SettingsFaults| StartupError(faults.to_string());
    let settings = PolicySettings::alone(values, &variables).map_err(wrong)?;
    let servers = ServersSettings::alone(values, &variables).map_err(wrong)?;
    match task {
        PolicyTask::Check(Some(file)) => {
            check(&PolicySettings { file: named(file)?, is_named: true }, &servers)
        }
        PolicyTask::Check(None) => check(&settings, &servers),
        PolicyTask::Explain(call) => {
            let (call, (_, rules)) = (named_by_server(call), load(&settings).map_err(StartupError)?);
            match &call.server {
                Some(server) => {
                    let known = servers::load(&servers).map_err(StartupError)?.servers;
                    explain_server(&rules, &known, server, &call)
                }
                None => explain(&rules, &call),
            }
        }
    }?;
    all_said()
}

fn check(settings: &PolicySettings, servers: &ServersSettings) -> Result<(), StartupError> {
    let (text, rules) = load(settings).map_err(StartupError)?;
    let file = settings.file.display();
    match text {
        Some(_) => say(&format!("✓ {file}: {}, before those built in", counted(rules.owners(), "rule"))),
        None => say(&format!("✓ there is no {file}: the rules built in hold")),
    }
    let known = servers::names(servers);
    for name in rules.servers().into_iter().filter(|name| !known.iter().any(|known| known == name)) {
        let words =
            format!("⚠ a rule names the MCP server {name}, which {} does not have", servers.file.display());
        say(&with_nearest(words, name, known.iter().map(String::as_str).chain(["telegram"])));
    }
    Ok(())
}
