//! The record of a task. It is found by its id; other tables list the ids by chat, by creator, by the time somebody has to
//! look after it, and those under way, and are kept in step by [`put`] alone.

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::{ChatId, TaskId};
use figaro_domain::task::{Task, TaskStep};

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

/// The most runs that are kept of a task; the oldest go first.
pub const KEPT_RUNS: u32 = 20;

/// A task by its id, if there is an id; `None` too if the task is gone or cannot be read.
pub(crate) fn find(tables: &Tables<'_>, id: Option<TaskId>) -> Result<Option<Task>, Fault> {
    id.map_or(Ok(None), |id| tables.tasks.find(&key::id(id)))
}

/// All tasks of a chat, in the order of their ids; one that is gone or cannot be read is passed over.
pub(crate) fn of_chat(tables: &Tables<'_>, chat: ChatId) -> Result<Vec<Task>, Fault> {
    let mut tasks = Vec::new();
    for key in tables.tasks_of_chat.keys_of(&key::chat(chat))? {
        if let Some(task) = find(tables, key::task_of(&key?))? {
            tasks.push(task);
        }
    }
    Ok(tasks)
}

/// Writes a change of a task, and its history, of which the newest runs are kept.
pub(super) fn step(tables: &Tables<'_>, changes: &mut Changes<'_>, step: TaskStep) -> Result<(), Fault> {
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

/// Writes a task in place of what it was, in every table that lists it.
pub(crate) fn put(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    before: Option<&Task>,
    after: Option<&Task>,
) -> Result<(), Fault> {
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

/// Whether messages may show a task as it was before: until they were looked at, they may go on doing so.
fn is_stale(tables: &Tables<'_>, before: Option<&Task>, task: &Task) -> Result<bool, Fault> {
    let is_new = before.is_none_or(|before| !before.looks_like(task) || before.messages != task.messages);
    Ok(!task.messages.is_empty() && (is_new || tables.stale_cards.contains(&key::id(task.id))?))
}

/// Gives a chat's tasks to the id it has from now on. A run under way ends where it began.
pub(super) fn migrate(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), Fault> {
    for task in of_chat(tables, from)? {
        put(tables, changes, Some(&task), Some(&task.moved_to(to)))?;
    }
    Ok(())
}
