//! What looks after the store and the rules in the background.

use std::sync::Arc;

use super::base::{Base, Bot};
use super::handles::task_cards;
use crate::app::agents::AgentWatch;
use crate::app::packs::PackWatch;
use crate::app::policy::PolicyWatch;
use crate::app::servers::ServersWatch;
use crate::app::watch::News;
use figaro_agent::delivery::Owners;
use figaro_agent::retention::{Retention, Rewriter};
use figaro_agent::scheduler::Scheduler;
use figaro_agent::turn::extraction::Extractor;
use figaro_agent::turn::queue::Mailboxes;
use figaro_agent::turn::summaries::Summariser;
use figaro_prompts::Names;
use figaro_telegram::commands::CardKeeper;
use figaro_telegram::questions::take_buttons_off;

/// What forgets by age.
pub(super) fn retention(base: &Base) -> Retention {
    Retention {
        inbox: base.store.inbox(),
        settings: base.store.settings(),
        facts: base.store.facts(),
        audit: base.store.audit(),
        children: base.store.children(),
        undos: base.store.undos(),
        tasks: base.store.tasks(),
        receptions: base.store.receptions(),
        audit_kept: base.settings.store.audit_kept,
        kept: base.settings.store.kept,
        clock: base.clock.clone(),
        background: base.groups.front.clone(),
    }
}

/// What rewrites the store when something was erased.
pub(super) fn rewriter(base: &Base) -> Rewriter {
    Rewriter {
        erasures: base.store.erasures(),
        after: base.settings.store.rewritten_after,
        clock: base.clock.clone(),
        background: base.groups.front.clone(),
    }
}

/// What has a change of the owner's rules hold.
pub(super) fn policy_watch(bot: &Bot, news: News) -> PolicyWatch {
    let base = &bot.base;
    PolicyWatch {
        file: base.settings.policy.file.clone(),
        text: bot.policy_text.clone(),
        policy: base.policy.clone(),
        news,
        background: base.groups.front.clone(),
    }
}

/// What has a change of the owner's other MCP servers hold.
pub(super) fn servers_watch(bot: &Bot, news: News) -> ServersWatch {
    let base = &bot.base;
    ServersWatch {
        settings: base.settings.servers.clone(),
        text: bot.described.text.clone(),
        servers: bot.servers.clone(),
        news,
        background: base.groups.front.clone(),
    }
}

/// What has a change of the owner's agents hold.
pub(super) fn agent_watch(bot: &Bot, names: Names, news: News) -> AgentWatch {
    let base = &bot.base;
    AgentWatch {
        prompts: base.prompts.clone(),
        names,
        servers: bot.servers.clone(),
        known: None,
        news,
        background: base.groups.front.clone(),
    }
}

/// What has a change of the owner's packs hold.
pub(super) fn pack_watch(base: &Base, news: News) -> PackWatch {
    PackWatch {
        prompts: base.prompts.clone(),
        records: base.store.records(),
        known: None,
        news,
        background: base.groups.front.clone(),
    }
}

/// What runs beside turns from the start on.
pub(super) fn spawn_keepers(bot: &Bot, extractor: Extractor, summariser: Summariser) {
    let base = &bot.base;
    let front = &base.groups.front;
    front.spawn("task_cards", keeper(bot).run());
    front.spawn(
        "questions",
        take_buttons_off(base.parked.clone(), base.languages.clone(), bot.sender.clone()),
    );
    front.spawn("memory", base.chats.clone().tend(front.clone()));
    front.spawn("extractions", extractor.tend());
    front.spawn("summaries", summariser.run());
}

fn keeper(bot: &Bot) -> CardKeeper {
    let base = &bot.base;
    CardKeeper {
        cards: task_cards(base),
        sender: bot.sender.clone(),
        store: base.store.tasks(),
        background: base.groups.front.clone(),
    }
}

/// What begins the runs of tasks.
pub(super) fn scheduler(base: &Base, mailboxes: &Mailboxes, owners: Arc<dyn Owners>) -> Scheduler {
    Scheduler {
        store: base.store.tasks(),
        access: base.settings.access.clone(),
        settings: base.store.settings(),
        conversations: base.store.conversations(),
        mailboxes: mailboxes.clone(),
        languages: base.languages.clone(),
        owners,
        clock: base.clock.clone(),
        background: base.groups.front.clone(),
    }
}
