//! Builds every part of the bot and wires them. Called once by [`super::run`].

pub(super) mod asking;
mod background;
pub(super) mod base;
mod handles;
mod meaning;
mod memories;
mod tools;
mod upkeep;

use std::sync::{Arc, Mutex};

use self::background::{namer, summariser};
use self::base::{Base, Bot, Ground, Outside, Read};
use self::handles::{Tools, handles, late, task_cards};
use self::memories::extractor;
use self::tools::{of_servers, registry, telegram};
use self::upkeep::{agent_watch, policy_watch, retention, rewriter, scheduler, servers_watch, spawn_keepers};
use super::additions::Additions;
use super::agents::{self, AgentWatch};
use super::commands;
use super::environment::{http_client, open_store, start_mcp};
use super::failure::Refusal;
use super::groups::Groups;
use super::identity::who_am_i;
use super::models::models;
use super::policy::PolicyWatch;
use super::providers;
use super::servers::{ServersWatch, recipe};
use crate::clock::Clock;
use crate::config::Settings;
use crate::delivery::{Bus, Delivery, Owners};
use crate::languages::Languages;
use crate::ledger::{Ledger, LedgerParts};
use crate::mcp::servers::Servers;
use crate::outbound::RateLimiter;
use crate::policy::access::Admins;
use crate::policy::budget::{Caps, TREE_TOKENS};
use crate::provider::Providers;
use crate::provider::models::Models;
use crate::provider::price::Prices;
use crate::retention::{Retention, Rewriter};
use crate::scheduler::Scheduler;
use crate::store::kv::KvStore;
use crate::telegram::admins::TelegramAdmins;
use crate::telegram::api::Api;
use crate::telegram::commands::{
    AccessRequests, CommandTable, Personas, Renames, RestingTasks, Rewordings, Zones,
};
use crate::telegram::consents::TelegramConsents;
use crate::telegram::delivery::TelegramDelivery;
use crate::telegram::files::TelegramFiles;
use crate::telegram::live::Live;
use crate::telegram::newest::Newest;
use crate::telegram::owners::TelegramOwners;
use crate::telegram::poller::Poller;
use crate::telegram::router::Router;
use crate::telegram::send::Sender;
use crate::telegram::titles::TelegramTitles;
use crate::tools::Registry;
use crate::tools::servers::ServerTools;
use crate::tools::telegram::{Approvers, Grants};
use crate::turn::children::Children;
use crate::turn::end::Ender;
use crate::turn::execute::Executor;
use crate::turn::execute::calls::Caller;
use crate::turn::parked::Parked;
use crate::turn::pipeline::Turns;
use crate::turn::prepare::{Agents, Choices, Contexts, Loader, PersonaLoader, Preparer};
use crate::turn::queue::Mailboxes;
use crate::turn::report::Reporter;
use crate::turn::rights::Rights;
use crate::turn::trace::Tracer;
use crate::turn::window::BotName;

/// What the app runs and asks.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) store: Arc<KvStore>,
    pub(super) router: Arc<Router>,
    pub(super) commands: Arc<CommandTable>,
    pub(super) delivery: Arc<dyn Delivery>,
    pub(super) owners: Arc<dyn Owners>,
    pub(super) languages: Languages,
    pub(super) parked: Parked,
    /// The model that answers where no chat has chosen another.
    pub(super) model: String,
}

/// What runs in the background once all is recovered.
pub(super) struct Runners {
    pub(super) scheduler: Scheduler,
    pub(super) retention: Retention,
    pub(super) rewriter: Rewriter,
    pub(super) policy: PolicyWatch,
    pub(super) servers: ServersWatch,
    pub(super) agents: AgentWatch,
    pub(super) poller: Poller,
}

/// All parts, and what runs with them.
pub(super) async fn build(
    settings: &Settings,
    groups: &Groups,
    clock: &Clock,
    additions: &Additions,
) -> Result<(Parts, Runners), Refusal> {
    let providers = providers::table(additions)?;
    let mut bot = bot(settings, &providers, groups, clock).await?;
    let ledger = ledger(&bot.base, &providers).await?;
    bot.base.chats = meaning::chats(&bot.base, &ledger);
    let newest = Newest::default();
    let delivery: Arc<dyn Delivery> = Arc::new(delivery(&bot, newest.clone()));
    let owners: Arc<dyn Owners> = Arc::new(owners(&bot));
    let bus = Bus::new(vec![bot.live.clone()]);
    let telegram = telegram(&bot);
    let tools = Arc::new(registry(&bot.base, &ledger, telegram.clone()));
    let servers = of_servers(&bot.base, bot.servers.clone(), bot.approvers.clone());
    let parts = TurnParts { bus, delivery: delivery.clone(), owners: owners.clone(), tools, servers };
    let turns = turns(&bot.base, ledger.clone(), parts);
    let extractor = turns.extractor.clone();
    let tools = Tools { all: turns.ender.tools.clone(), telegram };
    let mailboxes = Mailboxes::new(Arc::new(turns), groups.front.clone());
    let handles = handles(&bot, ledger.clone(), &mailboxes, extractor.clone(), tools);
    let commands = Arc::new(commands::table(&handles, &additions.commands)?);
    spawn_keepers(&bot, extractor);
    let base = &bot.base;
    let scheduler = scheduler(base, &mailboxes, owners.clone());
    let router = Arc::new(Router {
        me: bot.me.clone(),
        access: settings.access.clone(),
        inbox: base.store.clone(),
        people: base.store.clone(),
        conversations: base.store.clone(),
        settings: base.store.clone(),
        pins: base.store.clone(),
        receptions: base.store.clone(),
        tasks: base.store.clone(),
        mailboxes,
        parked: base.parked.clone(),
        rights: rights(base),
        commands: commands.clone(),
        requests: AccessRequests::new(&handles),
        exchanges: Mutex::default(),
        guesses: Mutex::default(),
        zones: Zones::new(&handles),
        renames: Renames::new(&handles),
        rewordings: Rewordings::new(&handles),
        sessions: base.store.clone(),
        personas: Personas::new(&handles),
        resting: RestingTasks::new(&handles),
        owners: owners.clone(),
        odd_kinds: Mutex::default(),
        clock: clock.clone(),
        newest,
        // What a command shows may still go out while turns are being stopped.
        background: groups.back.clone(),
    });
    let poller = poller(&bot, router.clone());
    let (retention, rewriter) = (retention(base), rewriter(base));
    let (policy, servers) = (policy_watch(base, owners.clone()), servers_watch(&bot, owners.clone()));
    let agents = agent_watch(&bot, agents::names(&providers, Vec::new()), owners.clone());
    let (store, languages, parked) = (base.store.clone(), base.languages.clone(), base.parked.clone());
    let model = ledger.models.default_model().to_string();
    let parts = Parts { store, router, commands, delivery, owners, languages, parked, model };
    Ok((parts, Runners { scheduler, retention, rewriter, policy, servers, agents, poller }))
}

fn owners(bot: &Bot<'_>) -> TelegramOwners {
    let base = &bot.base;
    TelegramOwners {
        sender: late(bot),
        access: base.settings.access.clone(),
        settings: base.store.clone(),
        languages: base.languages.clone(),
    }
}

fn poller(bot: &Bot<'_>, router: Arc<Router>) -> Poller {
    let base = &bot.base;
    Poller {
        api: bot.sender.api.clone(),
        inbox: base.store.clone(),
        router,
        clock: base.clock.clone(),
        background: base.groups.front.clone(),
    }
}

fn delivery(bot: &Bot<'_>, newest: Newest) -> TelegramDelivery {
    let base = &bot.base;
    TelegramDelivery {
        sender: bot.sender.clone(),
        live: bot.live.clone(),
        languages: base.languages.clone(),
        parked: base.parked.clone(),
        tasks: base.store.clone(),
        settings: base.store.clone(),
        undos: base.store.clone(),
        default_zone: base.settings.timezone,
        newest,
        task_cards: task_cards(base),
    }
}

async fn bot<'a>(
    settings: &'a Settings,
    providers: &Providers,
    groups: &'a Groups,
    clock: &Clock,
) -> Result<Bot<'a>, Refusal> {
    let read = Read::all(settings, providers)?;
    let store = open_store(settings).await?;
    let api = Api::new(&settings.telegram).map_err(Refusal)?;
    let http = http_client(&settings.model.proxies)?;
    let embedder = meaning::of_settings(settings, providers, &http, groups, clock).await?;
    let (me, mcp) = tokio::try_join!(who_am_i(&api, settings.telegram.bot), start_mcp(settings, groups))?;
    let limiter =
        Arc::new(if settings.limits.paced { RateLimiter::default() } else { RateLimiter::unpaced() });
    let admins: Arc<dyn Admins> = Arc::new(TelegramAdmins(api.clone()));
    let (outbox, settings_store, background) = (store.clone(), store.clone(), groups.front.clone());
    let sender = Sender { api, limiter, outbox, settings: settings_store, clock: clock.clone(), background };
    let live = Arc::new(Live::new(sender.clone(), groups.back.clone(), read.locales.clone()));
    let languages = Languages { locales: read.locales.clone(), settings: store.clone() };
    let approvers = Approvers {
        access: settings.access.clone(),
        settings: store.clone(),
        admins: admins.clone(),
        grants: Grants::default(),
    };
    let outside = Outside {
        bot: BotName { name: me.name.clone(), username: me.username.clone() },
        admins,
        titles: Arc::new(TelegramTitles(sender.clone())),
        consents: Arc::new(TelegramConsents { sender: sender.clone(), languages, profiles: store.clone() }),
        files: Arc::new(TelegramFiles(sender.api.clone())),
    };
    let ground = Ground { settings, groups, clock: clock.clone(), read, store, http, embedder };
    let base = Base::new(ground, outside);
    let recipe = recipe(&settings.servers.values, &settings.model.proxies, settings.redactor())?;
    let servers = Servers::start(base.servers.servers.clone(), recipe, groups.back.clone());
    Ok(Bot { base, me, mcp, servers, sender, live, approvers })
}

async fn ledger(base: &Base<'_>, providers: &Providers) -> Result<Arc<Ledger>, Refusal> {
    let models: Models = models(&base.settings.model, providers, &base.http)?;
    let models = models.with_outside_search(base.settings.tavily.key.is_some());
    let settings = &base.settings.spending;
    let parts = LedgerParts {
        models: Arc::new(models),
        store: base.store.clone(),
        prices: Prices::new(settings.prices.clone()),
        caps: Caps::from(settings),
        background_percent: settings.background_percent,
        zone: base.settings.timezone,
        clock: base.clock.clone(),
        // What turns that are being stopped have cost is booked still.
        background: base.groups.back.clone(),
    };
    Ledger::open(parts).await.map_err(|error| Refusal(error.to_string()))
}

fn turns(base: &Base<'_>, ledger: Arc<Ledger>, parts: TurnParts) -> Turns {
    let TurnParts { bus, delivery, owners, tools, servers } = parts;
    let extractor = extractor(base, &ledger, &bus);
    let reporter = Reporter { vitals: base.vitals.clone(), clock: base.clock.clone() };
    let (conversations, settings) = (base.store.clone(), base.store.clone());
    let caller = Caller { bus: bus.clone(), clock: base.clock.clone() };
    let ender = Ender {
        conversations: conversations.clone(),
        tasks: base.store.clone(),
        settings: settings.clone(),
        undos: base.store.clone(),
        children: base.store.clone(),
        tools: tools.clone(),
        ledger: ledger.clone(),
        locales: base.languages.locales.clone(),
        notices: Arc::default(),
        parked: base.parked.clone(),
        delivery,
        owners,
        tracer: Tracer { receptions: base.store.clone(), reporter: reporter.clone() },
        reporter: reporter.clone(),
    };
    let (namer, summariser) = (namer(base, &ledger), summariser(base, &ledger));
    let agents = Agents::new(base.prompts.clone(), tools, servers);
    let preparer = preparer(base, &ledger, agents, Telling { reporter: reporter.clone(), bus: bus.clone() });
    let executor = Executor {
        ledger,
        caller,
        parked: base.parked.clone(),
        admins: base.outside.admins.clone(),
        reporter: reporter.clone(),
    };
    let children = Children {
        agents: preparer.agents.clone(),
        executor: executor.clone(),
        prompts: base.prompts.clone(),
        store: base.store.clone(),
        conversations: conversations.clone(),
        max_passes: base.settings.limits.max_passes,
        tokens: TREE_TOKENS,
        reporter: reporter.clone(),
    };
    Turns {
        rights: rights(base),
        parked: base.parked.clone(),
        preparer,
        executor,
        children,
        ender,
        namer,
        summariser,
        extractor,
        vectors: meaning::vectors(base),
        conversations,
        tasks: base.store.clone(),
        languages: base.languages.clone(),
        bus,
        reporter,
    }
}

/// What turns are told and answered by, the tools of all agents together, and those of other servers.
struct TurnParts {
    bus: Bus,
    delivery: Arc<dyn Delivery>,
    owners: Arc<dyn Owners>,
    tools: Arc<Registry>,
    servers: ServerTools,
}

/// Where turns tell of what happens in them.
struct Telling {
    reporter: Reporter,
    bus: Bus,
}

fn rights(base: &Base<'_>) -> Rights {
    Rights {
        access: base.settings.access.clone(),
        settings: base.store.clone(),
        inbox: base.store.clone(),
        conversations: base.store.clone(),
        tasks: base.store.clone(),
        clock: base.clock.clone(),
    }
}

fn preparer(base: &Base<'_>, ledger: &Ledger, agents: Agents, telling: Telling) -> Preparer {
    let Telling { reporter, bus } = telling;
    let limits = &base.settings.limits;
    let contexts = Contexts {
        chats: base.chats.clone(),
        prompts: base.prompts.clone(),
        choices: Choices::default(),
        reporter: reporter.clone(),
    };
    let loader = Loader {
        contexts,
        conversations: base.store.clone(),
        notes: base.store.clone(),
        pins: base.store.clone(),
        summaries: base.store.clone(),
        facts: base.store.clone(),
        files: base.outside.files.clone(),
        prompts: base.prompts.clone(),
        models: ledger.models.clone(),
        bot: base.outside.bot.clone(),
        default_zone: base.settings.timezone,
        history_tokens: limits.history_tokens,
        reporter: reporter.clone(),
    };
    Preparer {
        loader,
        children: base.store.clone(),
        conversations: base.store.clone(),
        settings: base.store.clone(),
        sessions: base.store.clone(),
        profiles: base.store.clone(),
        agents,
        personas: PersonaLoader { prompts: base.prompts.clone(), store: base.store.clone() },
        models: ledger.models.clone(),
        bus,
        locales: base.languages.locales.clone(),
        max_passes: limits.max_passes,
        reporter,
    }
}
