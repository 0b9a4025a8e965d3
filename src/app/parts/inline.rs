//! Turns of questions from chats that the bot is no member of.

use std::sync::Arc;

use async_trait::async_trait;

use super::base::{Base, Bot};
use super::gateway::of_callers;
use super::stateless::StatelessTurns;
use figaro_agent::delivery::{Bus, Owners};
use figaro_agent::tools::servers::ServerTools;
use figaro_agent::turn::control::Control;
use figaro_agent::turn::queue::{Job, Runner};
use figaro_ledger::Ledger;
use figaro_store::InboxStore;
use figaro_telegram::delivery::{ElsewhereChannel, InlineDelivery};
use figaro_telegram::inline::InlineAnswers;

/// Runs stateless turns, and settles the update of each whose answer stands.
#[derive(Debug)]
struct InlineRunner {
    answers: InlineAnswers,
    turns: StatelessTurns,
    inbox: InboxStore,
}

/// Builds the runner of questions from other chats.
pub(super) fn inline_runner(
    bot: &Bot,
    ledger: &Arc<Ledger>,
    owners: Arc<dyn Owners>,
    servers: &ServerTools,
) -> Arc<dyn Runner> {
    let (sender, live) = (bot.sender.clone(), bot.live.clone());
    let locales = bot.base.languages.locales.clone();
    let channel = Arc::new(ElsewhereChannel(bot.base.channel.clone()));
    let base = bot.base.elsewhere(of_callers(&bot.base.settings), channel);
    let (answers, inbox) = (live.inline().clone(), base.store.inbox());
    let delivery = move |base: &Base| {
        let (sender, live, locales) = (sender.clone(), live.clone(), locales.clone());
        let bus = Bus::new(vec![live.clone()]);
        let delivery = InlineDelivery { sender, live, locales, outbox: base.store.outbox() };
        (Arc::new(delivery) as _, bus)
    };
    let turns = StatelessTurns::new(&base, ledger.clone(), delivery, owners, servers.clone());
    Arc::new(InlineRunner { answers, turns, inbox })
}

#[async_trait]
impl Runner for InlineRunner {
    async fn run(&self, job: Job, control: Control) -> Option<Job> {
        let conversation = job.place()?.conversation();
        let next = self.turns.run(job, control).await;
        let Some(update) = self.answers.end(conversation) else { return next };
        if let Err(error) = self.inbox.settle(&[update]).await {
            tracing::error!(%error, label = error.label(), "an answer in another chat may be written again");
        }
        next
    }
}
