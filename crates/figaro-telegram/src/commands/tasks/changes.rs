//! Changes of tasks from their cards, within the number of tasks that a chat may have.

use super::super::cards::Cards;
use super::super::handles::Handles;
use figaro_base::ids::TaskId;
use figaro_domain::task::{Task, TaskChange};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{StoreError, TaskStore};

/// Writes changes of tasks to the store. Whether whoever presses may make a change is decided by the caller.
#[derive(Debug)]
pub(super) struct Changes {
    cards: Cards,
    store: TaskStore,
    /// The most tasks of a chat that may still run.
    per_chat: usize,
}

impl Changes {
    pub(super) fn new(handles: &Handles) -> Self {
        Self { cards: handles.cards.clone(), store: handles.store.tasks(), per_chat: handles.tasks_per_chat }
    }

    /// Makes a change at this moment. Returns the task as it is afterwards, or `None` if it is gone or the change does not
    /// fit its state any more.
    ///
    /// # Errors
    /// When the store fails; nothing is changed then.
    pub(super) async fn make(&self, task: TaskId, change: TaskChange) -> Result<Option<Task>, StoreError> {
        let changed = self.store.change(vec![(task, change)], Vec::new(), self.cards.now()).await?;
        Ok(changed.into_iter().next().flatten())
    }

    /// Whether a task may run, also one that is over: then its chat must have fewer live tasks than it may.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn has_room_for(&self, task: &Task) -> Result<bool, StoreError> {
        let of_chat = self.store.of_chat(task.place.chat).await?;
        let live = of_chat.iter().filter(|other| other.is_live()).count();
        Ok(task.is_live() || live < self.per_chat)
    }

    /// What is said where there is no room.
    pub(super) fn full(&self, texts: &Texts) -> String {
        fill(texts.tasks_full(), &[("limit", &self.per_chat.to_string())])
    }
}
