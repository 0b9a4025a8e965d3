//! Stored transition of a task, and its move to another chat.

use chrono::{DateTime, Utc};

use super::{PauseReason, Task, TaskChange, TaskRun, TaskState};
use figaro_base::ids::ChatId;

/// A change of a task that fits its state.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskStep {
    /// The task before the change; needed to update the store's lists of tasks.
    pub before: Task,
    /// The task after the change.
    pub after: Task,
    /// Entry that the change adds to the history.
    pub entry: Option<TaskRun>,
}

impl Task {
    /// Applies a change as [`Task::apply`] does; `None` if it does not fit.
    #[must_use]
    pub(crate) fn step(&self, change: TaskChange, now: DateTime<Utc>) -> Option<TaskStep> {
        let mut after = self.clone();
        let entry = after.apply(change, now).ok()?;
        Some(TaskStep { before: self.clone(), after, entry })
    }

    /// Returns the task after its chat has got a new id.
    #[must_use]
    pub fn moved_to(&self, chat: ChatId) -> Self {
        let mut moved = self.clone();
        moved.place.chat = chat;
        let here = self.place.chat;
        moved.standing.iter_mut().filter(|rule| rule.chat == here).for_each(|rule| rule.chat = chat);
        // These messages stay behind in the old group.
        moved.messages.clear();
        // Telegram may have reported first that the bot left the old group.
        if moved.state == TaskState::Paused(PauseReason::Removed) {
            moved.state = TaskState::Active;
        }
        moved
    }
}
