//! Builds every part of the bot and wires them. Called once by [`super::run`].

mod background;
mod base;
mod handles;
mod meaning;
mod memories;
mod tools;
mod upkeep;

use std::path::Path;
use std::sync::{Arc, Mutex};

use self::background::{namer, summariser};
use self::base::Base;
use self::handles::{Tools, handles, late, task_cards};
use self::memories::extractor;
use self::tools::{agents, registry, telegram};
use self::upkeep::{policy_watch, retention, rewriter, scheduler, spawn_keepers};
use super::additions::Additions;
use super::commands;
use super::environment::{http_client, open_store, start_mcp};
use super::failure::Refusal;
use super::groups::Groups;
use super::identity::who_am_i;
use super::models::models;
use super::policy::{self, PolicyWatch};
use super::providers;
use crate::clock::Clock;
use crate::config::Settings;
use crate::delivery::{Bus, Delivery, Owners};
use crate::languages::Languages;
use crate::ledger::{Ledger, LedgerParts};
use crate::memory::Chats;
use crate::outbound::RateLimiter;
use crate::policy::access::Admins;
use crate::policy::budget::Caps;
use crate::policy::tools::Policy;
use crate::prompts::texts::Locales;
use crate::prompts::{OWN_FOLDER, Prompts};
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
use crate::telegram::delivery::TelegramDelivery;
use crate::telegram::files::TelegramFiles;
use crate::telegram::live::Live;
use crate::telegram::newest::Newest;
use crate::telegram::owners::TelegramOwners;
use crate::telegram::poller::Poller;
use crate::telegram::router::Router;
use crate::telegram::send::Sender;
use crate::telemetry::vitals::Vitals;
use crate::tools::Registry;
use crate::tools::telegram::{Approvers, Grants, TelegramTools};
use crate::turn::end::Ender;
use crate::turn::execute::Executor;
use crate::turn::execute::calls::Caller;
use crate::turn::extraction::Extractor;
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
    let mut base = base(settings, &providers, groups, clock).await?;
    let models = models(&settings.model, &providers, &base.http)?;
    let models = models.with_outside_search(settings.tavily.key.is_some());
    let ledger = ledger(&base, models).await?;
    base.chats = meaning::chats(&base, &ledger);
    let newest = Newest::default();
    let delivery: Arc<dyn Delivery> = Arc::new(delivery(&base, newest.clone()));
    let owners: Arc<dyn Owners> = Arc::new(owners(&base));
    let bus = Bus::new(vec![base.live.clone()]);
    let extractor = extractor(&base, &ledger, &bus);
    let telegram = telegram(&base);
    let parts = TurnParts { bus, extractor: extractor.clone(), telegram: telegram.clone() };
    let turns = turns(&base, ledger.clone(), delivery.clone(), owners.clone(), parts);
    let tools = Tools { all: turns.ender.tools.clone(), telegram };
    let mailboxes = Mailboxes::new(Arc::new(turns), groups.front.clone());
    let handles = handles(&base, ledger.clone(), &mailboxes, extractor.clone(), tools);
    let commands = Arc::new(commands::table(&handles, &additions.commands)?);
    spawn_keepers(&base, extractor);
    let scheduler = scheduler(&base, &mailboxes, owners.clone());
    let router = Arc::new(Router {
        me: base.me.clone(),
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
        rights: rights(&base),
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
    let poller = poller(&base, router.clone());
    let (retention, rewriter) = (retention(&base), rewriter(&base));
    let policy = policy_watch(&base, owners.clone());
    let (store, languages, parked) = (base.store, base.languages, base.parked);
    let model = ledger.models.default_model().to_string();
    let parts = Parts { store, router, commands, delivery, owners, languages, parked, model };
    Ok((parts, Runners { scheduler, retention, rewriter, policy, poller }))
}

fn owners(base: &Base<'_>) -> TelegramOwners {
    TelegramOwners {
        sender: late(base),
        access: base.settings.access.clone(),
        settings: base.store.clone(),
        languages: base.languages.clone(),
    }
}

fn poller(base: &Base<'_>, router: Arc<Router>) -> Poller {
    Poller {
        api: base.sender.api.clone(),
        inbox: base.store.clone(),
        router,
        clock: base.clock.clone(),
        background: base.groups.front.clone(),
    }
}

fn delivery(base: &Base<'_>, newest: Newest) -> TelegramDelivery {
    TelegramDelivery {
        sender: base.sender.clone(),
        live: base.live.clone(),
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

async fn base<'a>(
    settings: &'a Settings,
    providers: &Providers,
    groups: &'a Groups,
    clock: &Clock,
) -> Result<Base<'a>, Refusal> {
    let refuse = |words: String| Refusal(words);
    let prompts = Arc::new(Prompts::load(Some(Path::new(OWN_FOLDER))).map_err(refuse)?);
    let (policy_text, rules) = policy::load(&settings.policy).map_err(refuse)?;
    let locales = Arc::new(Locales::load().map_err(refuse)?);
    let store = open_store(settings).await?;
    let api = Api::new(&settings.telegram).map_err(refuse)?;
    let http = http_client(&settings.model.proxies)?;
    let embedder = meaning::of_settings(settings, providers, &http, groups, clock).await?;
    let (me, mcp) = tokio::try_join!(who_am_i(&api, settings.telegram.bot), start_mcp(settings, groups))?;
    let limiter =
        Arc::new(if settings.limits.paced { RateLimiter::default() } else { RateLimiter::unpaced() });
    let admins: Arc<dyn Admins> = Arc::new(TelegramAdmins(api.clone()));
    let (outbox, settings_store, background) = (store.clone(), store.clone(), groups.front.clone());
    let sender = Sender { api, limiter, outbox, settings: settings_store, clock: clock.clone(), background };
    let live = Arc::new(Live::new(sender.clone(), groups.back.clone(), locales.clone()));
    let languages = Languages { locales, settings: store.clone() };
    let vitals = Arc::new(Vitals::new(clock.now()));
    let parked = Parked::new(store.clone(), store.clone(), clock.clone());
    let chats = Chats::new(store.clone(), clock.clone());
    let approvers = Approvers {
        access: settings.access.clone(),
        settings: store.clone(),
        admins: admins.clone(),
        grants: Grants::default(),
    };
    let clock = clock.clone();
    Ok(Base {
        settings,
        groups,
        clock,
        store,
        me,
        http,
        mcp,
        sender,
        live,
        prompts,
        languages,
        vitals,
        admins,
        approvers,
        policy: Policy::new(Arc::new(rules)),
        policy_text,
        parked,
        chats,
        embedder,
    })
}

async fn ledger(base: &Base<'_>, models: Models) -> Result<Arc<Ledger>, Refusal> {
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

fn turns(
    base: &Base<'_>,
    ledger: Arc<Ledger>,
    delivery: Arc<dyn Delivery>,
    owners: Arc<dyn Owners>,
    parts: TurnParts,
) -> Turns {
    let TurnParts { bus, extractor, telegram } = parts;
    let tools = Arc::new(registry(base, &ledger, telegram));
    let reporter = Reporter { vitals: base.vitals.clone(), clock: base.clock.clone() };
    let (conversations, settings) = (base.store.clone(), base.store.clone());
    let caller = Caller { store: conversations.clone(), bus: bus.clone(), clock: base.clock.clone() };
    let ender = Ender {
        conversations: conversations.clone(),
        tasks: base.store.clone(),
        settings: settings.clone(),
        undos: base.store.clone(),
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
    Turns {
        rights: rights(base),
        parked: base.parked.clone(),
        preparer: preparer(base, &ledger, tools, reporter.clone()),
        executor: Executor {
            ledger,
            caller,
            parked: base.parked.clone(),
            admins: base.admins.clone(),
            reporter: reporter.clone(),
        },
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

/// What turns share with what runs beside them.
struct TurnParts {
    bus: Bus,
    extractor: Extractor,
    telegram: TelegramTools,
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

fn preparer(base: &Base<'_>, ledger: &Ledger, tools: Arc<Registry>, reporter: Reporter) -> Preparer {
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
        files: Arc::new(TelegramFiles(base.sender.api.clone())),
        prompts: base.prompts.clone(),
        models: ledger.models.clone(),
        bot: BotName { name: base.me.name.clone(), username: base.me.username.clone() },
        default_zone: base.settings.timezone,
        history_tokens: limits.history_tokens,
        reporter: reporter.clone(),
    };
    Preparer {
        loader,
        conversations: base.store.clone(),
        settings: base.store.clone(),
        sessions: base.store.clone(),
        profiles: base.store.clone(),
        agents: Agents {
            prompts: base.prompts.clone(),
            tools: agents(&base.prompts, &tools),
            all_tools: tools,
        },
        personas: PersonaLoader { prompts: base.prompts.clone(), store: base.store.clone() },
        models: ledger.models.clone(),
        locales: base.languages.locales.clone(),
        max_passes: limits.max_passes,
        reporter,
    }
}
