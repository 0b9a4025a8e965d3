//! Scheduled prompts: loads what the task rules need, and writes their results.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::Notify;

use super::changes::Changes;
use super::fault::StoreFault;
use super::key;
use super::records::tasks::{TaskAdded, TaskLimits};
use super::records::turns::{self, Beginning};
use super::records::{tasks, write};
use super::table::Table;
use super::tables::Tables;
use crate::engine::Keys;
use crate::{Result, TaskStore};
use figaro_base::ids::{ChatId, RunId, TaskId};
use figaro_domain::conversation::ConversationId;
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::task::{Task, TaskChange, TaskRun};
use figaro_domain::turn::{self, ActiveTurn, AskedChange};

/// Maximum ended tasks deleted in one write.
const FORGOTTEN: usize = 100;

impl TaskStore {
    /// Adds a task, durably, unless the same one exists or a limit is reached; tasks that will not run again do not
    /// count. Concurrent callers cannot exceed the limits.
    pub async fn add(&self, task: &Task, limits: TaskLimits) -> Result<TaskAdded> {
        let task = task.clone();
        let added = self
            .0
            .change_durably("store a task", move |tables, changes| {
                let added = add(tables, &task, limits)?;
                if added == TaskAdded::New {
                    tasks::put(tables, changes, None, Some(&task))?;
                }
                Ok(added)
            })
            .await?;
        self.0.tell_of_tasks();
        Ok(added)
    }

    /// Returns the task with this id; `None` if there is none.
    pub fn find(&self, id: TaskId) -> Result<Option<Task>> {
        self.0.read("read a task", move |tables| tables.tasks.get(&key::id(id)))
    }

    /// Returns the tasks of all chats, oldest first, including ended ones that are still stored.
    pub fn all(&self) -> Result<Vec<Task>> {
        self.0.read("read the tasks", |tables| tables.tasks.list(&[]))
    }

    /// Returns all tasks of a chat, oldest first, including ended ones that are still stored.
    pub fn of_chat(&self, chat: ChatId) -> Result<Vec<Task>> {
        self.0.read("read the tasks", move |tables| tasks::of_chat(tables, chat))
    }

    /// Changes tasks, each at most once, and queues deliveries, all in one durable write. Returns the changed tasks in
    /// the order of the changes; `None` for a task that does not exist or that the change does not fit. If no change
    /// fits, nothing is delivered.
    pub async fn change(
        &self,
        wanted: Vec<(TaskId, TaskChange)>,
        deliveries: Vec<PendingDelivery>,
        now: DateTime<Utc>,
    ) -> Result<Vec<Option<Task>>> {
        let bot = self.0.bot();
        let changed = self
            .0
            .change_durably("change tasks", move |tables, changes| {
                let asked = wanted
                    .into_iter()
                    .map(|(id, change)| Ok(AskedChange { task: tasks::find(tables, Some(id))?, change }));
                let asked = asked.collect::<Result<Vec<_>, StoreFault>>()?;
                write::transition(tables, changes, bot, turn::change_tasks(asked, deliveries, now))
            })
            .await?;
        self.0.tell_of_tasks();
        Ok(changed)
    }

    /// Reschedules, durably, tasks that a fast clock has put too far off. Returns the number of changed tasks.
    pub async fn replan(&self, now: DateTime<Utc>) -> Result<usize> {
        let changed = self
            .0
            .change_durably("work out anew when tasks are due", move |tables, changes| {
                let mut changed = 0;
                for before in tables.tasks.list(&[])? {
                    let mut task = before.clone();
                    if task.replan(now) {
                        tasks::put(tables, changes, Some(&before), Some(&task))?;
                        changed += 1;
                    }
                }
                Ok(changed)
            })
            .await?;
        if changed > 0 {
            self.0.tell_of_tasks();
        }
        Ok(changed)
    }

    /// Deletes tasks that ended before this time, and their history, a bounded number at a time, so that other writers do
    /// not wait long. Returns the number deleted; call again until it is 0.
    pub fn forget_ended(&self, before: DateTime<Utc>) -> Result<usize> {
        let is_old = move |task: &Task| task.ended_at().is_some_and(|at| at < before);
        let ended = self.0.read("look for ended tasks", move |tables| {
            let all = tables.tasks.scan(&[])?.filter_map(|item| match item {
                Ok((_, task)) => is_old(&task).then_some(Ok(task.id)),
                Err(fault) => Some(Err(fault)),
            });
            all.take(FORGOTTEN).collect::<Result<Vec<TaskId>, StoreFault>>()
        });
        let ended = ended?;
        if ended.is_empty() {
            return Ok(0);
        }
        self.0.change("forget ended tasks", move |tables, changes| {
            let mut forgotten = 0;
            for id in ended {
                // The task may have been restored meanwhile.
                let Some(task) = tables.tasks.find(&key::id(id))?.filter(is_old) else { continue };
                tasks::put(tables, changes, Some(&task), None)?;
                for run in tables.task_runs.keys_of(&key::id(id))? {
                    changes.remove(&tables.task_runs, run?);
                }
                forgotten += 1;
            }
            Ok(forgotten)
        })
    }

    /// Returns the last runs of a task, newest first; [`KEPT_RUNS`](crate::KEPT_RUNS) are kept.
    pub fn runs(&self, id: TaskId) -> Result<Vec<TaskRun>> {
        self.0.read("read the runs of a task", move |tables| {
            let runs = tables.task_runs.scan(&key::id(id))?.rev();
            runs.map(|item| item.map(|(_, run)| run)).collect()
        })
    }

    /// Returns the tasks due until this time, longest overdue first, at most `limit`.
    pub fn due(&self, until: DateTime<Utc>, limit: usize) -> Result<Vec<Task>> {
        self.0.change("read the due tasks", move |tables, changes| {
            // Times are stored in whole milliseconds: the next one is not due.
            let end = key::time(until + TimeDelta::milliseconds(1));
            let keys = tables.tasks_by_wake.keys(Keys::before(end, &[]))?.take(limit);
            let is_its_own = |task: &Task, key: &[u8]| {
                task.wakes_at().is_some_and(|at| key == key::wake(at, task.id).as_slice())
            };
            kept(tables, changes, &tables.tasks_by_wake, keys, is_its_own)
        })
    }

    /// Returns the time at which the first task after this time is due.
    pub fn next_wake(&self, after: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
        self.0.read("read when a task is due", move |tables| {
            let begin = key::time(after + TimeDelta::milliseconds(1));
            let first = tables.tasks_by_wake.keys(Keys::from(begin, &[]))?.next().transpose()?;
            Ok(first.and_then(|key| key::time_of(&key)))
        })
    }

    /// Returns all leased tasks: their run is in progress, or was lost in a crash.
    pub fn leased(&self) -> Result<Vec<Task>> {
        self.0.change("read the tasks under way", |tables, changes| {
            kept(tables, changes, &tables.leases, tables.leases.keys_of(&[])?, |task, _| task.lease.is_some())
        })
    }

    /// Begins the turn of a leased task in the current session of a conversation: the task's own, unless its chat has a
    /// new id. Appends its prompt and records the turn in one write. Returns the task as it is now, too. A turn that
    /// began for this lease is returned unchanged. `None` if the lease is gone, was answered, or the run is no longer
    /// wanted: then the lease ends. A turn of another question is replaced as in
    /// [`ConversationStore::begin_turn`](super::ConversationStore::begin_turn).
    pub async fn begin(
        &self,
        task: TaskId,
        run: RunId,
        conversation: ConversationId,
        now: DateTime<Utc>,
    ) -> Result<Option<(ActiveTurn, Task)>> {
        let at = Beginning { bot: self.0.bot(), conversation, now };
        let begun = self
            .0
            .change_durably("begin a task's turn", move |tables, changes| {
                let Some(task) = tasks::find(tables, Some(task))? else {
                    return Ok(None);
                };
                let begun = turns::begin_task(tables, changes, at, &task, run)?;
                Ok(begun.map(|begun| (begun.turn, task)))
            })
            .await?;
        if begun.is_none() {
            self.0.tell_of_tasks();
        }
        Ok(begun)
    }

    /// Returns the notification sent when the due time of a task may have changed; the scheduler waits for it.
    pub fn news(&self) -> Arc<Notify> {
        Arc::clone(&self.0.shared.task_news)
    }

    /// Returns tasks whose messages may be out of date, at most `limit`; returned again until [`Self::cards_shown`].
    pub fn stale_cards(&self, limit: usize) -> Result<Vec<Task>> {
        self.0.change("read the tasks whose messages are old", move |tables, changes| {
            let keys = tables.stale_cards.keys_of(&[])?.take(limit);
            kept(tables, changes, &tables.stale_cards, keys, |task, _| !task.messages.is_empty())
        })
    }

    /// Marks the messages of these tasks as up to date; those of tasks changed since stay marked.
    pub fn cards_shown(&self, tasks: &[Task]) -> Result<()> {
        let tasks = tasks.to_vec();
        self.0.change("note that messages show tasks as they are", move |tables, changes| {
            for shown in tasks {
                let now = tables.tasks.find(&key::id(shown.id))?;
                if now.is_none_or(|now| now.looks_like(&shown) && now.messages == shown.messages) {
                    changes.remove(&tables.stale_cards, key::id(shown.id));
                }
            }
            Ok(())
        })
    }

    /// Returns the notification sent when messages may be out of date.
    pub fn card_news(&self) -> Arc<Notify> {
        Arc::clone(&self.0.shared.card_news)
    }
}

/// Returns the tasks that a table lists. Removes an entry if its task is gone, was unreadable and set aside, or no longer
/// belongs in the table by the rules of this version: otherwise it would come up first again and again.
fn kept(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    list: &Table<'_, ()>,
    keys: impl Iterator<Item = Result<Vec<u8>, StoreFault>>,
    belongs: impl Fn(&Task, &[u8]) -> bool,
) -> Result<Vec<Task>, StoreFault> {
    let mut found = Vec::new();
    for key in keys {
        let key = key?;
        let task = key::task_of(&key).map(|id| tables.tasks.find(&key::id(id))).transpose()?.flatten();
        match task.filter(|task| belongs(task, &key)) {
            Some(task) => found.push(task),
            None => changes.remove(list, key),
        }
    }
    Ok(found)
}

/// Checks that a task is new and within the limits; does not write it.
pub(super) fn add(tables: &Tables<'_>, task: &Task, limits: TaskLimits) -> Result<TaskAdded, StoreFault> {
    let of_chat = tasks::of_chat(tables, task.place.chat)?;
    if let Some(same) = of_chat.iter().find(|other| other.says_the_same(task)) {
        return Ok(TaskAdded::Already(same.id));
    }
    if of_chat.iter().filter(|task| task.is_live()).count() >= limits.per_chat {
        return Ok(TaskAdded::ChatFull);
    }
    let of_user = key::user(&task.creator.user);
    if tables.tasks_of_user.keys_of(&of_user)?.take(limits.per_user).count() >= limits.per_user {
        return Ok(TaskAdded::UserFull);
    }
    Ok(TaskAdded::New)
}
