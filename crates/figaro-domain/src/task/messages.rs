//! Messages that show a task.

use super::shown::{Shows, TaskMessage};
use super::{Task, TaskChange};
use figaro_base::ids::{ChatId, MessageId};

/// Maximum number of messages per task. The oldest are dropped first, and are not updated again.
const MAX_MESSAGES: usize = 4;

impl Task {
    /// Returns the entry of a message about this task.
    #[must_use]
    pub fn message(&self, chat: ChatId, message: MessageId) -> Option<&TaskMessage> {
        self.messages.iter().find(|one| (one.chat, one.message) == (chat, message))
    }

    /// Returns `true` if the cards of both tasks look the same.
    #[must_use]
    pub fn looks_like(&self, other: &Self) -> bool {
        let parts = |task: &Self| {
            (
                (task.title(), task.schedule.clone(), task.zone, task.zone_assumed, task.state),
                (task.next, task.lease.is_some(), task.retry, task.asked, task.last.clone()),
            )
        };
        parts(self) == parts(other)
    }

    /// Applies a change of the messages that show the task. Returns `None` if it does not fit, or is another kind of change.
    pub(super) fn change_messages(&mut self, change: TaskChange) -> Option<()> {
        match change {
            TaskChange::Show(message) => self.show(message),
            TaskChange::Drawn(chat, message, print) => self.drawn(chat, message, print),
            TaskChange::CloseOpened => self.close_opened(),
            TaskChange::Hide(chat, message) => {
                self.message(chat, message)?;
                self.hide(chat, message);
                Some(())
            }
            _ => None,
        }
    }

    /// Adds or updates a message. The text above its card stays. Returns `None` for a message in another group than the
    /// task's: it was sent before the group got a new id.
    fn show(&mut self, message: TaskMessage) -> Option<()> {
        if message.chat.is_group() && message.chat != self.place.chat {
            return None;
        }
        let before = self.message(message.chat, message.message).cloned();
        self.hide(message.chat, message.message);
        let excess = (self.messages.len() + 1).saturating_sub(MAX_MESSAGES);
        self.messages.drain(..excess);
        let (words, asks_zone) = before.map(|before| (before.words, before.asks_zone)).unwrap_or_default();
        let asks_zone = message.asks_zone || asks_zone;
        self.messages.push(TaskMessage { words: message.words.or(words), asks_zone, ..message });
        Some(())
    }

    /// Closes opened views and questions after a change by text, so that cards are updated. Returns `None` if nothing is
    /// open.
    fn close_opened(&mut self) -> Option<()> {
        let mut closed = None;
        for message in &mut self.messages {
            message.shows = match message.shows {
                Shows::Opened => {
                    // The message shows something else than the last card.
                    message.print = 0;
                    Shows::Card
                }
                Shows::Question => Shows::Answered,
                Shows::Card | Shows::Answered => continue,
            };
            closed = Some(());
        }
        closed
    }

    /// Records the hash of an updated card. Returns `None` if the message shows no card.
    fn drawn(&mut self, chat: ChatId, message: MessageId, print: u64) -> Option<()> {
        let is_card =
            |one: &&mut TaskMessage| (one.chat, one.message, one.shows) == (chat, message, Shows::Card);
        self.messages.iter_mut().find(is_card)?.print = print;
        Some(())
    }

    /// Removes the entry of a message about this task.
    pub(super) fn hide(&mut self, chat: ChatId, message: MessageId) {
        self.messages.retain(|one| (one.chat, one.message) != (chat, message));
    }
}
