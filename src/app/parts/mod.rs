//! Builds every part of the bot and wires them. Called once by [`super::run`].

pub(super) mod asking;
mod background;
mod base;
mod business;
mod dashboard;
mod gateway;
mod handles;
mod inline;
mod meaning;
mod memories;
mod router;
mod stateless;
mod tools;
mod turns;
mod upkeep;

use std::sync::Arc;

use self::base::{Base, BaseParts, Bot};
use self::gateway::{BoundGateway, ByPlace, GatewayDoor};
use self::handles::{CommandTools, handles, late, task_cards};
use self::router::{Onward, router};
use self::tools::{approvers, of_servers, registry, telegram};
use self::turns::{Background, TurnParts, turns};
use self::upkeep::{Watches, backups, retention, rewriter, scheduler, spawn_keepers};
use super::additions::Additions;
use super::agents;
use super::backup::BackupKeeper;
use super::commands;
use super::failure::StartupError;
use super::groups::Groups;
use super::host::Host;
use super::identity::who_am_i;
use super::models::{models, name};
use super::providers;
use super::sign_ins::SignInEntry;
use super::watch::News;
use figaro_agent::delivery::{Bus, Delivery, Owners};
use figaro_agent::languages::Languages;
use figaro_agent::outbound::RateLimiter;
use figaro_agent::retention::{Retention, Rewriter};
use figaro_agent::scheduler::Scheduler;
use figaro_agent::speech::AnswerSpeech;
use figaro_agent::turn::parked::Parked;
use figaro_agent::turn::queue::Mailboxes;
use figaro_agent::turn::window::BotName;
use figaro_base::clock::Clock;
use figaro_base::ids::{ChatId, UserId};
use figaro_config::{Settings, SpendingSettings};
use figaro_domain::budget::{Caps, PeriodCaps};
use figaro_domain::role::AccessRole;
use figaro_gateway::hub::Hub;
use figaro_gateway::metrics::{BotSources, MeteredBot};
use figaro_ledger::{ConfiguredLimits, Ledger, LedgerParts, RoleOf};
use figaro_policy::access::is_owner;
use figaro_provider::Providers;
use figaro_provider::models::Models;
use figaro_provider::price::Prices;
use figaro_store::Store;
use figaro_telegram::api::Api;
use figaro_telegram::channel::TelegramChannel;
use figaro_telegram::commands::CommandTable;
use figaro_telegram::delivery::TelegramDelivery;
use figaro_telegram::intake::Intake;
use figaro_telegram::live::Live;
use figaro_telegram::newest::Newest;
use figaro_telegram::owners::TelegramOwners;
use figaro_telegram::poller::Poller;
use figaro_telegram::router::Router;
use figaro_telegram::send::Sender;
use figaro_telegram::webhook::Webhook;

/// Parts that the app runs and queries.
#[derive(Debug)]
pub(super) struct AppParts {
    pub(super) store: Store,
    pub(super) router: Arc<Router>,
    pub(super) commands: Arc<CommandTable>,
    pub(super) delivery: Arc<dyn Delivery>,
    pub(super) owners: Arc<dyn Owners>,
    pub(super) languages: Languages,
    pub(super) parked: Parked,
    /// Default model, for chats that have chosen none.
    pub(super) model: String,
    /// Has its values read for metrics.
    pub(super) _metered: MeteredBot,
    /// Lets `figaro dashboard` sign the owner in.
    pub(super) _sign_in: Option<SignInEntry>,
}

/// Plan of a bot, from which it is built.
pub(super) struct BotPlan<'a> {
    pub(super) host: &'a Host,
    /// Name among others of this process; `None` if it runs alone.
    pub(super) name: Option<&'a str>,
    pub(super) settings: &'a Settings,
    pub(super) additions: &'a Additions,
    pub(super) store: Store,
}

/// Background workers; started after recovery.
pub(super) struct Runners {
    pub(super) scheduler: Scheduler,
    pub(super) retention: Retention,
    pub(super) rewriter: Rewriter,
    pub(super) watches: Watches,
    pub(super) backups: Option<BackupKeeper>,
    pub(super) updates: UpdateSource,
    pub(super) gateway: Option<BoundGateway>,
}

pub(super) enum UpdateSource {
    /// Long polling.
    Fetched(Poller),
    /// Webhook.
    Sent(Webhook),
}

/// Builds all parts of a bot and their background workers.
pub(super) async fn build(
    plan: &BotPlan<'_>,
    groups: &Groups,
    clock: &Clock,
) -> Result<(AppParts, Runners), StartupError> {
    let additions = plan.additions;
    let providers = providers::table(additions)?;
    let mut bot = Box::pin(bot(plan, &providers, groups, clock)).await?;
    let door = bot.door.take();
    let ledger = ledger(&bot.base, &providers).await?;
    bot.base.chats = meaning::chats(&bot.base, &ledger);
    let newest = Newest::default();
    let delivery: Arc<dyn Delivery> = Arc::new(delivery(&bot, &ledger, newest.clone()));
    let owners: Arc<dyn Owners> = Arc::new(owners(&bot));
    let bus = Bus::new(vec![bot.live.clone()]);
    let telegram = telegram(&bot);
    let tools = Arc::new(registry(&bot.base, &ledger, telegram.clone()));
    let background = Background::of(&bot.base, &ledger, &bus);
    let servers = of_servers(&bot.base, bot.servers.clone(), bot.approvers.clone());
    let (delivered, told) = (delivery.clone(), owners.clone());
    let parts =
        TurnParts { bus, delivery: delivered, owners: told, tools, servers: servers.clone(), background };
    let turns = turns(&bot.base, ledger.clone(), parts);
    let (extractor, summariser) = (turns.extractor.clone(), turns.summariser.clone());
    let desk = business::desk(&bot);
    let offered = dashboard::offered(&bot.base, door.as_ref(), plan.host, plan.name);
    let _sign_in = offered.as_ref().map(|offered| dashboard::registered(&bot, offered, plan.host, plan.name));
    let all = turns.ender.tools.clone();
    let tools = CommandTools { all, telegram, desk: desk.clone(), dashboard: offered.clone() };
    let gateway = gateway::turns_of(&bot.base, &turns, &ledger, owners.clone(), &servers);
    let inline = inline::inline_runner(&bot, &ledger, owners.clone(), &servers);
    let hub = gateway.as_ref().map(|gateway| gateway.hub.clone());
    let of_gateway = gateway.as_ref().map(|gateway| gateway.runner.clone());
    let drafts = business::draft_runner(&bot, desk, &ledger, owners.clone(), &servers);
    let runner = ByPlace { telegram: turns, gateway: of_gateway, inline, drafts };
    let mailboxes = Mailboxes::new(Arc::new(runner), groups.front.clone());
    let handles = handles(&bot, ledger.clone(), &mailboxes, extractor.clone(), tools);
    let commands = Arc::new(commands::table(&handles, &additions.commands)?);
    spawn_keepers(&bot, extractor, summariser);
    let base = &bot.base;
    let mailboxes_of_gateway = mailboxes.clone();
    let scheduler = scheduler(base, &mailboxes, owners.clone());
    let (own, heard) = (commands.clone(), owners.clone());
    let onward = Onward { handles: &handles, commands: own, mailboxes, newest, owners: heard };
    let router = Arc::new(router(&bot, onward));
    let updates = updates(&bot, router.clone(), owners.clone());
    let (retention, rewriter) = (retention(base), rewriter(base));
    let news =
        News { owners: owners.clone(), locales: base.languages.locales.clone(), vitals: base.vitals.clone() };
    let watches = Watches::new(&bot, agents::names(&providers, Vec::new()), &news);
    let backups = backups(base, plan.host, &news)?;
    let dashboard = offered.map(|offered| dashboard::parts(&bot, &handles, offered, plan.host.fleet_bots()));
    let at = GatewayDoor { door, dashboard };
    let gateway =
        gateway.map(|gateway| gateway.with(base, &ledger, &mailboxes_of_gateway, at)).transpose()?;
    let (store, languages, parked) = (base.store.clone(), base.languages.clone(), base.parked.clone());
    let model = ledger.models.default_model().to_string();
    let _metered = metered(base, &ledger, &mailboxes_of_gateway, hub);
    let parts =
        AppParts { store, router, commands, delivery, owners, languages, parked, model, _metered, _sign_in };
    Ok((parts, Runners { scheduler, retention, rewriter, watches, backups, updates, gateway }))
}

/// Has the values of the bot read for metrics.
fn metered(base: &Base, ledger: &Arc<Ledger>, mailboxes: &Mailboxes, hub: Option<Hub>) -> MeteredBot {
    base.metrics.run(BotSources {
        started_at: base.vitals.started_at,
        clock: base.clock.clone(),
        mailboxes: mailboxes.clone(),
        ledger: ledger.clone(),
        hub,
    })
}

fn owners(bot: &Bot) -> TelegramOwners {
    let base = &bot.base;
    TelegramOwners {
        sender: late(bot),
        access: base.settings.access.clone(),
        settings: base.store.settings(),
        languages: base.languages.clone(),
    }
}

fn updates(bot: &Bot, router: Arc<Router>, owners: Arc<dyn Owners>) -> UpdateSource {
    let base = &bot.base;
    let (api, background) = (bot.sender.api.clone(), base.groups.front.clone());
    let intake = Intake { inbox: base.store.inbox(), router, clock: base.clock.clone() };
    match base.settings.http.webhook.clone() {
        Some(settings) => UpdateSource::Sent(Webhook { api, intake, settings, background }),
        None => {
            let locales = base.languages.locales.clone();
            UpdateSource::Fetched(Poller { api, intake, owners, locales, background })
        }
    }
}

fn delivery(bot: &Bot, ledger: &Arc<Ledger>, newest: Newest) -> TelegramDelivery {
    let base = &bot.base;
    let voice = base.services.voice.clone();
    TelegramDelivery {
        sender: bot.sender.clone(),
        live: bot.live.clone(),
        languages: base.languages.clone(),
        parked: base.parked.clone(),
        tasks: base.store.tasks(),
        settings: base.store.settings(),
        undos: base.store.undos(),
        default_zone: base.settings.timezone,
        newest,
        speech: voice.map(|voice| AnswerSpeech { voice, ledger: ledger.clone() }),
        task_cards: task_cards(base),
    }
}

async fn bot(
    plan: &BotPlan<'_>,
    providers: &Providers,
    groups: &Groups,
    clock: &Clock,
) -> Result<Bot, StartupError> {
    let (host, settings) = (plan.host, plan.settings);
    let (read, store) = (host.files(settings, providers).await?, plan.store.clone());
    let door = host.door(&settings.http).await?;
    let client = host.telegram(&settings.telegram).await?;
    let api = Api::of_bot(&settings.telegram, &client, store.tenure()).map_err(StartupError)?;
    let http = host.http(settings).await?;
    let models = host.models(settings, providers, clock).await?;
    let (me, mcp) = tokio::try_join!(who_am_i(&api, &settings.telegram), host.mcp(settings, store.tenure()))?;
    let limiter =
        Arc::new(if settings.limits.paced { RateLimiter::default() } else { RateLimiter::unpaced() });
    let (outbox, settings_store, background) = (store.clone(), store.clone(), groups.front.clone());
    let sender = Sender {
        api,
        limiter,
        outbox: outbox.outbox(),
        settings: settings_store.settings(),
        clock: clock.clone(),
        background,
    };
    let live = Arc::new(Live::new(sender.clone(), groups.back.clone(), read.locales.clone()));
    let languages = Languages { locales: read.locales.clone(), settings: store.settings() };
    let channel = Arc::new(TelegramChannel { sender: sender.clone(), languages, profiles: store.profiles() });
    let user = UserId::telegram(me.id.0);
    let name = BotName { name: me.name.clone(), username: me.username.clone(), user };
    let (policy_text, servers_text) = (read.policy_text.clone(), read.servers_text.clone());
    let servers = host.servers(settings, &read).await?;
    let (settings, groups, clock) = (Arc::new(settings.clone()), groups.clone(), clock.clone());
    let metrics = host.probes().metrics.of_bot(plan.name.map_or_else(|| me.username.clone(), str::to_owned));
    let bot = name;
    let base =
        Base::new(BaseParts { settings, groups, clock, read, store, http, models, metrics, bot, channel });
    let approvers = approvers(&base);
    Ok(Bot { base, door, me, mcp, servers, policy_text, servers_text, sender, live, approvers })
}

/// Returns the limits on spending of the settings.
fn configured_limits(settings: &Settings) -> ConfiguredLimits {
    let tokens = |tokens: Option<u64>| Caps { tokens, nano_usd: None };
    let keys = settings.http.keys.iter();
    ConfiguredLimits {
        bot: caps_of_bot(&settings.spending),
        background_percent: settings.spending.background_percent,
        keys: keys.map(|key| (key.name.clone(), tokens(key.per_day))).collect(),
        subject: tokens(settings.http.tokens.as_ref().and_then(|jwt| jwt.per_day)),
        cheaper: settings.model.over_budget.as_ref().map(name),
    }
}

/// Returns the limits of the whole bot.
pub(super) fn caps_of_bot(settings: &SpendingSettings) -> PeriodCaps {
    let SpendingSettings { daily_tokens, daily_nano_usd, monthly_tokens, monthly_nano_usd, .. } = settings;
    PeriodCaps {
        day: Caps { tokens: *daily_tokens, nano_usd: *daily_nano_usd },
        month: Caps { tokens: *monthly_tokens, nano_usd: *monthly_nano_usd },
    }
}

/// Returns the lookup of roles for limits: owners have none.
fn roles(base: &Base) -> RoleOf {
    let (settings, store) = (base.settings.clone(), base.store.settings());
    RoleOf(Arc::new(move |user: &UserId, chat: ChatId| match store.access() {
        Ok(list) if is_owner(&settings.access, &list, user) => None,
        Ok(list) => Some(list.role_of(user, Some(chat))),
        Err(error) => {
            tracing::error!(%error, "the role of a person could not be read; a member's limits hold");
            Some(AccessRole::Member)
        }
    }))
}

async fn ledger(base: &Base, providers: &Providers) -> Result<Arc<Ledger>, StartupError> {
    let models: Models = models(&base.settings.model, providers, &base.http, &base.trials, &base.clock)?;
    let models = models.with_outside_search(base.settings.tavily.key.is_some());
    let settings = &base.settings.spending;
    let parts = LedgerParts {
        models: Arc::new(models),
        store: base.store.usage(),
        prices: Prices::new(settings.prices.clone()),
        limits: configured_limits(&base.settings),
        roles: roles(base),
        zone: base.settings.timezone,
        clock: base.clock.clone(),
        // `back` still books the cost of turns that are being stopped.
        background: base.groups.back.clone(),
        slots: base.slots.clone(),
    };
    Ledger::open(parts).await.map_err(|error| StartupError(error.to_string()))
}
