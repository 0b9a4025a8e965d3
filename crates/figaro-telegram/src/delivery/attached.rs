//! Cards of tasks below the words of an answer, in the same message where both fit, or in one of their own.

use super::super::commands;
use super::super::send::Outgoing;
use super::TelegramDelivery;
use super::card::{card_of, fits, task_of};
use figaro_base::ids::{MessageId, TaskId};
use figaro_domain::delivery::{Author, PendingDelivery};
use figaro_domain::task::{TaskChange, TaskMessage};

impl TelegramDelivery {
    /// The messages of an answer, with the card of its task; `None` if that cannot be found out now.
    pub(super) async fn with_attached(
        &self,
        delivery: &PendingDelivery,
        mut messages: Vec<Outgoing>,
    ) -> Option<Vec<Outgoing>> {
        let Some(task) = task_of(delivery) else { return Some(messages) };
        let mut shown = card_of(delivery);
        shown.words = fits(&messages).then(|| delivery.markdown.clone());
        let Some(card) = self.task_card(task, &shown).await? else { return Some(messages) };
        let has_lead = card.lead.is_some();
        let card = card.outgoing();
        match messages.last_mut().filter(|_| has_lead) {
            Some(last) => {
                last.content = card.content;
                // What a card says is Figaro's word: the model may not change it.
                last.author = Author::Figaro;
                last.buttons.extend(card.buttons);
            }
            None => messages.push(card),
        }
        Some(messages)
    }

    /// The card of a task as this message is to show it. `Some(None)` if there is no such task any more, `None` if that cannot
    /// be found out now.
    pub(super) async fn task_card(
        &self,
        task: TaskId,
        message: &TaskMessage,
    ) -> Option<Option<commands::Card>> {
        match self.tasks.find(task).await {
            Ok(Some(task)) => Some(Some(self.task_cards.draw(&task, message).await)),
            Ok(None) => Some(None),
            Err(error) => {
                tracing::error!(%error, label = error.label(), "a task could not be shown");
                None
            }
        }
    }

    /// Notes that this message shows the card of a task: it is kept up to date from now on.
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
