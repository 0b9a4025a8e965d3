//! Parts that answer one question at a time without a bot in Telegram.

use std::sync::Arc;

use super::base::{Base, BaseParts};
use super::ledger;
use super::tools::{approvers, of_servers, without_chat};
use super::turns::{Background, TurnParts, turns};
use crate::app::additions::Additions;
use crate::app::base_files::BaseFiles;
use crate::app::environment::http_client;
use crate::app::failure::StartupError;
use crate::app::groups::Groups;
use crate::app::models::trials;
use crate::app::providers;
use crate::app::servers::recipe;
use crate::app::services::SharedModels;
use figaro_agent::channel::Channel;
use figaro_agent::delivery::{Bus, Delivery, Listener, Owners};
use figaro_agent::turn::pipeline::Turns;
use figaro_agent::turn::window::BotName;
use figaro_base::clock::Clock;
use figaro_base::ids::UserId;
use figaro_config::Settings;
use figaro_gateway::probes::Probes;
use figaro_ledger::{Ledger, Slots};
use figaro_mcp_client::file::ServerConfig;
use figaro_mcp_client::servers::Servers;
use figaro_prompts::Prompts;
use figaro_prompts::texts::Locales;
use figaro_store::Store;

/// Turns that answer questions, and their dependencies.
pub(in crate::app) struct AskService {
    pub(in crate::app) turns: Turns,
    pub(in crate::app) store: Store,
    pub(in crate::app) ledger: Arc<Ledger>,
    pub(in crate::app) prompts: Arc<Prompts>,
    pub(in crate::app) locales: Arc<Locales>,
    pub(in crate::app) clock: Clock,
    /// Other MCP servers; none is started yet.
    pub(in crate::app) servers: Servers,
    /// Servers of the owner's file.
    pub(in crate::app) described: Vec<ServerConfig>,
}

/// Builds the service for questions from the terminal: the turns of the bot, with the tools that work without a chat. Starts
/// no background work.
///
/// # Errors
/// Faults of the owner's files or the providers.
pub(in crate::app) async fn asking<T>(
    settings: &Settings,
    groups: &Groups,
    store: Store,
    terminal: &Arc<T>,
) -> Result<AskService, StartupError>
where
    T: Channel + Delivery + Owners + Listener + 'static,
{
    let providers = providers::table(&Additions::default())?;
    let read = BaseFiles::all(settings, &providers)?;
    let locales = read.locales.clone();
    let http = http_client(&settings.model.proxies)?;
    let described = read.servers.servers.clone();
    let (clock, own, tracked) = (Clock::system(), Arc::new(settings.clone()), groups.clone());
    let (bot, channel) = (
        BotName { name: "Figaro".to_owned(), username: "figaro".to_owned(), user: UserId::telegram(0) },
        terminal.clone(),
    );
    let base = Base::new(BaseParts {
        settings: own,
        groups: tracked,
        clock,
        read,
        store,
        http,
        models: SharedModels {
            trials: trials(settings, Clock::system().now()),
            slots: Arc::new(Slots::new(settings.model.slots, settings.model.own_servers())),
            ..SharedModels::default()
        },
        metrics: Probes::default().metrics.of_bot(bot.username.clone()),
        bot,
        channel,
    });
    let ledger = ledger(&base, &providers).await?;
    let bus = Bus::new(vec![terminal.clone()]);
    let servers = no_servers(settings, groups)?;
    let background = Background::of(&base, &ledger, &bus);
    let parts = TurnParts {
        bus,
        background,
        delivery: terminal.clone(),
        owners: terminal.clone(),
        tools: Arc::new(without_chat(&base, &ledger)),
        servers: of_servers(&base, servers.clone(), approvers(&base)),
    };
    let turns = turns(&base, ledger.clone(), parts);
    let Base { store, prompts, clock, .. } = base;
    Ok(AskService { turns, store, ledger, prompts, locales, clock, servers, described })
}

/// Creates an empty set of MCP servers. The answering agent determines which are started later.
fn no_servers(settings: &Settings, groups: &Groups) -> Result<Servers, StartupError> {
    let recipe = recipe(&settings.servers.values, &settings.model.proxies, settings.redactor())?;
    Ok(Servers::start(Vec::new(), recipe, groups.back.clone()))
}
