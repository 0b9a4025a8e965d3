//! The tools of the bot.

use std::sync::Arc;

use chrono::TimeDelta;
use figaro_mcp::catalog::{Catalog, Choice};

use super::base::Base;
use crate::ledger::Ledger;
use crate::store::TaskLimits;
use crate::tools::Registry;
use crate::tools::builtin::{BuiltIn, ToolTable, register_telegram};
use crate::tools::config::ConfigTools;
use crate::tools::grounded::Grounded;
use crate::tools::recall::MemoryTools;
use crate::tools::tasks::{TaskReader, TaskTools};
use crate::tools::tavily::Tavily;
use crate::tools::telegram::TelegramTools;
use crate::tools::web::WebSearch;

/// The calls of the Bot API.
pub(super) fn telegram(base: &Base<'_>) -> TelegramTools {
    TelegramTools {
        catalog: Arc::new(Catalog::new(&Choice::default())),
        mcp: base.mcp.clone(),
        limiter: base.sender.limiter.clone(),
        outbox: base.store.clone(),
        audit: base.store.clone(),
        undos: base.store.clone(),
        approvers: base.approvers.clone(),
        policy: base.policy.clone(),
        people: base.store.clone(),
        tasks: base.store.clone(),
        counting: Arc::default(),
    }
}

/// Every tool there is.
pub(super) fn registry(base: &Base<'_>, ledger: &Arc<Ledger>, telegram: TelegramTools) -> Registry {
    let (store, tasks, admins) = (base.store.clone(), base.store.clone(), base.admins.clone());
    let (http, tavily) = (&base.http, &base.settings.tavily);
    let service = |key| -> Arc<dyn WebSearch> { Arc::new(Tavily::new(http.clone(), &tavily.base_url, key)) };
    let search = Grounded { ledger: ledger.clone(), otherwise: tavily.key.clone().map(service) };
    let scheduling = task_tools(base, ledger);
    let built_in = BuiltIn {
        notes: base.store.clone(),
        pins: base.store.clone(),
        profiles: base.store.clone(),
        conversations: base.store.clone(),
        memory: MemoryTools {
            chats: base.chats.clone(),
            settings: base.store.clone(),
            default_zone: base.settings.timezone,
        },
        config: ConfigTools { store, tasks, admins },
        tasks: scheduling.clone(),
        web: Arc::new(search),
    };
    let mut table = ToolTable::default();
    built_in.register(&mut table);
    register_telegram(telegram, scheduling, &mut table);
    table.registry()
}

fn task_tools(base: &Base<'_>, ledger: &Ledger) -> TaskTools {
    let settings = base.settings.tasks;
    TaskTools {
        store: base.store.clone(),
        admins: base.admins.clone(),
        limits: TaskLimits { per_chat: settings.per_chat, per_user: settings.per_user },
        reader: TaskReader {
            settings: base.store.clone(),
            models: ledger.models.clone(),
            min_interval: TimeDelta::from_std(settings.min_interval).unwrap_or(TimeDelta::MAX),
            default_zone: base.settings.timezone,
        },
    }
}
