//! Shared dependencies of the bot and of other channels that run turns.

use std::path::Path;
use std::sync::Arc;

use crate::app::agents::names;
use crate::app::failure::StartupError;
use crate::app::groups::Groups;
use crate::app::models::trials;
use crate::app::policy;
use crate::app::reader_program::reader_program;
use crate::app::servers::{self, LoadedServers};
use crate::app::services::ServiceModels;
use figaro_agent::channel::Channel;
use figaro_agent::documents::{Documents, FileReader};
use figaro_agent::eraser::Erasures;
use figaro_agent::languages::Languages;
use figaro_agent::pages::Pages;
use figaro_agent::tools::draw::LastPictures;
use figaro_agent::tools::telegram::Approvers;
use figaro_agent::turn::parked::Parked;
use figaro_agent::turn::window::BotName;
use figaro_base::clock::Clock;
use figaro_base::telemetry::vitals::Vitals;
use figaro_config::Settings;
use figaro_gateway::listen::GatewayListener;
use figaro_mcp_client::servers::Servers;
use figaro_mcp_client::supervisor::Mcp;
use figaro_memory::Chats;
use figaro_policy::tools::{Policy, Rules};
use figaro_prompts::texts::Locales;
use figaro_prompts::{OWN_FOLDER, Prompts};
use figaro_provider::Providers;
use figaro_provider::embed::Embedder;
use figaro_provider::trials::ModelTrials;
use figaro_store::Store;
use figaro_telegram::inbound::Me;
use figaro_telegram::live::Live;
use figaro_telegram::send::Sender;

/// Dependencies of turns of any channel. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Base {
    pub(super) settings: Arc<Settings>,
    pub(super) groups: Groups,
    pub(super) clock: Clock,
    pub(super) store: Store,
    pub(super) http: reqwest::Client,
    pub(super) prompts: Arc<Prompts>,
    pub(super) languages: Languages,
    pub(super) vitals: Arc<Vitals>,
    pub(super) policy: Policy,
    pub(super) parked: Parked,
    pub(super) chats: Chats,
    pub(super) documents: Documents,
    /// Fetches and reads the pages behind links.
    pub(super) pages: Pages,
    pub(super) erasures: Erasures,
    pub(super) embedder: Option<Arc<dyn Embedder>>,
    /// Models that hear, speak and draw.
    pub(super) services: ServiceModels,
    /// Last pictures of conversations, which are changed next.
    pub(super) pictures: LastPictures,
    pub(super) trials: ModelTrials,
    /// Name of the bot in prompts.
    pub(super) bot: BotName,
    pub(super) channel: Arc<dyn Channel>,
}

/// The bot in Telegram: dependencies of its turns, and access to its chats.
pub(super) struct Bot {
    pub(super) base: Base,
    /// Socket of the gateway; `None` if it is off, or taken out.
    pub(super) door: Option<GatewayListener>,
    pub(super) me: Me,
    pub(super) mcp: Mcp,
    pub(super) servers: Servers,
    /// Other MCP servers of the owner's file.
    pub(super) described: LoadedServers,
    /// Text of the owner's rules file; `None` if there is none.
    pub(super) policy_text: Option<String>,
    pub(super) sender: Sender,
    pub(super) live: Arc<Live>,
    pub(super) approvers: Approvers,
}

/// Loaded files of prompts, rules and texts.
pub(super) struct BaseFiles {
    prompts: Arc<Prompts>,
    pub(super) locales: Arc<Locales>,
    rules: Rules,
    pub(super) policy_text: Option<String>,
    pub(super) servers: LoadedServers,
}

/// Parameters of [`Base::new`].
pub(super) struct BaseParts {
    pub(super) settings: Arc<Settings>,
    pub(super) groups: Groups,
    pub(super) clock: Clock,
    pub(super) read: BaseFiles,
    pub(super) store: Store,
    pub(super) http: reqwest::Client,
    pub(super) embedder: Option<Arc<dyn Embedder>>,
    pub(super) services: ServiceModels,
    pub(super) bot: BotName,
    pub(super) channel: Arc<dyn Channel>,
}

impl BaseFiles {
    /// Reads prompts, rules and texts.
    ///
    /// # Errors
    /// Faults of all files, one per line, in words for the owner.
    pub(super) fn all(settings: &Settings, providers: &Providers) -> Result<Self, StartupError> {
        let names = names(providers, servers::names(&settings.servers));
        let prompts = Prompts::load_for(Some(Path::new(OWN_FOLDER)), &names);
        let (servers, policy) = (servers::load(&settings.servers), policy::load(&settings.policy));
        match (prompts, servers, policy) {
            (Ok(prompts), Ok(servers), Ok((policy_text, rules))) => Ok(Self {
                prompts: prompts.into(),
                locales: Arc::new(Locales::default()),
                rules,
                policy_text,
                servers,
            }),
            (prompts, servers, policy) => {
                let faults = [prompts.err(), servers.err(), policy.err()];
                Err(broken(&faults.into_iter().flatten().collect::<Vec<_>>().join("\n")))
            }
        }
    }
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

impl Base {
    /// Builds the dependencies of turns of a channel.
    pub(super) fn new(ground: BaseParts) -> Self {
        let BaseParts { settings, groups, clock, read, store, http, embedder, services, bot, channel } =
            ground;
        let BaseFiles { prompts, locales, rules, .. } = read;
        let trials = trials(&settings, clock.now());
        let pages = Pages::new(&settings.pages);
        store.records().set_pack_rules(prompts.packs().rules());
        Self {
            settings,
            groups,
            http,
            prompts,
            languages: Languages { locales, settings: store.settings() },
            vitals: Arc::new(Vitals::new(clock.now())),
            policy: Policy::new(Arc::new(rules)),
            parked: Parked::new(store.parked(), store.conversations(), clock.clone()),
            chats: Chats::new(store.messages(), clock.clone()),
            pages,
            documents: Documents::new(store.documents(), FileReader::new(reader_program()), channel.clone()),
            erasures: Erasures::default(),
            embedder,
            services,
            pictures: LastPictures::default(),
            trials,
            bot,
            channel,
            clock,
            store,
        }
    }

    /// Returns a copy with other settings, for turns of another channel.
    pub(super) fn elsewhere(&self, settings: Settings, channel: Arc<dyn Channel>) -> Self {
        let documents = self.documents.elsewhere(channel.clone());
        Self { settings: Arc::new(settings), channel, documents, ..self.clone() }
    }

    /// Returns a copy with another store, without search by meaning.
    pub(super) fn over(&self, store: Store) -> Self {
        Self {
            languages: Languages { locales: self.languages.locales.clone(), settings: store.settings() },
            parked: Parked::new(store.parked(), store.conversations(), self.clock.clone()),
            chats: Chats::new(store.messages(), self.clock.clone()),
            documents: self.documents.over(store.documents()),
            erasures: Erasures::default(),
            embedder: None,
            store,
            ..self.clone()
        }
    }
}
