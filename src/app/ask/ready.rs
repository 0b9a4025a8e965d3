//! Prepares a question: settings, store, agent and model.

use std::io::{self, Write};
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedReceiver;

use super::options::AskOptions;
use super::outside::Terminal;
use super::question;
use crate::app::environment::open_store;
use crate::app::failure::StartupError;
use crate::app::groups::Groups;
use crate::app::parts::asking::{AskService, asking};
use figaro_agent::delivery::OutsideEvent;
use figaro_agent::turn::question::Question;
use figaro_agent::turn::unfinished::end_unfinished;
use figaro_base::text::nearest;
use figaro_config::{AccessMode, AccessSettings, LimitSettings, Settings};
use figaro_domain::chat::{ChatConfig, ConfigPatch, Place};
use figaro_mcp_client::file::ServerConfig;
use figaro_mcp_client::servers::ServerPhase;
use figaro_store::Store;

/// A question that is ready to be answered.
pub(super) struct PreparedQuestion {
    pub(super) asking: AskService,
    pub(super) question: Question,
    pub(super) place: Place,
    /// Receiver of the events of the turn.
    pub(super) told: UnboundedReceiver<OutsideEvent>,
}

/// Settings of turns from the terminal. Only the user there has access, as owner. Background work is off: the process ends
/// with the answer.
pub(super) fn of_terminal(settings: Settings) -> Settings {
    Settings {
        access: AccessSettings { owners: vec![question::asker()], mode: AccessMode::Allowlist },
        limits: LimitSettings { names_sessions: false, summary_every: 0, memory_limit: 0, ..settings.limits },
        ..settings
    }
}

/// Prepares a question.
///
/// # Errors
/// When the question is missing, when the store or a file of the owner is unusable, or when the agent or the model is
/// unknown.
pub(super) async fn ready(
    settings: &Settings,
    groups: &Groups,
    options: &AskOptions,
) -> Result<PreparedQuestion, StartupError> {
    let words = question::words(options.question.as_deref()).await?;
    let store = match options.session {
        Some(_) => open_store(settings).await.map_err(of_session)?,
        None => Store::in_memory(settings.telegram.bot),
    };
    let (terminal, told) = Terminal::new();
    let asking = asking(settings, groups, store, &Arc::new(terminal)).await?;
    check(options, &asking)?;
    let name = question::name(options.session.as_deref(), options.is_eval);
    let kept = asking.store.external().keep(&name).await.map_err(|error| StartupError(error.to_string()))?;
    let place = Place::external(kept);
    let chosen = async {
        end_unfinished(&asking.store, |there| there.chat == place.chat, &asking.clock).await?;
        let (agent, model) = (Some(options.agent.clone()), Some(options.model.clone()));
        let patch = ConfigPatch { agent, model, ..ConfigPatch::default() };
        asking.store.settings().change_chat_config(place.chat, patch).await
    };
    chosen.await.map_err(|error| StartupError(error.to_string()))?;
    start_servers(options, &asking).await;
    let question = question::question(words, place.clone(), options.is_eval, asking.clock.now());
    Ok(PreparedQuestion { asking, question, place, told })
}

/// Starts the MCP servers whose tools the agent lists. Waits until each is ready or has failed; prints failures.
async fn start_servers(options: &AskOptions, AskService { prompts, servers, described, .. }: &AskService) {
    let config = ChatConfig { agent: options.agent.clone(), ..ChatConfig::default() };
    let agents = prompts.agents();
    let Some(agent) = agents.answering(&config) else { return };
    let is_listed = |server: &&ServerConfig| agent.server_tools.iter().any(|of| of.server == server.name);
    servers.replace(described.iter().filter(is_listed).cloned().collect());
    for server in servers.all() {
        if let ServerPhase::Failed(why) = server.begun().await.phase {
            // The answer does not depend on this warning.
            drop(writeln!(io::stderr(), "⚠ the MCP server {} is not used: {why}", server.config.name));
        }
    }
}

/// Adds a hint to an error: a session needs a store that no other process has open.
fn of_session(StartupError(words): StartupError) -> StartupError {
    StartupError(format!(
        "{words}\nSessions of the terminal are kept in the store of STORE_URL, which one process at a time has open: beside a bot \
         that runs, name another folder, such as STORE_URL=redb:./terminal. Without --session no store is needed."
    ))
}

/// Checks that the requested agent and the provider of the requested model exist.
fn check(options: &AskOptions, asking: &AskService) -> Result<(), StartupError> {
    if let Some(agent) = &options.agent {
        let agents = asking.prompts.agents();
        let known: Vec<&str> = agents.choosable().map(|agent| agent.name.as_str()).collect();
        if !known.contains(&agent.as_str()) {
            return Err(unknown("agent", agent, &known));
        }
    }
    if let Some(model) = &options.model {
        let known: Vec<&str> = asking.ledger.models.providers().collect();
        if !known.contains(&model.provider.as_str()) {
            return Err(unknown("provider set up that is called", &model.provider, &known));
        }
    }
    Ok(())
}

fn unknown(what: &str, name: &str, known: &[&str]) -> StartupError {
    let meant = nearest(name, known.iter().copied(), |known| known.len().div_ceil(3));
    let meant = meant.map_or_else(String::new, |meant| format!(": did you mean {meant}?"));
    let there = match known {
        [] => "there is none".to_owned(),
        known => format!("there are: {}", known.join(", ")),
    };
    StartupError(format!("there is no {what} `{name}`{meant}\n{there}"))
}
