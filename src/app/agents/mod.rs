//! The owner's agents: `figaro agents` checks their files and prints the JSON Schema; a watcher reloads the files while the
//! bot runs.

mod watch;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub(super) use self::watch::AgentFolder;
use super::additions::Additions;
use super::failure::StartupError;
use super::providers::{table, variables};
use super::servers;
use super::terminal::{all_said, counted, say};
use figaro_agent::tools::builtin;
use figaro_config::ServersSettings;
use figaro_domain::agent::{ALL_TOOLS, Agent, OfServer};
use figaro_prompts::{AGENTS_FOLDER, AgentFileNames, AgentFiles, AgentSet, agent_schema};
use figaro_provider::Providers;

/// Subcommand of `figaro agents`.
#[derive(Debug)]
pub enum AgentsTask {
    /// Check the agent files of this folder; `None` for the folder that the bot reads.
    Check(Option<PathBuf>),
    /// Print the JSON Schema of an agent file.
    Schema,
}

/// Returns the names that agent files may use. `servers` are the names of other MCP servers.
pub(super) fn names(providers: &Providers, servers: Vec<String>) -> AgentFileNames {
    AgentFileNames {
        tools: builtin::names(),
        servers,
        providers: providers.names().map(str::to_owned).collect(),
    }
}

/// Runs the subcommand and prints its result. Reads only the MCP servers file of the settings, for the server names. A bot
/// may run at the same time.
///
/// # Errors
/// All faults of the files, one per line; also when an added provider cannot be registered.
pub fn agents(
    task: AgentsTask,
    values: &HashMap<String, String>,
    additions: &Additions,
) -> Result<(), StartupError> {
    let settings = ServersSettings::alone(values, &variables(additions)?);
    let servers = servers::names(&settings.map_err(|faults| StartupError(faults.to_string()))?);
    let names = names(&table(additions)?, servers);
    match task {
        AgentsTask::Check(folder) => {
            let set = values.get("AGENTS_FOLDER").map(|folder| folder.trim()).filter(|set| !set.is_empty());
            check(folder.as_deref().or(set.map(Path::new)), &names)?;
        }
        AgentsTask::Schema => say(&format!("{:#}", agent_schema(&names))),
    }
    all_said()
}

fn check(folder: Option<&Path>, names: &AgentFileNames) -> Result<(), StartupError> {
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let shown = folder.display();
        let why = if folder.exists() {
            format!("{shown} is a file: give its folder")
        } else {
            format!("there is no folder {shown}")
        };
        return Err(StartupError(why));
    }
    let folder = folder.unwrap_or(Path::new(AGENTS_FOLDER));
    let shown = folder.display().to_string();
    let shown = shown.trim_end_matches('/');
    let agents = AgentFiles::of(folder).read(shown, Some(names));
    let agents = agents.map_err(|faults| {
        let count = faults.len();
        let what =
            if count == 1 { "one thing is wrong".to_owned() } else { format!("{count} things are wrong") };
        StartupError(format!("{what} with the agents in {shown}\n{}", faults.join("\n")))
    })?;
    let mut advice = agents.files().advice();
    for agent in agents.all() {
        say(&line(agent, &agents));
        for words in advice.remove(&agent.name).unwrap_or_default() {
            say(&format!("⚠ {}: {words}", agent.name));
        }
    }
    if folder.is_dir() {
        unread(folder).iter().for_each(|name| say(&format!("⚠ {shown}/{name} is not read: the file of an agent ends in .yaml and stands in the folder itself")));
    } else {
        let place = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        say(&format!("⚠ there is no folder {}: only what is built in was checked", place.display()));
    }
    Ok(())
}

/// Returns the sorted names of files that look like agent files but are not read: other endings, or in a subfolder. Empty if
/// the folder cannot be read.
fn unread(folder: &Path) -> Vec<String> {
    let mut unread = Vec::new();
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let lower = name.to_lowercase();
        let has_other_ending = !name.ends_with(".yaml")
            && [".yaml", ".yml", ".yaml.txt", ".yml.txt"].iter().any(|end| lower.ends_with(end));
        if name.starts_with('.') {
            continue;
        }
        if has_other_ending {
            unread.push(name);
        } else if let Ok(inner) = entry.path().read_dir() {
            let inner = inner.flatten().map(|file| file.file_name().to_string_lossy().into_owned());
            unread.extend(inner.filter(|file| file.ends_with(".yaml")).map(|file| format!("{name}/{file}")));
        }
    }
    unread.sort();
    unread
}

/// One-line summary of an agent.
fn line(agent: &Agent, agents: &AgentSet) -> String {
    let tools = match agent.tools.len() {
        _ if agent.has_all_tools() => "all tools".to_owned(),
        count => counted(count, "tool"),
    };
    let of_servers = of_servers(&agent.server_tools);
    let structured = if agent.answer.is_some() { ", structured output" } else { "" };
    let asked = if agent.agents.is_empty() {
        String::new()
    } else {
        format!(", asks {}", agent.agents.join(" and "))
    };
    let speaks = if agent.speaks { ", speaks" } else { "" };
    let model = agent.model.as_ref().map_or("the chat's model".to_owned(), ToString::to_string);
    let origin = if agents.is_built_in(&agent.name) { ", built in" } else { "" };
    format!(
        "✓ {} {}: {tools}{of_servers}{structured}{asked}{speaks}, {model}{origin}",
        agent.name, agent.version
    )
}

/// Counts of an agent's tools by MCP server: `, all of files, 2 of mail`.
fn of_servers(listed: &[OfServer]) -> String {
    let mut servers: Vec<&str> = listed.iter().map(|of| of.server.as_str()).collect();
    servers.dedup();
    let count = |server: &str| {
        let of: Vec<&OfServer> = listed.iter().filter(|of| of.server == server).collect();
        match of.iter().any(|of| of.tool == ALL_TOOLS) {
            true => format!(", all of {server}"),
            false => format!(", {} of {server}", of.len()),
        }
    };
    servers.into_iter().map(count).collect()
}
