//! Parts of the process that its bots share: the place of their stores, clients, the Telegram MCP server, other MCP servers,
//! models beside those that chat, files of the owner, and the socket of the gateway. Each is made when the first bot needs it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OnceCell};

use super::base_files::BaseFiles;
use super::bot_states::BotStates;
use super::door::{Door, door};
use super::embedder::{EmbedderParts, embedder};
use super::environment::{http_client, place_fault, start_mcp};
use super::failure::StartupError;
use super::fleet_bots::FleetBots;
use super::groups::Groups;
use super::models::trials;
use super::servers::recipe;
use super::services::{ServiceModels, SharedModels};
use super::sign_ins::SignIns;
use super::socket::BotSocket;
use super::watch::{WatchTurn, WatchTurns};
use figaro_base::clock::Clock;
use figaro_base::secret::Redactor;
use figaro_base::system::in_words;
use figaro_base::tenure::Tenure;
use figaro_config::{HttpSettings, Settings, StoreUrl, TelegramSettings};
use figaro_dashboard::ProcessBots;
use figaro_gateway::probes::Probes;
use figaro_gateway::routes::BotRoutes;
use figaro_ledger::Slots;
use figaro_mcp_client::servers::Servers;
use figaro_mcp_client::supervisor::{Mcp, McpServer};
use figaro_provider::Providers;
use figaro_store::engine;
use figaro_store::{Store, StoreError, Stores};
use figaro_telegram::api::TelegramClient;

/// Pause between two tries to take over a bot that another process has.
const LOOK_AGAIN: Duration = Duration::from_millis(300);

/// Shared parts. Made for the settings of one bot, or for all bots of a file, whose settings agree in what is shared.
#[derive(Debug)]
pub(super) struct Host {
    /// Settings of the bot alone, or of the first bot: those of shared parts, and the bot that outside MCP clients act as.
    settings: Settings,
    /// Knows the secrets of all bots.
    redactor: Redactor,
    /// Background work of the shared parts.
    groups: Groups,
    stores: Stores,
    probes: Probes,
    /// Routes to the gateways of several bots; `None` if one bot runs alone.
    routes: Option<BotRoutes>,
    /// Files by the folder of their agents.
    files: Mutex<HashMap<PathBuf, BaseFiles>>,
    /// Turns to watch the folder of agents, and all other files.
    turns: parking_lot::Mutex<HashMap<PathBuf, WatchTurn>>,
    turn: WatchTurn,
    backup_turn: WatchTurn,
    http: OnceCell<reqwest::Client>,
    telegram: OnceCell<TelegramClient>,
    models: OnceCell<SharedModels>,
    servers: OnceCell<Servers>,
    /// Dashboards of the bots, for `figaro dashboard`.
    sign_ins: SignIns,
    /// Bots of the file, with what each is doing.
    states: Arc<BotStates>,
    socket: OnceCell<()>,
    mcp: OnceCell<McpServer>,
}

/// Parameters of [`Host::new`].
pub(super) struct HostParts<'a> {
    /// Settings of the bot alone, or of the first.
    pub(super) settings: &'a Settings,
    /// Knows the secrets of all bots.
    pub(super) redactor: Redactor,
    /// Background work of the shared parts.
    pub(super) groups: Groups,
    /// Routes to the gateways of several bots; `None` if one bot runs alone.
    pub(super) routes: Option<BotRoutes>,
    pub(super) probes: &'a Probes,
}

impl Host {
    /// Makes the host of a bot that runs alone. `groups` are those of the bot.
    pub(super) fn of_one(settings: &Settings, groups: Groups, probes: &Probes) -> Self {
        Self::new(HostParts { settings, redactor: settings.redactor(), groups, routes: None, probes })
    }

    /// Makes the host of one bot or of several.
    pub(super) fn new(parts: HostParts<'_>) -> Self {
        let HostParts { settings, redactor, groups, routes, probes } = parts;
        let url = engine::found(&settings.store.url);
        let address = routes.as_ref().map(|_| settings.http.peer_url.clone()).unwrap_or_default();
        Self {
            redactor,
            settings: settings.clone(),
            groups,
            stores: Stores::reached_at(&url, address, probes.stores.clone()),
            probes: probes.clone(),
            routes,
            files: Mutex::default(),
            turns: parking_lot::Mutex::default(),
            turn: WatchTurn::default(),
            backup_turn: WatchTurn::default(),
            http: OnceCell::new(),
            telegram: OnceCell::new(),
            models: OnceCell::new(),
            servers: OnceCell::new(),
            sign_ins: SignIns::default(),
            states: Arc::new(BotStates::in_folder(settings.store.url.folder())),
            socket: OnceCell::new(),
            mcp: OnceCell::new(),
        }
    }

    /// Returns `true` if several bots share these parts.
    pub(super) const fn has_many(&self) -> bool {
        self.routes.is_some()
    }

    /// Returns the dashboards of its bots.
    pub(super) const fn sign_ins(&self) -> &SignIns {
        &self.sign_ins
    }

    /// Returns the states of the bots of the file.
    pub(super) const fn states(&self) -> &Arc<BotStates> {
        &self.states
    }

    /// Returns the bots of the process for their dashboards; `None` if one bot runs alone.
    pub(super) fn fleet_bots(&self) -> Option<Arc<dyn ProcessBots>> {
        let bots = FleetBots { states: self.states.clone(), sign_ins: self.sign_ins.clone() };
        self.has_many().then(|| Arc::new(bots) as Arc<dyn ProcessBots>)
    }

    /// Returns the state of the process for its supervisor.
    pub(super) const fn probes(&self) -> &Probes {
        &self.probes
    }

    /// Returns the stores of its bots.
    pub(super) const fn stores(&self) -> &Stores {
        &self.stores
    }

    /// Opens the store of a bot. If the folder holds a store of another engine, opens that one and logs a hint. Waits while
    /// another process has the bot in a database.
    ///
    /// # Errors
    /// Errors of [`place_fault`] and [`Stores::open`].
    pub(super) async fn store(&self, settings: &Settings) -> Result<Store, StartupError> {
        let (asked, found) = (&settings.store.url, engine::found(&settings.store.url));
        if let Some(fault) = place_fault(&found) {
            return Err(StartupError(format!("the store {fault} by STORE_URL")));
        }
        let mut is_told = false;
        loop {
            match self.stores.open(settings.telegram.bot, Duration::ZERO).await {
                Ok(store) => {
                    self.serve_socket(&found).await;
                    if found != *asked {
                        tracing::info!(
                            "there is a store of {} in this folder, which is used: STORE_URL={found}",
                            found.engine_name()
                        );
                    }
                    if !self.has_many() {
                        self.probes.set_unready("starting");
                        store.warn_of_others().await;
                    }
                    return Ok(store);
                }
                Err(StoreError::InUse(_)) if found.folder().is_none() => {
                    if !std::mem::replace(&mut is_told, true) {
                        tracing::info!("another process runs this bot; this one takes over when that ends");
                        if !self.has_many() {
                            self.probes.set_ready();
                        }
                    }
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
                Err(error) => return Err(StartupError(error.to_string())),
            }
        }
    }

    /// Lets other processes ask for a backup of the open store, and for a link to a dashboard. A database has no folder for
    /// the socket.
    async fn serve_socket(&self, url: &StoreUrl) {
        let Some(folder) = url.folder() else { return };
        let opened = async || match BotSocket::open(folder) {
            Ok(socket) => {
                let (stores, sign_ins) = (self.stores.clone(), self.sign_ins.clone());
                let serving = socket.serve(stores, sign_ins, self.groups.back.clone());
                self.groups.back.spawn("socket", serving);
            }
            Err(error) => tracing::warn!(
                reason = in_words(&error),
                "figaro backup works only while this bot is stopped, and figaro dashboard not at all: there is no socket in the folder of its store"
            ),
        };
        self.socket.get_or_init(opened).await;
    }

    /// Returns where callers reach the gateway of a bot; `None` if it is off.
    ///
    /// # Errors
    /// When the socket of a bot alone cannot be opened.
    pub(super) async fn door(&self, settings: &HttpSettings) -> Result<Option<Door>, StartupError> {
        match (&self.routes, settings.address) {
            (_, None) => Ok(None),
            (Some(routes), Some(_)) => Ok(Some(Door::Shared(routes.clone()))),
            (None, Some(_)) => Ok(door(settings).await?.map(Door::Own)),
        }
    }

    /// Returns the files of the owner for a bot.
    ///
    /// # Errors
    /// Faults of the files.
    pub(super) async fn files(
        &self,
        settings: &Settings,
        providers: &Providers,
    ) -> Result<BaseFiles, StartupError> {
        let mut known = self.files.lock().await;
        if let Some(read) = known.get(&settings.agents) {
            return Ok(read.clone());
        }
        let read = match known.values().next() {
            Some(other) => other.with_agents(settings, providers)?,
            None => BaseFiles::all(settings, providers)?,
        };
        known.insert(settings.agents.clone(), read.clone());
        Ok(read)
    }

    /// Returns the turns to watch the files of a bot, and to make backups.
    pub(super) fn watch_turns(&self, settings: &Settings) -> WatchTurns {
        let agents = self.turns.lock().entry(settings.agents.clone()).or_default().clone();
        WatchTurns { agents, others: self.turn.clone(), backups: self.backup_turn.clone() }
    }

    /// Returns the client of models and of the web.
    ///
    /// # Errors
    /// Those of [`http_client`].
    pub(super) async fn http(&self, settings: &Settings) -> Result<reqwest::Client, StartupError> {
        self.http.get_or_try_init(async || http_client(&settings.model.proxies)).await.cloned()
    }

    /// Returns the client of Telegram.
    ///
    /// # Errors
    /// If it cannot be built.
    pub(super) async fn telegram(&self, settings: &TelegramSettings) -> Result<TelegramClient, StartupError> {
        let made = self.telegram.get_or_try_init(async || TelegramClient::new(settings));
        made.await.cloned().map_err(StartupError)
    }

    /// Returns the models beside those that chat.
    ///
    /// # Errors
    /// If the settings name one that cannot be used.
    pub(super) async fn models(
        &self,
        settings: &Settings,
        providers: &Providers,
        clock: &Clock,
    ) -> Result<SharedModels, StartupError> {
        let made = self.models.get_or_try_init(async || {
            let http = self.http(settings).await?;
            let wanted = EmbedderParts {
                settings: &settings.embedder,
                idle_timeout: settings.model.idle_timeout,
                providers,
                http: &http,
                clock: clock.clone(),
                background: self.groups.front.clone(),
            };
            let embedder = embedder(wanted).await?;
            let services = ServiceModels::new(settings, providers, &http)?;
            let slots = Arc::new(Slots::new(settings.model.slots, settings.model.own_servers()));
            Ok(SharedModels { embedder, services, trials: trials(settings, clock.now()), slots })
        });
        made.await.cloned()
    }

    /// Returns the other MCP servers, which are those of `read`.
    ///
    /// # Errors
    /// When the system's certificates or a proxy cannot be used.
    pub(super) async fn servers(
        &self,
        settings: &Settings,
        read: &BaseFiles,
    ) -> Result<Servers, StartupError> {
        let made = self.servers.get_or_try_init(async || {
            let recipe = recipe(&settings.servers.values, &settings.model.proxies, self.redactor.clone())?;
            Ok(Servers::start(read.servers.servers.clone(), recipe, self.groups.back.clone()))
        });
        made.await.cloned()
    }

    /// Returns the handle of a bot on the Telegram MCP server.
    ///
    /// # Errors
    /// When the server is missing or does not start.
    pub(super) async fn mcp(&self, settings: &Settings, tenure: Tenure) -> Result<Mcp, StartupError> {
        let server = self
            .mcp
            .get_or_try_init(async || start_mcp(&self.settings, self.redactor.clone(), &self.groups).await)
            .await?;
        let named = server.for_bot(&settings.telegram.token, tenure);
        named.map_err(|error| StartupError(format!("there are no random numbers: {error}")))
    }
}
