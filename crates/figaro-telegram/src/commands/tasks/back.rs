//! Chats that removed or blocked the bot: their tasks are paused until somebody there wants them again. Called by the
//! router when it learns of either.

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::cards::Cards;
use super::super::command::Pressed;
use super::super::handles::Handles;
use crate::callback::TasksButton;
use crate::send::Button;
use figaro_base::ids::{ChatId, TaskId};
use figaro_domain::task::{PauseReason, Task, TaskChange, TaskState};
use figaro_prompts::texts::fill;
use figaro_store::{StoreError, TaskStore};

const REMOVED: TaskState = TaskState::Paused(PauseReason::Removed);

/// Pauses and resumes the tasks of chats that removed the bot.
#[derive(Debug, Clone)]
pub struct RestingTasks {
    cards: Cards,
    store: TaskStore,
}

impl RestingTasks {
    /// Creates it with the dependencies in `handles`.
    #[must_use]
    pub fn new(handles: &Handles) -> Self {
        Self { cards: handles.cards.clone(), store: handles.store.tasks() }
    }

    /// Pauses all active tasks of a chat that the bot is no longer in.
    ///
    /// # Errors
    /// If the store fails; then nothing is paused.
    pub(crate) async fn leave(&self, chat: ChatId) -> Result<(), StoreError> {
        let live = self.tasks_of(chat, |task| task.state == TaskState::Active)?;
        let paused = self.change_each(live, &TaskChange::Pause(PauseReason::Removed)).await?;
        if paused > 0 {
            tracing::info!(%chat, tasks = paused, "tasks are paused: the bot is not in their chat any more");
        }
        Ok(())
    }

    /// Returns the question to ask when the bot is back in a chat; `None` if no task was paused by its removal.
    ///
    /// # Errors
    /// If the store fails.
    pub(crate) fn returned(&self, asker: &Asker) -> Result<Option<Card>, StoreError> {
        let texts = self.cards.texts(asker);
        let count = self.removed_tasks(asker.place.chat)?.len();
        let buttons = vec![
            Button::new(texts.button_resume_all(), TasksButton::Back(true)),
            Button::new(texts.button_stay(), TasksButton::Back(false)),
        ];
        let asks = if asker.place.is_group() { texts.tasks_removed() } else { texts.tasks_blocked() };
        let words = fill(asks, &[("count", &count.to_string())]);
        Ok((count > 0).then(|| Card::text(words).row(buttons)))
    }

    /// Resumes the paused tasks or leaves them paused; `None` if there are none.
    pub(super) async fn press(&self, asker: &Asker, again: bool) -> Result<Option<Pressed>, StoreError> {
        let texts = self.cards.texts(asker);
        if !self.cards.may_change(asker).await {
            return Ok(Some(Pressed::toast(texts.admin_only())));
        }
        let resting = self.removed_tasks(asker.place.chat)?;
        if resting.is_empty() {
            return Ok(None);
        }
        if !again {
            return Ok(Some(Pressed::card(Card::text(texts.tasks_stay()))));
        }
        let resumed = self.change_each(resting, &TaskChange::Resume).await?;
        let words = fill(texts.tasks_back(), &[("count", &resumed.to_string())]);
        Ok(Some(Pressed::card(Card::text(words))))
    }

    fn removed_tasks(&self, chat: ChatId) -> Result<Vec<TaskId>, StoreError> {
        self.tasks_of(chat, |task| task.state == REMOVED)
    }

    fn tasks_of(&self, chat: ChatId, fits: fn(&Task) -> bool) -> Result<Vec<TaskId>, StoreError> {
        let tasks = self.store.of_chat(chat)?;
        Ok(tasks.iter().filter(|task| fits(task)).map(|task| task.id).collect())
    }

    /// Makes the same change to several tasks in one write. Returns the number of changed tasks.
    async fn change_each(&self, tasks: Vec<TaskId>, change: &TaskChange) -> Result<usize, StoreError> {
        let changes = tasks.into_iter().map(|task| (task, change.clone())).collect();
        let changed = self.store.change(changes, Vec::new(), self.cards.now()).await?;
        Ok(changed.iter().flatten().count())
    }
}
