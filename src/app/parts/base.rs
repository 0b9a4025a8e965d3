//! Shared dependencies of the bot and of other channels that run turns.

use std::sync::Arc;

use crate::app::base_files::BaseFiles;
use crate::app::door::Door;
use crate::app::groups::Groups;
use crate::app::reader_program::reader_program;
use crate::app::services::{ServiceModels, SharedModels};
use crate::app::watch::HeldText;
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
use figaro_gateway::metrics::BotMetrics;
use figaro_ledger::Slots;
use figaro_mcp_client::servers::Servers;
use figaro_mcp_client::supervisor::Mcp;
use figaro_memory::Chats;
use figaro_policy::tools::Policy;
use figaro_prompts::Prompts;
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
    /// Requests at servers of the owner, of all bots of the process.
    pub(super) slots: Arc<Slots>,
    pub(super) metrics: BotMetrics,
    /// Name of the bot in prompts.
    pub(super) bot: BotName,
    pub(super) channel: Arc<dyn Channel>,
}

/// The bot in Telegram: dependencies of its turns, and access to its chats.
pub(super) struct Bot {
    pub(super) base: Base,
    /// Where the gateway is reached; `None` if it is off, or taken out.
    pub(super) door: Option<Door>,
    pub(super) me: Me,
    pub(super) mcp: Mcp,
    pub(super) servers: Servers,
    /// Texts of the owner's rules and of the other MCP servers.
    pub(super) policy_text: HeldText,
    pub(super) servers_text: HeldText,
    pub(super) sender: Sender,
    pub(super) live: Arc<Live>,
    pub(super) approvers: Approvers,
}

/// Parameters of [`Base::new`].
pub(super) struct BaseParts {
    pub(super) settings: Arc<Settings>,
    pub(super) groups: Groups,
    pub(super) clock: Clock,
    pub(super) read: BaseFiles,
    pub(super) store: Store,
    pub(super) http: reqwest::Client,
    pub(super) models: SharedModels,
    pub(super) metrics: BotMetrics,
    pub(super) bot: BotName,
    pub(super) channel: Arc<dyn Channel>,
}

impl Base {
    /// Builds the dependencies of turns of a channel.
    pub(super) fn new(ground: BaseParts) -> Self {
        let BaseParts { settings, groups, clock, read, store, http, models, metrics, bot, channel } = ground;
        let SharedModels { embedder, services, trials, slots } = models;
        let BaseFiles { prompts, locales, policy, .. } = read;
        let pages = Pages::new(&settings.pages);
        store.pack_rules().set(prompts.packs().rules());
        Self {
            settings,
            groups,
            http,
            prompts,
            languages: Languages { locales, settings: store.settings() },
            vitals: Arc::new(Vitals::new(clock.now())),
            policy,
            parked: Parked::new(store.parked(), store.conversations(), clock.clone()),
            chats: Chats::new(store.messages(), clock.clone()),
            pages,
            documents: Documents::new(store.documents(), FileReader::new(reader_program()), channel.clone()),
            erasures: Erasures::default(),
            embedder,
            services,
            pictures: LastPictures::default(),
            trials,
            slots,
            metrics,
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
