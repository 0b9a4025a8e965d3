//! Cards of tasks below an answer, in the same message if both fit, or in a separate one.

use super::super::commands;
use super::super::send::Outgoing;
use super::TelegramDelivery;
use super::card::{card_of, fits, task_of};
use figaro_base::ids::{MessageId, TaskId};
use figaro_domain::delivery::{Author, PendingDelivery};
use figaro_domain::task::{TaskChange, TaskMessage};

impl TelegramDelivery {
    /// Adds the card of the answer's task to its messages; `None` if the task cannot be read now.
    pub(super) fn with_attached(
        &self,
        delivery: &PendingDelivery,
        mut messages: Vec<Outgoing>,
    ) -> Option<Vec<Outgoing>> {
        let Some(task) = task_of(delivery) else { return Some(messages) };
        let mut shown = card_of(delivery);
        shown.words = fits(&messages).then(|| delivery.markdown.clone());
        let Some(card) = self.task_card(task, &shown)? else { return Some(messages) };
        let has_lead = card.lead.is_some();
        let card = card.outgoing();
        match messages.last_mut().filter(|_| has_lead) {
            Some(last) => {
                last.content = card.content;
                // The text of a card is by Figaro: the model must not edit it.
                last.author = Author::Figaro;
                last.buttons.extend(card.buttons);
            }
            None => messages.push(card),
        }
        Some(messages)
    }

    /// Returns the card of a task for this message. `Some(None)` if the task no longer exists, `None` if it cannot be
    /// read now.
    pub(super) fn task_card(&self, task: TaskId, message: &TaskMessage) -> Option<Option<commands::Card>> {
        match self.tasks.find(task) {
            Ok(Some(task)) => Some(Some(self.task_cards.draw(&task, message))),
            Ok(None) => Some(None),
            Err(error) => {
                tracing::error!(%error, label = error.label(), "a task could not be shown");
                None
            }
        }
    }

    /// Records that a message shows the card of a task, so that it is kept up to date.
    /// `is_only`: the delivery is one message.
    pub(super) async fn note_card(
        &self,
        delivery: &PendingDelivery,
        id: MessageId,
        print: u64,
        is_only: bool,
    ) {
        let Some(task) = task_of(delivery) else { return };
        let words = (is_only && delivery.card.is_none()).then(|| delivery.markdown.clone());
        let message = TaskMessage { message: id, words, print, ..card_of(delivery) };
        let change = vec![(task, TaskChange::Show(message))];
        if let Err(error) = self.tasks.change(change, Vec::new(), self.sender.clock.now()).await {
            tracing::error!(%error, %task, "that a message shows a task could not be stored; it stays as it is");
        }
    }
}
