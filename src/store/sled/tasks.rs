//! Scheduled prompts. A task is found by its id; other tables list the ids by chat, by creator, by the time somebody has
//! to look after it, and those under way, and are kept in step by [`put`] alone.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use sled::IVec;
use tokio::sync::Notify;

use super::changes::Changes;
use super::fault::Fault;
use super::table::Table;
use super::tables::{Outgoing, Tables};
use super::{SledStore, key, sessions, turns};
use crate::domain::conversation::{Conversation, Message};
use crate::domain::delivery::PendingDelivery;
use crate::domain::message::Inbound;
use crate::domain::task::{Ended, PauseReason, State, Task, TaskChange, TaskRun};
use crate::domain::turn::ActiveTurn;
use crate::ids::{BotId, ChatId, RunId, TaskId};
use crate::store::{KEPT_RUNS, Result, TaskAdded, TaskLimits, TaskStore};

#[async_trait]
impl TaskStore for SledStore {
    async fn add_task(&self, task: &Task, limits: TaskLimits) -> Result<TaskAdded> {
        let task = task.clone();
        let added = self
            .change_durably("store a task", move |tables, changes| add(tables, changes, &task, limits))
            .await?;
        self.tell_of_tasks();
        Ok(added)
    }

    async fn task(&self, id: TaskId) -> Result<Option<Task>> {
        self.read("read a task", move |tables| tables.tasks.get(&key::id(id))).await
    }

    async fn tasks(&self, chat: ChatId) -> Result<Vec<Task>> {
        self.read("read the tasks", move |tables| {
            let keys = tables.tasks_of_chat.tree().scan_prefix(key::chat(chat)).keys();
            found(tables, keys.map(|key| Ok(key::task_of(&key?))))
        })
        .await
    }

    async fn change_tasks(
        &self,
        wanted: Vec<(TaskId, TaskChange)>,
        deliveries: Vec<PendingDelivery>,
        now: DateTime<Utc>,
    ) -> Result<Vec<Option<Task>>> {
        let changed = self
            .change_durably("change tasks", move |tables, changes| {
                let each = wanted.into_iter().map(|wanted| change(tables, changes, wanted, now));
                let tasks = each.collect::<Result<Vec<_>, Fault>>()?;
                if tasks.iter().any(Option::is_some) {
                    for delivery in deliveries {
                        let key = key::id(delivery.id);
                        changes.put(&tables.deliveries, key, &Outgoing { delivery, answer: None })?;
                    }
                }
                Ok(tasks)
            })
            .await?;
        self.tell_of_tasks();
        Ok(changed)
    }

    async fn replan_tasks(&self, now: DateTime<Utc>) -> Result<usize> {
        let changed = self
            .change_durably("work out anew when tasks are due", move |tables, changes| {
                let mut changed = 0;
                for before in tables.tasks.list(&[])? {
                    let mut task = before.clone();
                    if task.replan(now) {
                        put(tables, changes, Some(&before), Some(&task))?;
                        changed += 1;
                    }
                }
                Ok(changed)
            })
            .await?;
        if changed > 0 {
            self.tell_of_tasks();
        }
        Ok(changed)
    }

    async fn forget_task(&self, id: TaskId) -> Result<()> {
        self.change_durably("forget a task", move |tables, changes| {
            if let Some(task) = tables.tasks.find(&key::id(id))? {
                put(tables, changes, Some(&task), None)?;
            }
            for run in tables.task_runs.tree().scan_prefix(key::id(id)).keys() {
                changes.remove(&tables.task_runs, run?);
            }
            Ok(())
        })
        .await
    }

    async fn task_runs(&self, id: TaskId) -> Result<Vec<TaskRun>> {
        self.read("read the runs of a task", move |tables| {
            let runs = tables.task_runs.scan(&key::id(id)).rev();
            runs.map(|item| item.map(|(_, run)| run)).collect()
        })
        .await
    }

    async fn due_tasks(&self, until: DateTime<Utc>, limit: usize) -> Result<Vec<Task>> {
        self.change("read the due tasks", move |tables, changes| {
            // Times are kept in whole milliseconds: the next one is not due.
            let end = key::time(until + TimeDelta::milliseconds(1));
            let keys = tables.tasks_by_wake.tree().range(..end).keys().take(limit);
            kept(tables, changes, &tables.tasks_by_wake, keys)
        })
        .await
    }

    async fn next_wake(&self, after: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
        self.read("read when a task is due", move |tables| {
            let begin = key::time(after + TimeDelta::milliseconds(1));
            let first = tables.tasks_by_wake.tree().range(begin..).keys().next().transpose()?;
            Ok(first.and_then(|key| key::time_of(&key)))
        })
        .await
    }

    async fn claimed_tasks(&self) -> Result<Vec<Task>> {
        self.change("read the tasks under way", |tables, changes| {
            kept(tables, changes, &tables.claims, tables.claims.tree().iter().keys())
        })
        .await
    }

    async fn begin_task(
        &self,
        task: TaskId,
        run: RunId,
        conversation: Conversation,
        now: DateTime<Utc>,
    ) -> Result<Option<(ActiveTurn, Task)>> {
        let bot = self.bot();
        let begun = self
            .change_durably("begin a task's turn", move |tables, changes| {
                begin(tables, changes, bot, (task, run, conversation), now)
            })
            .await?;
        if begun.is_none() {
            self.tell_of_tasks();
        }
        Ok(begun)
    }

    fn task_news(&self) -> Arc<Notify> {
        Arc::clone(&self.0.task_news)
    }
}

impl SledStore {
    pub(super) fn tell_of_tasks(&self) {
        self.0.task_news.notify_one();
    }
}

/// The tasks of these ids; one that is gone or cannot be read is passed over.
fn found(
    tables: &Tables,
    ids: impl Iterator<Item = Result<Option<TaskId>, Fault>>,
) -> Result<Vec<Task>, Fault> {
    let mut tasks = Vec::new();
    for id in ids {
        if let Some(id) = id?
            && let Some(task) = tables.tasks.find(&key::id(id))?
        {
            tasks.push(task);
        }
    }
    Ok(tasks)
}

/// The tasks that a table lists. An entry whose task is gone, or cannot be read and was set aside, goes: it would come up
/// first again and again.
fn kept(
    tables: &Tables,
    changes: &mut Changes,
    list: &Table<()>,
    keys: impl Iterator<Item = sled::Result<IVec>>,
) -> Result<Vec<Task>, Fault> {
    let mut tasks = Vec::new();
    for key in keys {
        let key = key?;
        let task = key::task_of(&key).map(|id| tables.tasks.find(&key::id(id))).transpose()?.flatten();
        match task {
            Some(task) => tasks.push(task),
            None => changes.remove(list, key),
        }
    }
    Ok(tasks)
}

fn add(tables: &Tables, changes: &mut Changes, task: &Task, limits: TaskLimits) -> Result<TaskAdded, Fault> {
    let keys = tables.tasks_of_chat.tree().scan_prefix(key::chat(task.place.chat)).keys();
    let of_chat = found(tables, keys.map(|key| Ok(key::task_of(&key?))))?;
    if let Some(same) = of_chat.iter().find(|other| other.says_the_same(task)) {
        return Ok(TaskAdded::Already(same.id));
    }
    if of_chat.iter().filter(|task| task.is_live()).count() >= limits.per_chat {
        return Ok(TaskAdded::ChatFull);
    }
    let of_user = key::user(&task.creator.user);
    if tables.tasks_of_user.tree().scan_prefix(of_user).take(limits.per_user).count() >= limits.per_user {
        return Ok(TaskAdded::UserFull);
    }
    put(tables, changes, None, Some(task))?;
    Ok(TaskAdded::New)
}

/// Makes one change of a task; `None` if there is no such task or the change does not fit it.
pub(super) fn change(
    tables: &Tables,
    changes: &mut Changes,
    (id, change): (TaskId, TaskChange),
    now: DateTime<Utc>,
) -> Result<Option<Task>, Fault> {
    let Some(before) = tables.tasks.find(&key::id(id))? else {
        return Ok(None);
    };
    let mut after = before.clone();
    let Ok(entry) = after.apply(change, now) else {
        return Ok(None);
    };
    put(tables, changes, Some(&before), Some(&after))?;
    if let Some(entry) = entry {
        let index = tables.task_runs.next_index(&key::id(id))?;
        changes.put(&tables.task_runs, key::task_run(id, index), &entry)?;
        if let Some(old) = index.checked_sub(KEPT_RUNS) {
            changes.remove(&tables.task_runs, key::task_run(id, old));
        }
    }
    Ok(Some(after))
}

/// Writes a task in place of what it was, in every table that lists it.
fn put(
    tables: &Tables,
    changes: &mut Changes,
    before: Option<&Task>,
    after: Option<&Task>,
) -> Result<(), Fault> {
    if let Some(task) = before {
        changes.remove(&tables.tasks, key::id(task.id));
        changes.remove(&tables.tasks_of_chat, key::chat_task(task.place.chat, task.id));
        changes.remove(&tables.tasks_of_user, key::user_task(&task.creator.user, task.id));
        changes.remove(&tables.claims, key::id(task.id));
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
    if task.claim.is_some() {
        changes.put(&tables.claims, key::id(task.id), &())?;
    }
    match task.wakes_at() {
        Some(at) => changes.put(&tables.tasks_by_wake, key::wake(at, task.id), &()),
        None => Ok(()),
    }
}

fn begin(
    tables: &Tables,
    changes: &mut Changes,
    bot: BotId,
    (id, run, conversation): (TaskId, RunId, Conversation),
    now: DateTime<Utc>,
) -> Result<Option<(ActiveTurn, Task)>, Fault> {
    let claimed = tables.tasks.find(&key::id(id))?.and_then(|task| Some((task.claim?, task)));
    let Some((claim, task)) = claimed.filter(|(claim, _)| claim.run == run && claim.answered.is_none())
    else {
        return Ok(None);
    };
    let active = tables.runs.find(&key::conversation(conversation))?;
    if let Some(active) = &active
        && active.id == run
    {
        return Ok(Some((active.clone(), task)));
    }
    let is_wanted =
        task.state == State::Active || (claim.by_hand && !matches!(task.state, State::Cancelled(_)));
    if !is_wanted {
        change(tables, changes, (id, TaskChange::Settle(run, Ended::Withdrawn)), now)?;
        return Ok(None);
    }
    if let Some(active) = active {
        turns::give_way(tables, changes, bot, (&active, &[]), now)?;
    }
    let session = sessions::current(tables, changes, conversation, now)?.id;
    let plain = turns::new_run(tables, conversation, session, now)?;
    let active = ActiveTurn { id: run, task: Some(id), ..plain };
    let mut question = [Message::from_inbound(session, &Inbound::of_task(&task, now))];
    turns::put_question(tables, changes, &active, &mut question)?;
    Ok(Some((active, task)))
}

/// Gives a chat's tasks to the id it has from now on. A run under way ends where it began.
pub(super) fn migrate(tables: &Tables, changes: &mut Changes, from: ChatId, to: ChatId) -> Result<(), Fault> {
    let keys = tables.tasks_of_chat.tree().scan_prefix(key::chat(from)).keys();
    for task in found(tables, keys.map(|key| Ok(key::task_of(&key?))))? {
        let mut moved = task.clone();
        moved.place.chat = to;
        // Telegram may have told first that the bot has left the old group.
        if moved.state == State::Paused(PauseReason::Removed) {
            moved.state = State::Active;
        }
        put(tables, changes, Some(&task), Some(&moved))?;
    }
    Ok(())
}
