//! The store of scheduled prompts.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio::sync::Notify;

use super::error::StoreError;
use figaro_base::ids::{ChatId, RunId, TaskId};
use figaro_domain::conversation::Conversation;
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::task::{Task, TaskChange, TaskRun};
use figaro_domain::turn::ActiveTurn;

type Result<T> = std::result::Result<T, StoreError>;

/// How many tasks there may be that may still run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskLimits {
    /// The most tasks of a chat.
    pub per_chat: usize,
    /// The most tasks of one person in all chats.
    pub per_user: usize,
}

/// What became of a task that was to be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskAdded {
    /// It was stored as a new task.
    New,
    /// The chat has a live task that asks for the same at the same times, which stays; nothing was stored. Its id.
    Already(TaskId),
    /// The chat has reached [`TaskLimits::per_chat`]; nothing was stored.
    ChatFull,
    /// Its creator has reached [`TaskLimits::per_user`]; nothing was stored.
    UserFull,
}

/// Scheduled prompts, in the order in which somebody has to look after them.
#[async_trait]
pub trait TaskStore: Debug + Send + Sync {
    /// Adds a task, durably, unless there is the same one already or there are too many; those that will not run any
    /// more do not count. Of several callers at the same time only so many add theirs.
    async fn add_task(&self, task: &Task, limits: TaskLimits) -> Result<TaskAdded>;
    /// The task with this id; `None` if there is none.
    async fn task(&self, id: TaskId) -> Result<Option<Task>>;
    /// All tasks of a chat, oldest first, those too that are over and still kept.
    async fn tasks(&self, chat: ChatId) -> Result<Vec<Task>>;
    /// Makes changes, each task at most once, and puts deliveries on their way, all in one durable write. Gives the
    /// tasks as they are then, in the order of the changes; `None` for one that is not there or that the change does not
    /// fit. With none that fits, nothing is delivered either.
    async fn change_tasks(
        &self,
        changes: Vec<(TaskId, TaskChange)>,
        deliveries: Vec<PendingDelivery>,
        now: DateTime<Utc>,
    ) -> Result<Vec<Option<Task>>>;
    /// Works out anew, durably, what a clock that was ahead has put too far off. Gives how many tasks that changed.
    async fn replan_tasks(&self, now: DateTime<Utc>) -> Result<usize>;
    /// Forgets tasks that ended before this time, and their history: a bounded number at a time, so that no other writer
    /// waits long. Returns how many; called again until it returns 0, it forgets them all.
    async fn forget_ended(&self, before: DateTime<Utc>) -> Result<usize>;
    /// The last runs of a task, the newest first; [`KEPT_RUNS`] are kept.
    async fn task_runs(&self, id: TaskId) -> Result<Vec<TaskRun>>;
    /// Tasks to look after until this time, those waiting longest first, at most so many.
    async fn due_tasks(&self, until: DateTime<Utc>, limit: usize) -> Result<Vec<Task>>;
    /// When the first task after this time has to be looked after.
    async fn next_wake(&self, after: DateTime<Utc>) -> Result<Option<DateTime<Utc>>>;
    /// All tasks that have a lease: their run is under way, or was lost in a crash.
    async fn leased_tasks(&self) -> Result<Vec<Task>>;
    /// Begins the turn of a leased task in the current session of a conversation, the task's own unless its chat has got
    /// another id meanwhile: its prompt is appended, and the turn recorded, in one write. Gives the task as it is now, too.
    /// A turn that has begun for this lease is returned as it is; `None` if the lease is not there, or its answer is, or
    /// if nobody wants the run any more: then the lease ends. A turn of another question gives way as in
    /// [`ConversationStore::begin_turn`](super::ConversationStore::begin_turn).
    async fn begin_task(
        &self,
        task: TaskId,
        run: RunId,
        conversation: Conversation,
        now: DateTime<Utc>,
    ) -> Result<Option<(ActiveTurn, Task)>>;
    /// Is notified whenever a task may be due at another time than before; the scheduler waits for it.
    fn task_news(&self) -> Arc<Notify>;
    /// Tasks with messages that may show them as they were, at most so many; given again until [`Self::cards_shown`].
    async fn stale_cards(&self, limit: usize) -> Result<Vec<Task>>;
    /// The messages of these tasks show them as they are here; of those that have changed since they are still old.
    async fn cards_shown(&self, tasks: &[Task]) -> Result<()>;
    /// Is notified whenever messages may have become old.
    fn card_news(&self) -> Arc<Notify>;
}

/// The most runs that are kept of a task; the oldest go first.
pub const KEPT_RUNS: u32 = 20;
