//! A transition of a task as the store writes it, and its move to another chat.

use chrono::{DateTime, Utc};

use super::{PauseReason, State, Task, TaskChange, TaskRun};
use figaro_base::ids::ChatId;

/// A change of a task that fits it.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskStep {
    /// The task as it was: the store's lists of tasks are made from it.
    pub before: Task,
    /// The task after the change.
    pub after: Task,
    /// What the change adds to its history.
    pub entry: Option<TaskRun>,
}

impl Task {
    /// Makes a change, as [`Task::apply`]; `None` if it does not fit.
    #[must_use]
    pub(crate) fn step(&self, change: TaskChange, now: DateTime<Utc>) -> Option<TaskStep> {
        let mut after = self.clone();
        let entry = after.apply(change, now).ok()?;
        Some(TaskStep { before: self.clone(), after, entry })
    }

    /// The task after its chat has got another id.
    #[must_use]
    pub fn moved_to(&self, chat: ChatId) -> Self {
        let mut moved = self.clone();
        moved.place.chat = chat;
        let here = self.place.chat;
        moved.standing.iter_mut().filter(|rule| rule.chat == here).for_each(|rule| rule.chat = chat);
        // They stay behind in the old group.
        moved.messages.clear();
        // Telegram may have told first that the bot has left the old group.
        if moved.state == State::Paused(PauseReason::Removed) {
            moved.state = State::Active;
        }
        moved
    }
}
