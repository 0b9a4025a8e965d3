//! Takes up what the last stop left: undelivered answers first, then interrupted turns, then updates nobody has dealt
//! with. Run once, before polling begins.

use std::collections::HashMap;
use std::sync::Arc;

use super::router::Router;
use crate::domain::run::ActiveRun;
use crate::ids::UpdateId;
use crate::session::mailbox::Job;
use crate::session::question::Question;
use crate::store::{ConversationStore, InboxStore, OutboxStore, RawUpdate, Result, TurnEnd};

/// Puts everything unfinished back into its lane.
///
/// # Errors
/// When the store cannot be read.
pub async fn recover(
    router: &Arc<Router>,
    inbox: &dyn InboxStore,
    conversations: &dyn ConversationStore,
    outbox: &dyn OutboxStore,
) -> Result<()> {
    for delivery in outbox.deliveries().await? {
        tracing::info!(run = %delivery.run, "delivering an answer that a stop had left");
        router.mailboxes.post(delivery.place.conversation(), Job::Deliver(delivery));
    }
    let mut open: HashMap<UpdateId, RawUpdate> =
        inbox.unsettled().await?.into_iter().map(|update| (update.id, update)).collect();
    for run in conversations.active_runs().await? {
        let question = question_of(router, &run, &mut open).await?;
        let question = match question {
            // Its update only says that the question is to be tried again.
            Some(asked) if run.again => Some(asked.again(conversations.question(&run).await?)),
            other => other,
        };
        match question {
            Some(question) => router.mailboxes.post(run.conversation, Job::Resume(run, question)),
            // Its question is gone or its writer may no longer talk.
            None => conversations.end_turn(&run, TurnEnd::default()).await?,
        }
    }
    let mut rest: Vec<RawUpdate> = open.into_values().collect();
    rest.sort_by_key(|update| update.id);
    for update in rest {
        router.route(update).await;
    }
    Ok(())
}

async fn question_of(
    router: &Arc<Router>,
    run: &ActiveRun,
    open: &mut HashMap<UpdateId, RawUpdate>,
) -> Result<Option<Question>> {
    let mut whole: Option<Question> = None;
    for id in &run.updates {
        let Some(update) = open.remove(id) else { continue };
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
