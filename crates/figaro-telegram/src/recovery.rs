//! Resumes the work that the last stop left: first undelivered answers, then interrupted turns, then open updates.
//! Live messages of turns that do not continue are deleted. Run once, before polling begins.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::router::Router;
use figaro_agent::delivery::Delivery;
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::Job;
use figaro_base::ids::{RunId, UpdateId};
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::conversation::{ConversationId, Message};
use figaro_domain::delivery::{CardKind, PendingDelivery};
use figaro_domain::message::Attachment;
use figaro_domain::turn::ActiveTurn;
use figaro_store::{
    ConversationStore, InboxStore, OutboxStore, RawUpdate, Result, StoreError, TaskStore, TurnEnd,
};

/// Stores with unfinished work, and the delivery that deletes live messages.
#[derive(Debug, Clone, Copy)]
pub struct UnfinishedWork<'a> {
    /// Store of updates that were not settled.
    pub inbox: &'a InboxStore,
    /// Store of turns that did not end.
    pub conversations: &'a ConversationStore,
    /// Store of tasks, with the leases of running ones.
    pub tasks: &'a TaskStore,
    /// Store of undelivered answers and live messages.
    pub outbox: &'a OutboxStore,
    /// Deletes live messages of turns that do not continue.
    pub delivery: &'a Arc<dyn Delivery>,
}

/// Puts everything unfinished back into the queue of its conversation.
///
/// # Errors
/// If the store cannot be read.
pub async fn recover(router: &Arc<Router>, left: UnfinishedWork<'_>) -> Result<()> {
    let live = left.outbox.live_messages()?;
    let mut deliveries = left.outbox.deliveries()?;
    // External conversations, such as calls in the terminal, resume their own work.
    deliveries.retain(|delivery| !delivery.place.chat.is_external());
    let mut taken_up = deliver_left(router, deliveries);
    let mut open: HashMap<UpdateId, RawUpdate> =
        left.inbox.unsettled()?.into_iter().map(|update| (update.id, update)).collect();
    let mut runs = left.conversations.active_runs()?;
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

/// Queues the deliveries that a stop left. Returns the turns whose answers they are.
fn deliver_left(router: &Router, deliveries: Vec<PendingDelivery>) -> HashSet<RunId> {
    let mut runs = HashSet::new();
    for delivery in deliveries {
        tracing::info!(run = %delivery.run, "delivering an answer that a stop had left");
        // A card does not show that the answer was sent.
        if delivery.card.is_none() {
            runs.insert(delivery.run);
        }
        router.mailboxes.post(delivery.place.conversation(), Job::Deliver(delivery));
    }
    runs
}

/// Resumes a turn and returns `true`, or ends a turn that is no longer wanted and returns `false`.
async fn resume(
    router: &Arc<Router>,
    UnfinishedWork { conversations, tasks, .. }: UnfinishedWork<'_>,
    run: ActiveTurn,
    open: &mut HashMap<UpdateId, RawUpdate>,
) -> Result<bool> {
    // The scheduler resumes the turn of a task, if the task still waits for it.
    if let Some(task) = run.task {
        match tasks.find(task)?.and_then(|task| task.lease) {
            Some(lease) if lease.run == run.id => return Ok(true),
            _ => conversations.end_turn(&run, TurnEnd::default()).await?,
        }
        return Ok(false);
    }
    let question = match run.resumed_by {
        Some(_) => router.rights.resumed(&run, conversations.question(&run)?)?,
        None => of_earlier(question_of(router, &run, open)?, &run, conversations)?,
    };
    match question {
        Some(question) => {
            router.mailboxes.post(run.conversation, Job::Resume(run, question));
            Ok(true)
        }
        // The question is gone, or its author may no longer talk to the bot.
        None => {
            let cards = settings_card(router, &run)?;
            conversations.end_turn(&run, TurnEnd { cards: cards.clone(), ..TurnEnd::default() }).await?;
            for card in cards {
                router.mailboxes.post(run.conversation, Job::Deliver(card));
            }
            Ok(false)
        }
    }
}

/// Returns the card of the settings that a turn changed before it was given up.
fn settings_card(router: &Router, run: &ActiveTurn) -> Result<Vec<PendingDelivery>> {
    let ConversationId { chat, topic } = run.conversation;
    let kind = if chat.is_group() { ChatKind::Group } else { ChatKind::Private };
    let place = Place { chat, kind, title: None, topic };
    let has_changed = match router.settings.config_change(run.id) {
        Ok(change) => change.is_some(),
        // One unreadable record must not keep the bot from starting; the card says that it cannot be read.
        Err(StoreError::Record { what }) => {
            tracing::error!(run = %run.id, what, "what a turn changed of settings cannot be read");
            true
        }
        Err(error) => return Err(error),
    };
    let card = || PendingDelivery::of_card(run.id, place, CardKind::Settings, router.clock.now());
    Ok(has_changed.then(card).into_iter().collect())
}

/// Deletes the live messages of these turns in the background.
fn withdraw(router: &Router, delivery: &Arc<dyn Delivery>, runs: Vec<RunId>) {
    let delivery = Arc::clone(delivery);
    router.background.spawn("withdraw", async move {
        for run in runs {
            tracing::info!(%run, "taking back what a turn had shown that nobody goes on with");
            delivery.withdraw(run).await;
        }
    });
}

/// Returns the question of a turn with the rights it began with; for a retry, the earlier question that it repeats.
fn of_earlier(
    asked: Option<Question>,
    run: &ActiveTurn,
    conversations: &ConversationStore,
) -> Result<Option<Question>> {
    let Some(asked) = asked else { return Ok(None) };
    let stored = conversations.question(run)?;
    let is_borrowed = stored.iter().any(|message| message.borrowed);
    Ok(Some(match run.again {
        true => asked.again(stored),
        false if is_borrowed => with_stored(asked, &stored).borrowed(),
        false => with_stored(asked, &stored),
    }))
}

/// Returns a question with what the updates do not have: words that were heard in its sounds, and the request of a
/// command.
fn with_stored(mut asked: Question, stored: &[Message]) -> Question {
    for part in &mut asked.parts {
        let is_it = |message: &&Message| {
            part.origin.message().is_some_and(|id| message.telegram.contains(&id))
                && (message.about.is_some() || sounds(message).any(|one| one.heard.is_some()))
        };
        if let Some(message) = stored.iter().find(is_it) {
            part.text.clone_from(&message.text);
            part.attachments.clone_from(&message.attachments);
            part.quotes.clone_from(&message.quotes);
            part.about.clone_from(&message.about);
        }
    }
    asked
}

/// Returns the attachments of a message and of the one it replies to.
fn sounds(message: &Message) -> impl Iterator<Item = &Attachment> {
    message.attachments.iter().chain(message.quotes.iter().flat_map(|quoted| &quoted.attachments))
}

fn question_of(
    router: &Arc<Router>,
    run: &ActiveTurn,
    open: &mut HashMap<UpdateId, RawUpdate>,
) -> Result<Option<Question>> {
    let mut whole: Option<Question> = None;
    for id in run.origins.iter().filter_map(|origin| origin.update()) {
        let Some(update) = open.remove(&id) else { continue };
        let Some(part) = router.question(&update)? else {
            continue;
        };
        match &mut whole {
            Some(question) => question.parts.extend(part.parts),
            None => whole = Some(part),
        }
    }
    Ok(whole)
}
