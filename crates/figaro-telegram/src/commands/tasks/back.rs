//! A chat that the bot was put out of, or that blocked it: its tasks rest until somebody there wants them again. The
//! router calls this when it learns of either.

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::cards::Cards;
use super::super::command::Pressed;
use super::super::handles::Handles;
use crate::callback::Tasks;
use crate::send::Button;
use figaro_base::ids::{ChatId, TaskId};
use figaro_domain::task::{PauseReason, State, Task, TaskChange};
use figaro_prompts::texts::fill;
use figaro_store::{StoreError, TaskStore};

const REMOVED: State = State::Paused(PauseReason::Removed);

/// The tasks that rest because the bot was put out of their chat.
#[derive(Debug, Clone)]
pub struct RestingTasks {
    cards: Cards,
    store: TaskStore,
}

impl RestingTasks {
    /// What these handles know of tasks.
    #[must_use]
    pub fn new(handles: &Handles) -> Self {
        Self { cards: handles.cards.clone(), store: handles.store.tasks() }
    }

    /// Pauses all tasks of a chat that the bot is not in any more.
    ///
    /// # Errors
    /// When the store fails; nothing is paused then.
    pub(crate) async fn leave(&self, chat: ChatId) -> Result<(), StoreError> {
        let live = self.tasks_of(chat, |task| task.state == State::Active).await?;
        let paused = self.change_each(live, &TaskChange::Pause(PauseReason::Removed)).await?;
        if paused > 0 {
            tracing::info!(%chat, tasks = paused, "tasks are paused: the bot is not in their chat any more");
        }
        Ok(())
    }

    /// What to ask in a chat that the bot is in again; `None` if no task rests because it was not.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn returned(&self, asker: &Asker) -> Result<Option<Card>, StoreError> {
        let texts = self.cards.texts(asker);
        let count = self.removed_tasks(asker.place.chat).await?.len();
        let buttons = vec![
            Button::new(texts.button_resume_all(), Tasks::Back(true)),
            Button::new(texts.button_stay(), Tasks::Back(false)),
        ];
        let asks = if asker.place.is_group() { texts.tasks_removed() } else { texts.tasks_blocked() };
        let words = fill(asks, &[("count", &count.to_string())]);
        Ok((count > 0).then(|| Card::text(words).row(buttons)))
    }

    /// Has them run again or stay as they are; `None` if no task rests any more.
    pub(super) async fn press(&self, asker: &Asker, again: bool) -> Result<Option<Pressed>, StoreError> {
        let texts = self.cards.texts(asker);
        if !self.cards.may_change(asker).await {
            return Ok(Some(Pressed::toast(texts.admin_only())));
        }
        let resting = self.removed_tasks(asker.place.chat).await?;
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

    async fn removed_tasks(&self, chat: ChatId) -> Result<Vec<TaskId>, StoreError> {
        self.tasks_of(chat, |task| task.state == REMOVED).await
    }

    async fn tasks_of(&self, chat: ChatId, fits: fn(&Task) -> bool) -> Result<Vec<TaskId>, StoreError> {
        let tasks = self.store.of_chat(chat).await?;
        Ok(tasks.iter().filter(|task| fits(task)).map(|task| task.id).collect())
    }

    /// Makes the same change of several tasks in one write; gives how many it fitted.
    async fn change_each(&self, tasks: Vec<TaskId>, change: &TaskChange) -> Result<usize, StoreError> {
        let changes = tasks.into_iter().map(|task| (task, change.clone())).collect();
        let changed = self.store.change(changes, Vec::new(), self.cards.now()).await?;
        Ok(changed.iter().flatten().count())
    }
}
