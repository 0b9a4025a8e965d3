//! Scheduled prompts: what the rules of tasks take is loaded here, and what they give is written.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::Notify;

use super::changes::Changes;
use super::fault::Fault;
use super::records::turns::{self, Beginning};
use super::records::{tasks, write};
use super::table::Table;
use super::tables::Tables;
use super::{KvStore, key};
use crate::engine::Keys;
use crate::{Result, TaskAdded, TaskLimits, TaskStore};
use figaro_base::ids::{ChatId, RunId, TaskId};
use figaro_domain::conversation::Conversation;
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::task::{Task, TaskChange, TaskRun};
use figaro_domain::turn::{self, ActiveTurn, AskedChange};

/// So many ended tasks are forgotten in one write at most.
const FORGOTTEN: usize = 100;

#[async_trait]
impl TaskStore for KvStore {
    async fn add_task(&self, task: &Task, limits: TaskLimits) -> Result<TaskAdded> {
        let task = task.clone();
        let added = self
            .change_durably("store a task", move |tables, changes| {
                let added = add(tables, &task, limits)?;
                if added == TaskAdded::New {
                    tasks::put(tables, changes, None, Some(&task))?;
                }
                Ok(added)
            })
            .await?;
        self.tell_of_tasks();
        Ok(added)
    }

    async fn task(&self, id: TaskId) -> Result<Option<Task>> {
        self.read("read a task", move |tables| tables.tasks.get(&key::id(id))).await
    }

    async fn tasks(&self, chat: ChatId) -> Result<Vec<Task>> {
        self.read("read the tasks", move |tables| tasks::of_chat(tables, chat)).await
    }

    async fn change_tasks(
        &self,
        wanted: Vec<(TaskId, TaskChange)>,
        deliveries: Vec<PendingDelivery>,
        now: DateTime<Utc>,
    ) -> Result<Vec<Option<Task>>> {
        let bot = self.bot();
        let changed = self
            .change_durably("change tasks", move |tables, changes| {
                let asked = wanted
                    .into_iter()
                    .map(|(id, change)| Ok(AskedChange { task: tasks::find(tables, Some(id))?, change }));
                let asked = asked.collect::<Result<Vec<_>, Fault>>()?;
                write::transition(tables, changes, bot, turn::change_tasks(asked, deliveries, now))
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
                        tasks::put(tables, changes, Some(&before), Some(&task))?;
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

    async fn forget_ended(&self, before: DateTime<Utc>) -> Result<usize> {
        let is_old = move |task: &Task| task.ended_at().is_some_and(|at| at < before);
        let ended = self.read("look for ended tasks", move |tables| {
            let all = tables.tasks.scan(&[])?.filter_map(|item| match item {
                Ok((_, task)) => is_old(&task).then_some(Ok(task.id)),
                Err(fault) => Some(Err(fault)),
            });
            all.take(FORGOTTEN).collect::<Result<Vec<TaskId>, Fault>>()
        });
        let ended = ended.await?;
        if ended.is_empty() {
            return Ok(0);
        }
        self.change("forget ended tasks", move |tables, changes| {
            let mut forgotten = 0;
            for id in ended {
                // It may have been given back to its chat meanwhile.
                let Some(task) = tables.tasks.find(&key::id(id))?.filter(is_old) else { continue };
                tasks::put(tables, changes, Some(&task), None)?;
                for run in tables.task_runs.keys_of(&key::id(id))? {
                    changes.remove(&tables.task_runs, run?);
                }
                forgotten += 1;
            }
            Ok(forgotten)
        })
        .await
    }

    async fn task_runs(&self, id: TaskId) -> Result<Vec<TaskRun>> {
        self.read("read the runs of a task", move |tables| {
            let runs = tables.task_runs.scan(&key::id(id))?.rev();
            runs.map(|item| item.map(|(_, run)| run)).collect()
        })
        .await
    }

    async fn due_tasks(&self, until: DateTime<Utc>, limit: usize) -> Result<Vec<Task>> {
        self.change("read the due tasks", move |tables, changes| {
            // Times are kept in whole milliseconds: the next one is not due.
            let end = key::time(until + TimeDelta::milliseconds(1));
            let keys = tables.tasks_by_wake.keys(Keys::before(end, &[]))?.take(limit);
            let is_its_own = |task: &Task, key: &[u8]| {
                task.wakes_at().is_some_and(|at| key == key::wake(at, task.id).as_slice())
            };
            kept(tables, changes, &tables.tasks_by_wake, keys, is_its_own)
        })
        .await
    }

    async fn next_wake(&self, after: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
        self.read("read when a task is due", move |tables| {
            let begin = key::time(after + TimeDelta::milliseconds(1));
            let first = tables.tasks_by_wake.keys(Keys::from(begin, &[]))?.next().transpose()?;
            Ok(first.and_then(|key| key::time_of(&key)))
        })
        .await
    }

    async fn leased_tasks(&self) -> Result<Vec<Task>> {
        self.change("read the tasks under way", |tables, changes| {
            kept(tables, changes, &tables.leases, tables.leases.keys_of(&[])?, |task, _| task.lease.is_some())
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
        let at = Beginning { bot: self.bot(), conversation, now };
        let begun = self
            .change_durably("begin a task's turn", move |tables, changes| {
                let Some(task) = tasks::find(tables, Some(task))? else {
                    return Ok(None);
                };
                let begun = turns::begin_task(tables, changes, at, &task, run)?;
                Ok(begun.map(|begun| (begun.turn, task)))
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

    async fn stale_cards(&self, limit: usize) -> Result<Vec<Task>> {
        self.change("read the tasks whose messages are old", move |tables, changes| {
            let keys = tables.stale_cards.keys_of(&[])?.take(limit);
            kept(tables, changes, &tables.stale_cards, keys, |task, _| !task.messages.is_empty())
        })
        .await
    }

    async fn cards_shown(&self, tasks: &[Task]) -> Result<()> {
        let tasks = tasks.to_vec();
        self.change("note that messages show tasks as they are", move |tables, changes| {
            for shown in tasks {
                let now = tables.tasks.find(&key::id(shown.id))?;
                if now.is_none_or(|now| now.looks_like(&shown) && now.messages == shown.messages) {
                    changes.remove(&tables.stale_cards, key::id(shown.id));
                }
            }
            Ok(())
        })
        .await
    }

    fn card_news(&self) -> Arc<Notify> {
        Arc::clone(&self.0.card_news)
    }
}

/// The tasks that a table lists. An entry goes if its task is gone, cannot be read and was set aside, or does not belong
/// there any more by the rules of this version: it would come up first again and again.
fn kept(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    list: &Table<'_, ()>,
    keys: impl Iterator<Item = Result<Vec<u8>, Fault>>,
    belongs: impl Fn(&Task, &[u8]) -> bool,
) -> Result<Vec<Task>, Fault> {
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

/// Whether a task is new and finds room; it is not written.
pub(super) fn add(tables: &Tables<'_>, task: &Task, limits: TaskLimits) -> Result<TaskAdded, Fault> {
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
