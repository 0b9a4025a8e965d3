//! Turns that draft replies to the customers of connected accounts.

use std::sync::Arc;

use async_trait::async_trait;

use super::base::{Base, Bot};
use super::gateway::of_callers;
use super::handles::late;
use super::stateless::StatelessTurns;
use figaro_agent::delivery::{Bus, Owners};
use figaro_agent::tools::servers::ServerTools;
use figaro_agent::turn::control::Control;
use figaro_agent::turn::queue::{Job, Runner};
use figaro_ledger::Ledger;
use figaro_telegram::business::{Desk, Drafts};
use figaro_telegram::delivery::{DraftDelivery, ElsewhereChannel};

/// Runs stateless turns, and has the draft of each shown.
#[derive(Debug)]
struct DraftRunner {
    desk: Desk,
    turns: StatelessTurns,
}

/// Builds the desk that shows and sends drafts.
pub(super) fn desk(bot: &Bot) -> Desk {
    let base = &bot.base;
    Desk {
        store: base.store.business(),
        inbox: base.store.inbox(),
        sender: late(bot),
        languages: base.languages.clone(),
        drafts: Drafts::default(),
        name: bot.me.name.clone(),
    }
}

/// Builds the runner of drafts.
pub(super) fn draft_runner(
    bot: &Bot,
    desk: Desk,
    ledger: &Arc<Ledger>,
    owners: Arc<dyn Owners>,
    servers: &ServerTools,
) -> Arc<dyn Runner> {
    let channel = Arc::new(ElsewhereChannel(bot.base.channel.clone()));
    let base = bot.base.elsewhere(of_callers(&bot.base.settings), channel);
    let drafts = desk.drafts.clone();
    let delivery = move |base: &Base| {
        let bus = Bus::new(vec![Arc::new(drafts.clone())]);
        let (drafts, clock) = (drafts.clone(), base.clock.clone());
        (Arc::new(DraftDelivery { drafts, outbox: base.store.outbox(), clock }) as _, bus)
    };
    let turns = StatelessTurns::new(&base, ledger.clone(), delivery, owners, servers.clone());
    Arc::new(DraftRunner { desk, turns })
}

#[async_trait]
impl Runner for DraftRunner {
    async fn run(&self, job: Job, control: Control) -> Option<Job> {
        let conversation = job.place()?.conversation();
        let next = self.turns.run(job, control).await;
        if next.is_none() {
            self.desk.ended(conversation).await;
        }
        next
    }
}
