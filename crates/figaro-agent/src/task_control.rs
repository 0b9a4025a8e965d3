//! Changes of tasks that people ask for: runs now, pauses, resumes and ends. Called by the cards of Telegram and by the
//! dashboard, which check the rights.

use chrono::TimeDelta;

use super::turn::queue::{Job, Mailboxes};
use figaro_base::clock::Clock;
use figaro_base::ids::{RunId, TaskId};
use figaro_config::AccessSettings;
use figaro_domain::task::{PauseReason, Task, TaskChange, TaskState};
use figaro_policy::access::{Verdict, judge};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{SettingsStore, StoreError, TaskStore};

/// Time for which a cancelled task can be taken back.
pub const UNDO: TimeDelta = TimeDelta::minutes(1);

/// Changes tasks within the limit of tasks of a chat. The caller checks the rights. Cheap to clone.
#[derive(Debug, Clone)]
pub struct TaskControl {
    /// Tasks of the bot.
    pub store: TaskStore,
    /// The access list: a task runs only for a person who may talk to the bot.
    pub settings: SettingsStore,
    /// Access rules of the owner.
    pub access: AccessSettings,
    /// Queues that a run goes to.
    pub mailboxes: Mailboxes,
    /// Maximum number of live tasks of a chat.
    pub per_chat: usize,
    /// Source of the current time.
    pub clock: Clock,
}

/// Change of a task that a person asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskAction {
    /// Run it now, beside its schedule.
    Run,
    /// Run it no more until it is resumed.
    Pause,
    /// Run it again by its schedule.
    Resume,
    /// End it.
    Cancel,
    /// Take back that it was ended.
    Revive,
    /// Leave out a missed run.
    Skip,
}

impl TaskAction {
    /// Returns `true` if it can only make a task do less.
    #[must_use]
    pub const fn is_restraint(self) -> bool {
        matches!(self, Self::Pause | Self::Cancel | Self::Skip)
    }
}

/// Result of a [`TaskAction`].
#[derive(Debug)]
pub enum TaskActionResult {
    /// It is done; this is the task now.
    Done(Box<Task>),
    /// The person who asked for the task may no longer talk to the bot.
    Denied,
    /// Its chat has as many live tasks as it may.
    Full,
    /// It runs already; this is the task.
    Running(Box<Task>),
    /// The action no longer fits the task.
    Unfit(Box<Task>),
    /// It is gone.
    Gone,
}

impl TaskControl {
    /// Makes a change now. Returns the changed task, or `None` if the task is gone or the change no longer fits its
    /// state.
    ///
    /// # Errors
    /// If the store fails; then nothing is changed.
    pub async fn make(&self, task: TaskId, change: TaskChange) -> Result<Option<Task>, StoreError> {
        let changed = self.store.change(vec![(task, change)], Vec::new(), self.clock.now()).await?;
        Ok(changed.into_iter().next().flatten())
    }

    /// Makes a change that a person asks for.
    ///
    /// # Errors
    /// If the store fails; then nothing is changed.
    pub async fn act(&self, task: &Task, action: TaskAction) -> Result<TaskActionResult, StoreError> {
        let is_past = |at| self.clock.now() - at >= UNDO;
        if action == TaskAction::Revive && matches!(task.state, TaskState::Cancelled(at) if is_past(at)) {
            return Ok(TaskActionResult::Unfit(Box::new(task.clone())));
        }
        let runs_it = matches!(action, TaskAction::Run | TaskAction::Resume | TaskAction::Revive);
        if runs_it && !self.may_still_talk(task)? {
            return Ok(TaskActionResult::Denied);
        }
        if action == TaskAction::Revive && !self.has_room_for(task)? {
            return Ok(TaskActionResult::Full);
        }
        let change = match action {
            TaskAction::Run => TaskChange::RunNow(RunId::new()),
            TaskAction::Pause => TaskChange::Pause(PauseReason::Person),
            TaskAction::Resume => TaskChange::Resume,
            TaskAction::Cancel => TaskChange::Cancel,
            TaskAction::Revive => TaskChange::Revive,
            TaskAction::Skip => TaskChange::Skip,
        };
        if let Some(task) = self.make(task.id, change).await? {
            if action == TaskAction::Run {
                self.mailboxes.post(task.place.conversation(), Job::Task(Box::new(task.clone())));
            }
            return Ok(TaskActionResult::Done(Box::new(task)));
        }
        Ok(match self.store.find(task.id)? {
            Some(now) if action == TaskAction::Run && now.lease.is_some() => {
                TaskActionResult::Running(Box::new(now))
            }
            Some(now) => TaskActionResult::Unfit(Box::new(now)),
            None => TaskActionResult::Gone,
        })
    }

    /// Returns `true` if the person who asked for a task may still talk to the bot where it runs.
    ///
    /// # Errors
    /// If the store fails.
    pub fn may_still_talk(&self, task: &Task) -> Result<bool, StoreError> {
        let list = self.settings.access()?;
        let verdict = judge(&self.access, &list, &task.place, &task.creator.user, self.clock.now());
        Ok(matches!(verdict, Verdict::Allow(_)))
    }

    /// Returns `true` if a task is live, or if its chat has room for one more live task.
    ///
    /// # Errors
    /// If the store fails.
    pub fn has_room_for(&self, task: &Task) -> Result<bool, StoreError> {
        let of_chat = self.store.of_chat(task.place.chat)?;
        let live = of_chat.iter().filter(|other| other.is_live()).count();
        Ok(task.is_live() || live < self.per_chat)
    }

    /// Returns the message for a chat at its limit of tasks.
    #[must_use]
    pub fn full(&self, texts: &Texts) -> String {
        fill(texts.tasks_full(), &[("limit", &self.per_chat.to_string())])
    }
}
