//! Keeps the cards of tasks up to date: a card changes by itself when its run begins and ends, when the model or somebody
//! else changes the task, and loses the buttons that would no longer do anything.

use std::sync::Arc;

use super::drawn::TaskCards;
use crate::domain::task::{Shows, Task, TaskChange, TaskMessage};
use crate::outbound::Urgency;
use crate::shutdown::TaskTracker;
use crate::store::{StoreError, TaskStore};
use crate::telegram::send::{Outgoing, Sender};

/// So many tasks are looked at together.
const BATCH: usize = 50;

/// Draws cards of tasks anew when these have changed.
#[derive(Debug)]
pub struct CardKeeper {
    /// Draws the cards.
    pub cards: TaskCards,
    /// Edits messages within the rate limits.
    pub sender: Sender,
    /// Knows which cards are old.
    pub store: Arc<dyn TaskStore>,
    /// Its loop ends when this is asked to stop.
    pub background: TaskTracker,
}

impl CardKeeper {
    /// Draws anew whatever has changed, also while the bot was not running, until the bot stops.
    pub async fn run(self) {
        let news = self.store.card_news();
        loop {
            if let Err(error) = self.refresh().await {
                tracing::error!(%error, label = error.label(), "cards of tasks could not be kept up to date");
            }
            tokio::select! {
                () = self.background.stopping() => return,
                () = news.notified() => {}
            }
        }
    }

    async fn refresh(&self) -> Result<(), StoreError> {
        loop {
            let stale = self.store.stale_cards(BATCH).await?;
            let mut drawn = Vec::new();
            for task in &stale {
                for message in task.messages.iter().filter(|message| message.shows == Shows::Card) {
                    drawn.extend(self.redraw(task, message).await.map(|change| (task.id, change)));
                }
            }
            if stale.is_empty() || self.background.is_stopping() {
                return Ok(());
            }
            self.store.cards_shown(&stale).await?;
            // They count as old until they are looked at once more: a task may have changed meanwhile.
            for (task, change) in drawn {
                self.store.change_tasks(vec![(task, change)], Vec::new(), self.cards.clock.now()).await?;
            }
        }
    }

    /// Draws a card anew unless it already is as it should be; gives what is to be noted of the message.
    async fn redraw(&self, task: &Task, message: &TaskMessage) -> Option<TaskChange> {
        let card = Outgoing { urgency: Urgency::Notice, ..self.cards.draw(task, message).await.outgoing() };
        let print = card.fingerprint();
        if print == message.print {
            return None;
        }
        let is_there = self.sender.edit(message.chat, message.message, &card).await;
        Some(match is_there {
            true => TaskChange::Drawn(message.chat, message.message, print),
            false => TaskChange::Hide(message.chat, message.message),
        })
    }
}
