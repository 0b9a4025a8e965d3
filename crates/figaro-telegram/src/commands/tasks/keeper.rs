//! Keeps the cards of tasks up to date: a card changes by itself when its run begins and ends, when the model or somebody
//! else changes the task, and loses the buttons that would no longer do anything.

use std::time::Duration;

use super::drawn::TaskCards;
use crate::send::{Edited, Outgoing, Sender};
use figaro_agent::outbound::Urgency;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::task::{Shows, Task, TaskChange, TaskMessage};
use figaro_store::{StoreError, TaskStore};

/// So many tasks are looked at together.
const BATCH: usize = 50;
/// What could not be drawn is tried again after so long.
const RETRY: Duration = Duration::from_secs(30);

/// A card could not be drawn now.
struct Failed;

/// Draws cards of tasks anew when these have changed.
#[derive(Debug)]
pub struct CardKeeper {
    /// Draws the cards.
    pub cards: TaskCards,
    /// Edits messages within the rate limits.
    pub sender: Sender,
    /// Knows which cards are old.
    pub store: TaskStore,
    /// Its loop ends when this is asked to stop.
    pub background: TaskTracker,
}

impl CardKeeper {
    /// Draws anew whatever has changed, also while the bot was not running, until the bot stops.
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
                () = self.background.stopping() => return,
                () = news.notified() => {}
                () = again => {}
            }
        }
    }

    /// Draws anew what is old; `false` if some of it could not be drawn now.
    async fn refresh(&self) -> Result<bool, StoreError> {
        loop {
            let stale = self.store.stale_cards(BATCH).await?;
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
                        Err(Failed) => is_shown = false,
                    }
                }
                shown.extend(is_shown.then(|| task.clone()));
            }
            if stale.is_empty() || self.background.is_stopping() {
                return Ok(true);
            }
            self.store.cards_shown(&shown).await?;
            // They count as old until they are looked at once more: a task may have changed meanwhile.
            for (task, change) in drawn {
                self.store.change(vec![(task, change)], Vec::new(), self.cards.clock.now()).await?;
            }
            if shown.len() < stale.len() {
                return Ok(false);
            }
        }
    }

    /// Deletes a question that was answered; gives what is to be noted of the message.
    async fn take_away(&self, message: &TaskMessage) -> Result<Option<TaskChange>, Failed> {
        self.sender.delete(message.chat, message.message).await;
        Ok(Some(TaskChange::Hide(message.chat, message.message)))
    }

    /// Draws a card anew unless it already is as it should be; gives what is to be noted of the message.
    async fn redraw(&self, task: &Task, message: &TaskMessage) -> Result<Option<TaskChange>, Failed> {
        let card = Outgoing { urgency: Urgency::Notice, ..self.cards.draw(task, message).await.outgoing() };
        let print = card.fingerprint();
        if print == message.print {
            return Ok(None);
        }
        match self.sender.edit(message.chat, message.message, &card).await {
            Edited::Done => Ok(Some(TaskChange::Drawn(message.chat, message.message, print))),
            Edited::Gone => Ok(Some(TaskChange::Hide(message.chat, message.message))),
            Edited::Failed => Err(Failed),
        }
    }
}
