//! Takes up what the last stop left: undelivered answers first, then interrupted turns, then updates nobody has dealt
//! with; words that no turn goes on with are taken back. Run once, before polling begins.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::router::Router;
use figaro_agent::delivery::Delivery;
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::Job;
use figaro_base::ids::{RunId, UpdateId};
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::conversation::Conversation;
use figaro_domain::delivery::{Card, PendingDelivery};
use figaro_domain::turn::ActiveTurn;
use figaro_store::{
    ConversationStore, InboxStore, OutboxStore, RawUpdate, Result, StoreError, TaskStore, TurnEnd,
};

/// What recovery reads what is left from, and what takes back words that nobody goes on with.
#[derive(Debug, Clone, Copy)]
pub struct Left<'a> {
    /// The store of updates that were not settled.
    pub inbox: &'a InboxStore,
    /// The store of turns that never ended.
    pub conversations: &'a ConversationStore,
    /// The store of tasks: of runs under way.
    pub tasks: &'a TaskStore,
    /// Answers and live messages.
    pub outbox: &'a OutboxStore,
    /// Withdraws what was shown of turns that are not continued.
    pub delivery: &'a Arc<dyn Delivery>,
}

/// Puts everything unfinished back into the queue of its conversation.
///
/// # Errors
/// When the store cannot be read.
pub async fn recover(router: &Arc<Router>, left: Left<'_>) -> Result<()> {
    let live = left.outbox.live_messages().await?;
    let mut deliveries = left.outbox.deliveries().await?;
    // What a call in the terminal has left is its own business.
    deliveries.retain(|delivery| !delivery.place.chat.is_external());
    let mut taken_up = deliver_left(router, deliveries);
    let mut open: HashMap<UpdateId, RawUpdate> =
        left.inbox.unsettled().await?.into_iter().map(|update| (update.id, update)).collect();
    let mut runs = left.conversations.active_runs().await?;
    runs.retain(|run| !run.conversation.chat.is_external());
    for run in runs {
        let id = run.id;
        if resume(router, left, run, &mut open).await? {
            taken_up.insert(id);
        }
    }
    for parked in router.parked.reload(None).await? {
        tracing::info!(run = %parked.turn.id, "going on with a turn that has its answer");
        taken_up.insert(parked.turn.id);
        router.mailboxes.post(parked.turn.conversation, Job::GoOn(parked.turn.id));
    }
    let mut abandoned: Vec<RunId> =
        live.into_iter().map(|live| live.run).filter(|run| !taken_up.contains(run)).collect();
    abandoned.dedup();
    withdraw(router, left.delivery, abandoned);
    let mut rest: Vec<RawUpdate> = open.into_values().collect();
    rest.sort_by_key(|update| update.id);
    for update in rest {
        router.take_up(update).await;
    }
    Ok(())
}

/// Queues the deliveries that a stop had left. Returns the turns whose answers these are.
fn deliver_left(router: &Router, deliveries: Vec<PendingDelivery>) -> HashSet<RunId> {
    let mut runs = HashSet::new();
    for delivery in deliveries {
        tracing::info!(run = %delivery.run, "delivering an answer that a stop had left");
        // A card says nothing of what became of the answer.
        if delivery.card.is_none() {
            runs.insert(delivery.run);
        }
        router.mailboxes.post(delivery.place.conversation(), Job::Deliver(delivery));
    }
    runs
}

/// Has a turn gone on with; one that nobody wants any more is ended, and gives `false`.
async fn resume(
    router: &Arc<Router>,
    Left { conversations, tasks, .. }: Left<'_>,
    run: ActiveTurn,
    open: &mut HashMap<UpdateId, RawUpdate>,
) -> Result<bool> {
    // The scheduler goes on with it, if its task still waits for it.
    if let Some(task) = run.task {
        match tasks.find(task).await?.and_then(|task| task.lease) {
            Some(lease) if lease.run == run.id => return Ok(true),
            _ => conversations.end_turn(&run, TurnEnd::default()).await?,
        }
        return Ok(false);
    }
    let question = match run.resumed_by {
        Some(_) => router.rights.resumed(&run, conversations.question(&run).await?).await?,
        None => of_earlier(question_of(router, &run, open).await?, &run, conversations).await?,
    };
    match question {
        Some(question) => {
            router.mailboxes.post(run.conversation, Job::Resume(run, question));
            Ok(true)
        }
        // Its question is gone or its writer may no longer talk.
        None => {
            let cards = settings_card(router, &run).await?;
            conversations.end_turn(&run, TurnEnd { cards: cards.clone(), ..TurnEnd::default() }).await?;
            for card in cards {
                router.mailboxes.post(run.conversation, Job::Deliver(card));
            }
            Ok(false)
        }
    }
}

/// What a turn that nobody goes on with had changed of its chat's settings is shown all the same.
async fn settings_card(router: &Router, run: &ActiveTurn) -> Result<Vec<PendingDelivery>> {
    let Conversation { chat, topic } = run.conversation;
    let kind = if chat.is_group() { ChatKind::Group } else { ChatKind::Private };
    let place = Place { chat, kind, title: None, topic };
    let has_changed = match router.settings.config_change(run.id).await {
        Ok(change) => change.is_some(),
        // One record does not keep the bot from starting; the card says that it cannot be read.
        Err(StoreError::Record { what }) => {
            tracing::error!(run = %run.id, what, "what a turn changed of settings cannot be read");
            true
        }
        Err(error) => return Err(error),
    };
    let card = || PendingDelivery::of_card(run.id, place, Card::Settings, router.clock.now());
    Ok(has_changed.then(card).into_iter().collect())
}

/// Takes the words of these turns back, while the bot begins to work.
fn withdraw(router: &Router, delivery: &Arc<dyn Delivery>, runs: Vec<RunId>) {
    let delivery = Arc::clone(delivery);
    router.background.spawn("withdraw", async move {
        for run in runs {
            tracing::info!(%run, "taking back what a turn had shown that nobody goes on with");
            delivery.withdraw(run).await;
        }
    });
}

/// What the update of a turn asked, with the rights it began with; of a further try, the earlier question that it is for.
async fn of_earlier(
    asked: Option<Question>,
    run: &ActiveTurn,
    conversations: &ConversationStore,
) -> Result<Option<Question>> {
    let Some(asked) = asked else { return Ok(None) };
    let stored = conversations.question(run).await?;
    let is_borrowed = stored.iter().any(|message| message.borrowed);
    Ok(Some(match run.again {
        true => asked.again(stored),
        false if is_borrowed => asked.borrowed(),
        false => asked,
    }))
}

async fn question_of(
    router: &Arc<Router>,
    run: &ActiveTurn,
    open: &mut HashMap<UpdateId, RawUpdate>,
) -> Result<Option<Question>> {
    let mut whole: Option<Question> = None;
    for id in run.origins.iter().filter_map(|origin| origin.update()) {
        let Some(update) = open.remove(&id) else { continue };
        let Some(part) = router.question(&update).await? else {
            continue;
        };
        match &mut whole {
            Some(question) => question.parts.extend(part.parts),
            None => whole = Some(part),
        }
    }
    Ok(whole)
}
