//! Files of the owner and texts that bots are built from.

use std::path::Path;
use std::sync::Arc;

use super::agents::names;
use super::failure::StartupError;
use super::policy;
use super::servers::{self, LoadedServers};
use super::watch::HeldText;
use figaro_config::Settings;
use figaro_policy::tools::Policy;
use figaro_prompts::texts::Locales;
use figaro_prompts::{AGENTS_FOLDER, AgentFileNames, OWN_FOLDER, Prompts};
use figaro_provider::Providers;

/// Loaded files of prompts, rules and texts. Cheap to clone: bots of a process share them.
#[derive(Debug, Clone)]
pub(super) struct BaseFiles {
    pub(super) prompts: Arc<Prompts>,
    pub(super) locales: Arc<Locales>,
    pub(super) policy: Policy,
    /// Text of the rules in force, and of the servers that run; `None` for no file. The watchers keep them up to date.
    pub(super) policy_text: HeldText,
    pub(super) servers_text: HeldText,
    pub(super) servers: LoadedServers,
}

impl BaseFiles {
    /// Reads prompts, rules and texts.
    ///
    /// # Errors
    /// Faults of all files, one per line, in words for the owner.
    pub(super) fn all(settings: &Settings, providers: &Providers) -> Result<Self, StartupError> {
        let names = names(providers, servers::names(&settings.servers));
        let prompts = load_prompts(settings, &names);
        let (servers, policy) = (servers::load(&settings.servers), policy::load(&settings.policy));
        match (prompts, servers, policy) {
            (Ok(prompts), Ok(servers), Ok((policy_text, rules))) => Ok(Self {
                prompts: prompts.into(),
                locales: Arc::new(Locales::default()),
                policy: Policy::new(Arc::new(rules)),
                policy_text: HeldText::new(policy_text),
                servers_text: HeldText::new(servers.text.clone()),
                servers,
            }),
            (prompts, servers, policy) => {
                let faults = [prompts.err(), servers.err(), policy.err()];
                Err(broken(&faults.into_iter().flatten().collect::<Vec<_>>().join("\n")))
            }
        }
    }
}

impl BaseFiles {
    /// Returns the same files with the agents of another bot.
    ///
    /// # Errors
    /// Faults of the agents, one per line.
    pub(super) fn with_agents(
        &self,
        settings: &Settings,
        providers: &Providers,
    ) -> Result<Self, StartupError> {
        let names = names(providers, self.servers.servers.iter().map(|server| server.name.clone()).collect());
        let prompts = match missing_agents(settings) {
            Some(fault) => Err(fault),
            None => self.prompts.with_agents(&settings.agents, &names),
        };
        let prompts = prompts.map_err(|faults| broken(&faults))?;
        Ok(Self { prompts: Arc::new(prompts), ..self.clone() })
    }
}

/// Reads prompts, personas and packs, and the agents of the settings.
///
/// # Errors
/// Faults of all files, one per line.
pub(super) fn load_prompts(settings: &Settings, names: &AgentFileNames) -> Result<Prompts, String> {
    if let Some(fault) = missing_agents(settings) {
        return Err(fault);
    }
    Prompts::load_for(Some(Path::new(OWN_FOLDER)), Some(&settings.agents), names)
}

/// Returns the fault of settings that name a folder of agents which is not there.
pub(super) fn missing_agents(settings: &Settings) -> Option<String> {
    let agents = &settings.agents;
    let is_missing = agents.as_path() != Path::new(AGENTS_FOLDER) && !agents.is_dir();
    is_missing.then(|| format!("AGENTS_FOLDER names {}, and there is no such folder", agents.display()))
}

/// Builds the error for files with faults.
fn broken(faults: &str) -> StartupError {
    let lines: Vec<&str> = faults.lines().collect();
    if let [fault] = lines.as_slice() {
        return StartupError((*fault).to_owned());
    }
    StartupError(format!(
        "{} mistakes in your own files:\n  - {}\nMend them, or move a file away to go on without it; `figaro check` looks at all of them.",
        lines.len(),
        lines.join("\n  - ")
    ))
}
