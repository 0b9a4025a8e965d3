//! Stages of turns of any channel.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::background::{namer, summariser};
use super::base::Base;
use super::meaning;
use super::memories::extractor;
use super::tools::record_tools;
use figaro_agent::delivery::{Bus, Delivery, Owners};
use figaro_agent::tools::Registry;
use figaro_agent::tools::servers::ServerTools;
use figaro_agent::turn::children::Children;
use figaro_agent::turn::end::Ender;
use figaro_agent::turn::execute::Executor;
use figaro_agent::turn::execute::calls::ToolCaller;
use figaro_agent::turn::extraction::Extractor;
use figaro_agent::turn::naming::Namer;
use figaro_agent::turn::pipeline::Turns;
use figaro_agent::turn::prepare::{
    AgentCatalog, Choices, Contexts, FileLoader, Loader, PersonaLoader, Preparer,
};
use figaro_agent::turn::report::Reporter;
use figaro_agent::turn::rights::RightsChecker;
use figaro_agent::turn::spending::SpendingNotices;
use figaro_agent::turn::summaries::Summariser;
use figaro_agent::turn::trace::Tracer;
use figaro_agent::turn::transcription::{AT_ONCE, Transcription};
use figaro_ledger::Ledger;
use figaro_policy::budget::TREE_TOKENS;

/// Builds the stages of turns of this base.
pub(super) fn turns(base: &Base, ledger: Arc<Ledger>, parts: TurnParts) -> Turns {
    let TurnParts { bus, delivery, owners, tools, servers, background } = parts;
    let reporter = Reporter { vitals: base.vitals.clone(), clock: base.clock.clone() };
    let caller = ToolCaller { bus: bus.clone(), clock: base.clock.clone(), audit: base.store.audit() };
    let ender = ender(base, &ledger, tools.clone(), (delivery, owners), &reporter);
    let agents = AgentCatalog::new(base.prompts.clone(), tools, servers);
    let reporting = TurnReporting { reporter: reporter.clone(), bus: bus.clone() };
    let transcription = transcription(base, &ledger);
    let preparer = preparer(base, &ledger, agents, reporting);
    let executor = Executor {
        ledger,
        caller,
        parked: base.parked.clone(),
        admins: base.channel.clone(),
        reporter: reporter.clone(),
    };
    let children = Children {
        agents: preparer.agents.clone(),
        executor: executor.clone(),
        prompts: base.prompts.clone(),
        store: base.store.children(),
        conversations: base.store.conversations(),
        max_passes: base.settings.limits.max_passes,
        tokens: TREE_TOKENS,
        reporter: reporter.clone(),
    };
    Turns {
        rights: rights(base),
        transcription,
        parked: base.parked.clone(),
        preparer,
        executor,
        children,
        ender,
        namer: background.namer,
        summariser: background.summariser,
        extractor: background.extractor,
        vectors: meaning::vectors(base),
        conversations: base.store.conversations(),
        tasks: base.store.tasks(),
        languages: base.languages.clone(),
        bus,
        reporter,
    }
}

/// Builds the stage that ends turns.
fn ender(
    base: &Base,
    ledger: &Arc<Ledger>,
    tools: Arc<Registry>,
    channel: (Arc<dyn Delivery>, Arc<dyn Owners>),
    reporter: &Reporter,
) -> Ender {
    let (delivery, owners) = channel;
    let spending = SpendingNotices {
        ledger: ledger.clone(),
        settings: base.store.settings(),
        locales: base.languages.locales.clone(),
        owners: owners.clone(),
        background: base.groups.front.clone(),
        reporter: reporter.clone(),
    };
    Ender {
        conversations: base.store.conversations(),
        tasks: base.store.tasks(),
        settings: base.store.settings(),
        speaks: base.services.voice.is_some(),
        background: base.groups.front.clone(),
        undos: base.store.undos(),
        children: base.store.children(),
        tools,
        ledger: ledger.clone(),
        locales: base.languages.locales.clone(),
        spending,
        default_zone: base.settings.timezone,
        notices: Arc::default(),
        refusals: Arc::default(),
        parked: base.parked.clone(),
        delivery,
        owners,
        tracer: Tracer { receptions: base.store.receptions(), reporter: reporter.clone() },
        reporter: reporter.clone(),
    }
}

/// Builds the transcription of sounds.
fn transcription(base: &Base, ledger: &Arc<Ledger>) -> Transcription {
    Transcription {
        transcriber: base.services.transcriber.clone(),
        ledger: ledger.clone(),
        channel: base.channel.clone(),
        background: base.groups.front.clone(),
        places: Arc::new(Semaphore::new(AT_ONCE)),
    }
}

/// Channel-specific parts of turns: event bus, delivery, owners, tools, MCP server tools and background workers.
pub(super) struct TurnParts {
    pub(super) bus: Bus,
    pub(super) delivery: Arc<dyn Delivery>,
    pub(super) owners: Arc<dyn Owners>,
    pub(super) tools: Arc<Registry>,
    pub(super) servers: ServerTools,
    pub(super) background: Background,
}

pub(super) struct Background {
    pub(super) extractor: Extractor,
    pub(super) namer: Namer,
    pub(super) summariser: Summariser,
}

impl Background {
    /// Builds the background workers of the turns of this base.
    pub(super) fn of(base: &Base, ledger: &Arc<Ledger>, bus: &Bus) -> Self {
        let extractor = extractor(base, ledger, bus);
        let summariser = summariser(base, ledger, extractor.clone());
        Self { extractor, namer: namer(base, ledger), summariser }
    }
}

/// Reporting of events and faults of turns.
struct TurnReporting {
    reporter: Reporter,
    bus: Bus,
}

/// Builds the check of the user's rights at the start of a turn.
pub(super) fn rights(base: &Base) -> RightsChecker {
    RightsChecker {
        access: base.settings.access.clone(),
        settings: base.store.settings(),
        inbox: base.store.inbox(),
        conversations: base.store.conversations(),
        tasks: base.store.tasks(),
        clock: base.clock.clone(),
    }
}

fn preparer(base: &Base, ledger: &Arc<Ledger>, agents: AgentCatalog, telling: TurnReporting) -> Preparer {
    let TurnReporting { reporter, bus } = telling;
    let limits = &base.settings.limits;
    let contexts = Contexts {
        chats: base.chats.clone(),
        prompts: base.prompts.clone(),
        choices: Choices::default(),
        reporter: reporter.clone(),
    };
    let loader = Loader {
        contexts,
        conversations: base.store.conversations(),
        notes: base.store.notes(),
        pins: base.store.pins(),
        summaries: base.store.summaries(),
        facts: base.store.facts(),
        files: FileLoader {
            channel: base.channel.clone(),
            documents: base.documents.clone(),
            pages: base.pages.clone(),
            models: ledger.models.clone(),
            reporter: reporter.clone(),
        },
        prompts: base.prompts.clone(),
        models: ledger.models.clone(),
        bot: base.bot.clone(),
        default_zone: base.settings.timezone,
        history_tokens: limits.history_tokens,
        reporter: reporter.clone(),
    };
    Preparer {
        loader,
        children: base.store.children(),
        conversations: base.store.conversations(),
        settings: base.store.settings(),
        sessions: base.store.sessions(),
        profiles: base.store.profiles(),
        agents,
        records: record_tools(base, ledger),
        personas: PersonaLoader { prompts: base.prompts.clone(), store: base.store.personas() },
        models: ledger.models.clone(),
        ledger: ledger.clone(),
        bus,
        locales: base.languages.locales.clone(),
        max_passes: limits.max_passes,
        reporter,
    }
}
