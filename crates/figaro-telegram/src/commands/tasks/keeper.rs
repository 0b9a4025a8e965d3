//! Keeps the cards of tasks up to date: when a run begins or ends, when the model or a person changes the task, and
//! when buttons no longer apply.

use std::time::Duration;

use super::drawn::TaskCards;
use crate::send::{Edited, Outgoing, Sender};
use figaro_agent::outbound::Urgency;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::task::{Shows, Task, TaskChange, TaskMessage};
use figaro_store::{StoreError, TaskStore};

/// Number of tasks in one read of the store.
const BATCH: usize = 50;
/// Time before a failed update is tried again.
const RETRY: Duration = Duration::from_secs(30);

/// An update of a card failed and can be tried again.
struct CardUpdateFailed;

/// Updates the cards of tasks that have changed.
#[derive(Debug)]
pub struct CardKeeper {
    /// Builds the new content of the cards.
    pub cards: TaskCards,
    /// Edits and deletes messages within the rate limits.
    pub sender: Sender,
    /// Tells which tasks have outdated cards.
    pub store: TaskStore,
    /// Stop signal of the update loop.
    pub background: TaskTracker,
}

impl CardKeeper {
    /// Updates changed cards until the bot stops; starts with changes from while the bot was off.
    pub async fn run(self) {
        let news = self.store.card_news();
        loop {
            let is_done = self.refresh().await.unwrap_or_else(|error| {
                tracing::error!(%error, label = error.label(), "cards of tasks could not be kept up to date");
                false
            });
            let again = async {
                match is_done {
                    true => std::future::pending().await,
                    false => tokio::time::sleep(RETRY).await,
                }
            };
            tokio::select! {
                biased;
                () = self.background.stopping() => return,
                () = news.notified() => {}
                () = again => {}
            }
        }
    }

    /// Updates all outdated cards. Returns `false` if some of them failed.
    async fn refresh(&self) -> Result<bool, StoreError> {
        loop {
            let stale = self.store.stale_cards(BATCH)?;
            let (mut drawn, mut shown) = (Vec::new(), Vec::new());
            for task in &stale {
                let mut is_shown = true;
                for message in &task.messages {
                    let kept = match message.shows {
                        Shows::Card => self.redraw(task, message).await,
                        Shows::Answered => self.take_away(message).await,
                        Shows::Opened | Shows::Question => Ok(None),
                    };
                    match kept {
                        Ok(change) => drawn.extend(change.map(|change| (task.id, change))),
                        Err(CardUpdateFailed) => is_shown = false,
                    }
                }
                shown.extend(is_shown.then(|| task.clone()));
            }
            if stale.is_empty() {
                return Ok(true);
            }
            self.store.cards_shown(&shown)?;
            // The cards count as outdated until the next look, because a task may have changed meanwhile. Recorded also when
            // the bot is stopping: otherwise the next start edits them to what they show already.
            for (task, change) in drawn {
                self.store.change(vec![(task, change)], Vec::new(), self.cards.clock.now()).await?;
            }
            if shown.len() < stale.len() || self.background.is_stopping() {
                return Ok(false);
            }
        }
    }

    /// Deletes a question that was answered. Returns the change to record.
    async fn take_away(&self, message: &TaskMessage) -> Result<Option<TaskChange>, CardUpdateFailed> {
        self.sender.delete(message.chat, message.message).await;
        Ok(Some(TaskChange::Hide(message.chat, message.message)))
    }

    /// Updates a card unless it is up to date. Returns the change to record.
    async fn redraw(
        &self,
        task: &Task,
        message: &TaskMessage,
    ) -> Result<Option<TaskChange>, CardUpdateFailed> {
        let card = Outgoing { urgency: Urgency::Notice, ..self.cards.draw(task, message).outgoing() };
        let print = card.fingerprint();
        if print == message.print {
            return Ok(None);
        }
        match self.sender.edit(message.chat, message.message, &card).await {
            Edited::Done => Ok(Some(TaskChange::Drawn(message.chat, message.message, print))),
            Edited::Gone => Ok(Some(TaskChange::Hide(message.chat, message.message))),
            Edited::Failed => Err(CardUpdateFailed),
        }
    }
}
