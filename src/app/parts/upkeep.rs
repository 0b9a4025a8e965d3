//! Background upkeep of the store and of the owner's files.

use std::sync::Arc;

use super::base::{Base, Bot};
use super::handles::task_cards;
use crate::app::agents::AgentFolder;
use crate::app::backup::{BackupKeeper, BackupPlan};
use crate::app::failure::StartupError;
use crate::app::host::Host;
use crate::app::packs::PackFolder;
use crate::app::personas::PersonaFolder;
use crate::app::policy::PolicyFile;
use crate::app::servers::ServersFile;
use crate::app::watch::{FileWatch, News, WatchTurns};
use figaro_agent::delivery::Owners;
use figaro_agent::retention::{Retention, Rewriter};
use figaro_agent::scheduler::Scheduler;
use figaro_agent::turn::extraction::Extractor;
use figaro_agent::turn::queue::Mailboxes;
use figaro_agent::turn::summaries::Summariser;
use figaro_base::shutdown::TaskTracker;
use figaro_prompts::AgentFileNames;
use figaro_telegram::commands::CardKeeper;
use figaro_telegram::questions::take_buttons_off;

/// Builds the retention worker, which removes data by age.
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

/// Builds the rewriter, which rewrites the store after an erasure.
pub(super) fn rewriter(base: &Base) -> Rewriter {
    Rewriter {
        erasures: base.store.erasures(),
        after: base.settings.store.rewritten_after,
        clock: base.clock.clone(),
        background: base.groups.front.clone(),
    }
}

/// Builds the worker that makes backups; `None` if there are to be none.
///
/// # Errors
/// When the settings of backups are wrong.
pub(super) fn backups(base: &Base, host: &Host, news: &News) -> Result<Option<BackupKeeper>, StartupError> {
    let keeper = |plan| BackupKeeper {
        plan,
        stores: host.stores().clone(),
        news: (!host.has_many()).then(|| news.clone()),
        clock: base.clock.clone(),
        background: base.groups.front.clone(),
    };
    Ok(BackupPlan::of(&base.settings)?.map(keeper))
}

/// Watchers that apply changes of the owner's files while the bot runs.
pub(in crate::app) struct Watches {
    policy: FileWatch<PolicyFile>,
    servers: FileWatch<ServersFile>,
    agents: FileWatch<AgentFolder>,
    packs: FileWatch<PackFolder>,
    personas: FileWatch<PersonaFolder>,
}

impl Watches {
    /// Creates the watchers of a bot. `names` are the names that agent files may use.
    pub(super) fn new(bot: &Bot, names: AgentFileNames, news: &News) -> Self {
        let base = &bot.base;
        let policy = PolicyFile {
            file: base.settings.policy.file.clone(),
            text: bot.policy_text.clone(),
            policy: base.policy.clone(),
        };
        let servers = ServersFile {
            settings: base.settings.servers.clone(),
            text: bot.servers_text.clone(),
            servers: bot.servers.clone(),
        };
        let folder = base.settings.agents.clone();
        let (prompts, clock, servers_of_bot) =
            (base.prompts.clone(), base.clock.clone(), bot.servers.clone());
        let agents = AgentFolder { folder, prompts, clock, names, servers: servers_of_bot };
        let (prompts, clock) = (base.prompts.clone(), base.clock.clone());
        let packs = PackFolder { prompts, clock, rules: base.store.pack_rules() };
        let personas = PersonaFolder { prompts: base.prompts.clone() };
        let background = || base.groups.front.clone();
        Self {
            policy: FileWatch::new(policy, news.clone(), background()),
            servers: FileWatch::new(servers, news.clone(), background()),
            agents: FileWatch::new(agents, news.clone(), background()),
            packs: FileWatch::new(packs, news.clone(), background()),
            personas: FileWatch::new(personas, news.clone(), background()),
        }
    }

    /// Starts all watchers; they run until the bot stops. Of several bots with the same files one watches at a time.
    pub(in crate::app) fn spawn(self, turns: WatchTurns, front: &TaskTracker) {
        let (agents, stopping) = (self.agents, front.clone());
        front.spawn("agents", async move { turns.agents.run(agents.run(), &stopping).await });
        let stopping = front.clone();
        front.spawn("files", async move {
            let all = async {
                tokio::join!(self.policy.run(), self.servers.run(), self.packs.run(), self.personas.run());
            };
            turns.others.run(all, &stopping).await;
        });
    }
}

/// Starts the background workers that run from the start.
pub(super) fn spawn_keepers(bot: &Bot, extractor: Extractor, summariser: Summariser) {
    let base = &bot.base;
    let front = &base.groups.front;
    front.spawn("task_cards", keeper(bot).run());
    front.spawn(
        "questions",
        take_buttons_off(base.parked.clone(), base.languages.clone(), bot.sender.clone()),
    );
    front.spawn("memory", base.chats.clone().tend(front.clone()));
    front.spawn("documents", base.documents.search.clone().tend(front.clone()));
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

/// Builds the scheduler, which starts the runs of tasks.
pub(super) fn scheduler(base: &Base, mailboxes: &Mailboxes, owners: Arc<dyn Owners>) -> Scheduler {
    Scheduler {
        store: base.store.tasks(),
        access: base.settings.access.clone(),
        settings: base.store.settings(),
        conversations: base.store.conversations(),
        mailboxes: mailboxes.clone(),
        languages: base.languages.clone(),
        owners,
        default_zone: base.settings.timezone,
        clock: base.clock.clone(),
        background: base.groups.front.clone(),
    }
}
