//! Tools of the bot.

use std::sync::Arc;

use chrono::TimeDelta;
use figaro_mcp::catalog::{Catalog, MethodSelection};
use tokio::sync::Semaphore;

use super::base::{Base, Bot};
use figaro_agent::tools::builtin::{BuiltIn, ToolTable, register_telegram};
use figaro_agent::tools::config::ConfigTools;
use figaro_agent::tools::counts::TurnCounts;
use figaro_agent::tools::documents::DocumentTools;
use figaro_agent::tools::draw::{AT_ONCE, DrawTools};
use figaro_agent::tools::grounded::Grounded;
use figaro_agent::tools::pages::PageTools;
use figaro_agent::tools::recall::MemoryTools;
use figaro_agent::tools::records::RecordTools;
use figaro_agent::tools::servers::ServerTools;
use figaro_agent::tools::tasks::{TaskReader, TaskTools};
use figaro_agent::tools::tavily::Tavily;
use figaro_agent::tools::telegram::{Approvers, Grants, TelegramTools};
use figaro_agent::tools::web::WebSearch;
use figaro_agent::tools::{Registry, ToolNeed};
use figaro_ledger::Ledger;
use figaro_mcp_client::servers::Servers;
use figaro_memory::RecordBooks;
use figaro_store::TaskLimits;

/// Builds the tools of the Bot API.
pub(super) fn telegram(bot: &Bot) -> TelegramTools {
    let base = &bot.base;
    TelegramTools {
        catalog: Arc::new(Catalog::new(&MethodSelection::default())),
        mcp: bot.mcp.clone(),
        bot: bot.me.id,
        limiter: bot.sender.limiter.clone(),
        outbox: base.store.outbox(),
        said: base.store.erasures(),
        audit: base.store.audit(),
        undos: base.store.undos(),
        approvers: bot.approvers.clone(),
        policy: base.policy.clone(),
        people: base.store.people(),
        tasks: base.store.tasks(),
        counting: Arc::default(),
    }
}

/// Builds the tools of other MCP servers.
pub(super) fn of_servers(base: &Base, servers: Servers, approvers: Approvers) -> ServerTools {
    ServerTools { servers, approvers, policy: base.policy.clone(), audit: base.store.audit() }
}

/// Builds the approvers of calls in the chats of this base.
pub(super) fn approvers(base: &Base) -> Approvers {
    Approvers {
        access: base.settings.access.clone(),
        settings: base.store.settings(),
        admins: base.channel.clone(),
        grants: Grants::default(),
    }
}

/// Builds the registry of all tools.
pub(super) fn registry(base: &Base, ledger: &Arc<Ledger>, telegram: TelegramTools) -> Registry {
    let mut table = built_in(base, ledger);
    register_telegram(telegram, task_tools(base, ledger), &mut table);
    table.registry()
}

/// Builds the tools that work without a chat: none for Telegram, for scheduling or for chat settings.
pub(super) fn without_chat(base: &Base, ledger: &Arc<Ledger>) -> Registry {
    built_in(base, ledger).without(ToolNeed::Chat).registry()
}

/// Builds the tools that work without a chat and without a kept store.
pub(super) fn alone(base: &Base, ledger: &Arc<Ledger>) -> Registry {
    built_in(base, ledger).without(ToolNeed::Chat).without(ToolNeed::Memory).registry()
}

fn built_in(base: &Base, ledger: &Arc<Ledger>) -> ToolTable {
    let (store, tasks, admins) = (base.store.clone(), base.store.clone(), base.channel.clone());
    let (http, tavily) = (&base.http, &base.settings.tavily);
    let service = |key| -> Arc<dyn WebSearch> { Arc::new(Tavily::new(http.clone(), &tavily.base_url, key)) };
    let search = Grounded { ledger: ledger.clone(), otherwise: tavily.key.clone().map(service) };
    let built_in = BuiltIn {
        notes: base.store.notes(),
        pins: base.store.pins(),
        profiles: base.store.profiles(),
        conversations: base.store.conversations(),
        records: record_tools(base, ledger),
        documents: DocumentTools {
            store: base.store.documents(),
            search: base.documents.search.clone(),
            settings: base.store.settings(),
            default_zone: base.settings.timezone,
        },
        pages: PageTools {
            pages: base.pages.clone(),
            documents: base.documents.clone(),
            approvers: approvers(base),
            audit: base.store.audit(),
            counts: TurnCounts::default(),
        },
        draw: DrawTools {
            painter: base.services.painter.clone(),
            ledger: ledger.clone(),
            channel: base.channel.clone(),
            last: base.pictures.clone(),
            counts: TurnCounts::default(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
        },
        memory: MemoryTools {
            chats: base.chats.clone(),
            settings: base.store.settings(),
            default_zone: base.settings.timezone,
        },
        config: ConfigTools { store: store.settings(), tasks: tasks.tasks(), admins },
        tasks: task_tools(base, ledger),
        web: Arc::new(search),
    };
    let mut table = ToolTable::default();
    built_in.register(&mut table);
    table
}

pub(super) fn record_books(base: &Base) -> RecordBooks {
    RecordBooks {
        store: base.store.records(),
        settings: base.store.settings(),
        prompts: base.prompts.clone(),
        default_zone: base.settings.timezone,
    }
}

pub(super) fn record_tools(base: &Base, ledger: &Ledger) -> RecordTools {
    RecordTools { books: record_books(base), tasks: task_tools(base, ledger) }
}

pub(super) fn task_tools(base: &Base, ledger: &Ledger) -> TaskTools {
    let settings = base.settings.tasks;
    TaskTools {
        store: base.store.tasks(),
        records: base.store.records(),
        admins: base.channel.clone(),
        limits: TaskLimits { per_chat: settings.per_chat, per_user: settings.per_user },
        reader: TaskReader {
            settings: base.store.settings(),
            models: ledger.models.clone(),
            prompts: base.prompts.clone(),
            min_interval: TimeDelta::from_std(settings.min_interval).unwrap_or(TimeDelta::MAX),
            default_zone: base.settings.timezone,
        },
    }
}
