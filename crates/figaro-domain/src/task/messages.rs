//! Which messages a task knows.

use super::shown::{Shows, TaskMessage};
use super::{Task, TaskChange};
use figaro_base::ids::{ChatId, MessageId};

/// So many messages of a task are known; the oldest are forgotten first, and stay as they were drawn.
const MAX_MESSAGES: usize = 4;

impl Task {
    /// The message of this id, if it is one about this task.
    #[must_use]
    pub fn message(&self, chat: ChatId, message: MessageId) -> Option<&TaskMessage> {
        self.messages.iter().find(|one| (one.chat, one.message) == (chat, message))
    }

    /// Whether a card of one shows what a card of the other does.
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

    /// Applies a change of the messages that show it; `None` if it does not fit, or is a change of something else.
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

    /// Takes a message in, or what is different in it; the words above its card stay. `None` for one in another group than
    /// the task's: it was sent before that had got a new id.
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

    /// Closes what was opened to change it, now that it was changed in words: cards are drawn anew, and nothing is asked any
    /// more. `None` if nothing is open.
    fn close_opened(&mut self) -> Option<()> {
        let mut closed = None;
        for message in &mut self.messages {
            message.shows = match message.shows {
                Shows::Opened => {
                    // It shows something else than what was drawn last.
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

    /// Notes how a card was drawn; `None` if the message shows none.
    fn drawn(&mut self, chat: ChatId, message: MessageId, print: u64) -> Option<()> {
        let is_card =
            |one: &&mut TaskMessage| (one.chat, one.message, one.shows) == (chat, message, Shows::Card);
        self.messages.iter_mut().find(is_card)?.print = print;
        Some(())
    }

    /// Forgets a message, if it is one about this task.
    pub(super) fn hide(&mut self, chat: ChatId, message: MessageId) {
        self.messages.retain(|one| (one.chat, one.message) != (chat, message));
    }
}
