//! Records of tasks, by id. Other tables list the ids by chat, by creator, by due time, and by lease; only [`put`] keeps
//! them in step.

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::{ChatId, TaskId};
use figaro_domain::task::{Task, TaskStep};

/// Limits on tasks that may still run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskLimits {
    /// Maximum tasks of a chat.
    pub per_chat: usize,
    /// Maximum tasks of one person in all chats.
    pub per_user: usize,
}

/// Result of adding a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskAdded {
    /// Stored as a new task.
    New,
    /// The chat has a live task with the same prompt and times, with this id; nothing was stored.
    Already(TaskId),
    /// The chat has reached [`TaskLimits::per_chat`]; nothing was stored.
    ChatFull,
    /// Its creator has reached [`TaskLimits::per_user`]; nothing was stored.
    UserFull,
}

/// Maximum stored runs of a task; the oldest are deleted first.
pub const KEPT_RUNS: u32 = 20;

/// Returns a task by its id; `None` without an id, and for a task that is gone or unreadable.
pub(crate) fn find(tables: &Tables<'_>, id: Option<TaskId>) -> Result<Option<Task>, StoreFault> {
    id.map_or(Ok(None), |id| tables.tasks.find(&key::id(id)))
}

/// Returns all tasks of a chat, in the order of their ids; skips those that are gone or unreadable.
pub(crate) fn of_chat(tables: &Tables<'_>, chat: ChatId) -> Result<Vec<Task>, StoreFault> {
    let mut tasks = Vec::new();
    for key in tables.tasks_of_chat.keys_of(&key::chat(chat))? {
        if let Some(task) = find(tables, key::task_of(&key?))? {
            tasks.push(task);
        }
    }
    Ok(tasks)
}

/// Writes a change of a task and its history, keeping the newest runs.
pub(super) fn step(tables: &Tables<'_>, changes: &mut Changes<'_>, step: TaskStep) -> Result<(), StoreFault> {
    let TaskStep { before, after, entry } = step;
    put(tables, changes, Some(&before), Some(&after))?;
    let Some(entry) = entry else { return Ok(()) };
    let index = tables.task_runs.next_index(&key::id(after.id))?;
    changes.put(&tables.task_runs, key::task_run(after.id, index), &entry)?;
    if let Some(old) = index.checked_sub(KEPT_RUNS) {
        changes.remove(&tables.task_runs, key::task_run(after.id, old));
    }
    Ok(())
}

/// Writes a task over its former state, in every table that lists it.
pub(crate) fn put(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    before: Option<&Task>,
    after: Option<&Task>,
) -> Result<(), StoreFault> {
    if let Some(task) = before {
        changes.remove(&tables.tasks, key::id(task.id));
        changes.remove(&tables.tasks_of_chat, key::chat_task(task.place.chat, task.id));
        changes.remove(&tables.tasks_of_user, key::user_task(&task.creator.user, task.id));
        changes.remove(&tables.leases, key::id(task.id));
        changes.remove(&tables.stale_cards, key::id(task.id));
        if let Some(at) = task.wakes_at() {
            changes.remove(&tables.tasks_by_wake, key::wake(at, task.id));
        }
    }
    let Some(task) = after else { return Ok(()) };
    changes.put(&tables.tasks, key::id(task.id), task)?;
    changes.put(&tables.tasks_of_chat, key::chat_task(task.place.chat, task.id), &())?;
    if task.counts() {
        changes.put(&tables.tasks_of_user, key::user_task(&task.creator.user, task.id), &())?;
    }
    if task.lease.is_some() {
        changes.put(&tables.leases, key::id(task.id), &())?;
    }
    if is_stale(tables, before, task)? {
        changes.put(&tables.stale_cards, key::id(task.id), &())?;
    }
    match task.wakes_at() {
        Some(at) => changes.put(&tables.tasks_by_wake, key::wake(at, task.id), &()),
        None => Ok(()),
    }
}

/// Returns `true` if messages may show a former state of a task; they stay marked until they are checked.
fn is_stale(tables: &Tables<'_>, before: Option<&Task>, task: &Task) -> Result<bool, StoreFault> {
    let is_new = before.is_none_or(|before| !before.looks_like(task) || before.messages != task.messages);
    Ok(!task.messages.is_empty() && (is_new || tables.stale_cards.contains(&key::id(task.id))?))
}

/// Moves the tasks of a chat to its new id. A run in progress ends under the old one.
pub(super) fn migrate(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
    for task in of_chat(tables, from)? {
        put(tables, changes, Some(&task), Some(&task.moved_to(to)))?;
    }
    Ok(())
}
