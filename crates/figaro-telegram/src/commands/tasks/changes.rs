//! Changes tasks from their cards, within the limit of tasks of a chat.

use super::super::cards::Cards;
use super::super::handles::Handles;
use figaro_base::ids::TaskId;
use figaro_domain::task::{Task, TaskChange};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{StoreError, TaskStore};

/// Writes changes of tasks to the store. The caller checks the rights.
#[derive(Debug)]
pub(super) struct TaskChanges {
    cards: Cards,
    store: TaskStore,
    /// Maximum number of live tasks of a chat.
    per_chat: usize,
}

impl TaskChanges {
    pub(super) fn new(handles: &Handles) -> Self {
        Self { cards: handles.cards.clone(), store: handles.store.tasks(), per_chat: handles.tasks_per_chat }
    }

    /// Makes a change now. Returns the changed task, or `None` if the task is gone or the change no longer fits its
    /// state.
    ///
    /// # Errors
    /// If the store fails; then nothing is changed.
    pub(super) async fn make(&self, task: TaskId, change: TaskChange) -> Result<Option<Task>, StoreError> {
        let changed = self.store.change(vec![(task, change)], Vec::new(), self.cards.now()).await?;
        Ok(changed.into_iter().next().flatten())
    }

    /// Returns `true` if a task is live, or if its chat has room for one more live task.
    ///
    /// # Errors
    /// If the store fails.
    pub(super) fn has_room_for(&self, task: &Task) -> Result<bool, StoreError> {
        let of_chat = self.store.of_chat(task.place.chat)?;
        let live = of_chat.iter().filter(|other| other.is_live()).count();
        Ok(task.is_live() || live < self.per_chat)
    }

    /// Returns the message for a chat at its limit of tasks.
    pub(super) fn full(&self, texts: &Texts) -> String {
        fill(texts.tasks_full(), &[("limit", &self.per_chat.to_string())])
    }
}
