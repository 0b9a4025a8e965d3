//! State shared by the handlers.

use std::ops::Deref;
use std::sync::Arc;

use axum::http::HeaderValue;
use chrono::{DateTime, Utc};

use figaro_agent::channel::Channel;
use figaro_agent::explain::Explainer;
use figaro_agent::languages::Languages;
use figaro_agent::rulings::Rulings;
use figaro_agent::sign_in::SignIn;
use figaro_agent::task_control::TaskControl;
use figaro_base::clock::Clock;
use figaro_base::ids::{BotId, ChatId};
use figaro_base::secret::SecretString;
use figaro_base::shutdown::TaskTracker;
use figaro_base::telemetry::vitals::Vitals;
use figaro_base::tz::Tz;
use figaro_config::{AccessSettings, ShownVariable};
use figaro_domain::message::Speaker;
use figaro_ledger::Ledger;
use figaro_memory::Chats;
use figaro_prompts::Prompts;
use figaro_store::Store;

use super::browsers::Browsers;
use super::csp;
use super::init_data::InitDataCheck;
use super::names::{ChatNames, FoundNames};
use super::process::ProcessBots;
use super::spec::PageSpec;

/// Dependencies of the dashboard.
#[derive(Debug)]
pub struct DashboardParts {
    /// Id of the bot, which names the cookie.
    pub bot: BotId,
    /// Username of the bot, without `@`.
    pub username: String,
    /// Store of the bot.
    pub store: Store,
    /// Access to the models, with their spending.
    pub ledger: Arc<Ledger>,
    /// Agents, personas and packs.
    pub prompts: Arc<Prompts>,
    /// Languages of people.
    pub languages: Languages,
    /// Owners and access mode, from the settings.
    pub access: AccessSettings,
    /// Rules on calls that wait for an approval. Holds the waiting turns, the queues and the other MCP servers.
    pub rulings: Rulings,
    /// Changes tasks.
    pub tasks: TaskControl,
    /// Tells why a message was or was not answered, and how its answer came about.
    pub explainer: Explainer,
    /// Indexes of chats, for the search through conversations.
    pub chats: Chats,
    /// Telegram, which knows names of chats and who is in them.
    pub channel: Arc<dyn Channel>,
    /// Start time and last error of the bot.
    pub vitals: Arc<Vitals>,
    /// `true` if everybody who may talk to the bot has a dashboard; `false` if only owners have one.
    pub for_everybody: bool,
    /// Tickets that sign people in.
    pub sign_in: SignIn,
    /// For the Mini App; `None` if there is none.
    pub mini_app: Option<MiniAppParts>,
    /// Bots of the process; `None` if this one runs alone.
    pub process: Option<Arc<dyn ProcessBots>>,
    /// Settings in effect, without secrets.
    pub settings: Arc<[ShownVariable]>,
    /// Time zone of people who have chosen none.
    pub default_zone: Tz,
    /// Source of the current time.
    pub clock: Clock,
    /// Background tasks; also tells whether the bot is stopping.
    pub background: TaskTracker,
}

/// Dependencies of the dashboard as a Mini App.
#[derive(Debug)]
pub struct MiniAppParts {
    /// Token of the bot, from which the key of the hash in `initData` is derived.
    pub token: SecretString,
    /// Ed25519 key with which Telegram signs `initData`.
    pub public_key: [u8; 32],
    /// Origin of a web client on this machine, such as `http://127.0.0.1:8081`, that may show the pages in a frame.
    pub local_client: Option<String>,
}

/// State of the handlers. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Dashboard(Arc<DashboardInner>);

#[derive(Debug)]
pub(crate) struct DashboardInner {
    parts: DashboardParts,
    /// Pages of the navigation, in order.
    pages: Vec<&'static PageSpec>,
    browsers: Browsers,
    names: ChatNames,
    init_data: Option<InitDataCheck>,
    framed_policy: Option<HeaderValue>,
}

impl Dashboard {
    pub(crate) fn new(parts: DashboardParts, pages: &[&'static PageSpec]) -> Self {
        let background = parts.background.clone();
        let names = ChatNames::new(parts.channel.clone(), parts.store.profiles(), background);
        let check = |mini_app: &MiniAppParts| {
            InitDataCheck::new(parts.bot, &mini_app.token, mini_app.public_key, parts.vitals.started_at)
        };
        let is_there = |page: &&&PageSpec| parts.process.is_some() || !page.is_of_several;
        let pages = pages.iter().filter(is_there).copied().collect();
        let init_data = parts.mini_app.as_ref().map(check);
        let mini_app = parts.mini_app.as_ref();
        let framed_policy = mini_app.and_then(|mini_app| csp::framed(mini_app.local_client.as_deref()));
        let browsers = Browsers::new(parts.sign_in.clone());
        Self(Arc::new(DashboardInner { browsers, names, pages, init_data, framed_policy, parts }))
    }

    /// Returns the check of who opens the Mini App; `None` if there is none.
    pub(crate) fn init_data(&self) -> Option<&InitDataCheck> {
        self.0.init_data.as_ref()
    }

    pub(crate) fn browsers(&self) -> &Browsers {
        &self.0.browsers
    }

    /// Returns the policy of pages that a client of Telegram may show in a frame; `None` if there is no Mini App.
    pub(crate) fn framed_policy(&self) -> Option<&HeaderValue> {
        self.0.framed_policy.as_ref()
    }

    /// Returns the pages of the navigation, in order.
    pub(crate) fn pages(&self) -> &[&'static PageSpec] {
        &self.0.pages
    }

    /// Returns the writer of a message: a person, or the bot.
    pub(crate) fn writer(&self, person: Option<&Speaker>) -> String {
        person.map_or_else(|| format!("@{}", self.username), |person| person.name.clone())
    }

    /// Looks up the names of chats and people.
    pub(crate) async fn find_names(
        &self,
        chats: impl IntoIterator<Item = ChatId>,
        now: DateTime<Utc>,
    ) -> FoundNames {
        self.0.names.find(chats, now).await
    }
}

impl Deref for Dashboard {
    type Target = DashboardParts;

    fn deref(&self) -> &DashboardParts {
        &self.0.parts
    }
}
