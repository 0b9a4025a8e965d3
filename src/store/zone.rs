//! Where a chat is, and what follows from it for its tasks: `/timezone` and the settings tools change zones with this.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::{Result, SettingsStore, TaskStore};
use crate::domain::chat::{ChatConfig, ConfigPatch};
use crate::domain::schedule::Schedule;
use crate::domain::task::{Task, TaskChange, TaskEdit};
use crate::ids::{ChatId, TaskId};

/// What the tasks of a chat did when it said where it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Followed {
    /// Those that run at another instant now: at the same times by the clocks of the chat.
    pub moved: Vec<Task>,
    /// Those whose single time has passed there already: they run when they would have.
    pub kept: Vec<Task>,
    /// Those that still go by the clocks of another zone.
    pub others: Vec<Task>,
}

/// Changes settings of a chat. If that says where it is, its tasks that rest on a guess follow; those for which somebody
/// named another zone stay in it.
///
/// # Errors
/// As the store's calls. Made again, the change is completed.
pub async fn change_chat(
    (settings, tasks): (&dyn SettingsStore, &dyn TaskStore),
    chat: ChatId,
    change: ConfigPatch,
    now: DateTime<Utc>,
) -> Result<(ChatConfig, Followed)> {
    // The tasks first: as long as the setting is missing, the chat can be asked again.
    let followed = match change.timezone.flatten() {
        Some(zone) => follow(tasks, chat, (zone, now), |task| task.zone_assumed).await?,
        None => Followed::default(),
    };
    Ok((settings.change_chat_config(chat, change).await?, followed))
}

/// Has all tasks of a chat go by the clocks of this zone.
///
/// # Errors
/// As the store's calls.
pub async fn move_tasks(
    tasks: &dyn TaskStore,
    chat: ChatId,
    zone: Tz,
    now: DateTime<Utc>,
) -> Result<Followed> {
    follow(tasks, chat, (zone, now), |_| true).await
}

async fn follow(
    store: &dyn TaskStore,
    chat: ChatId,
    (zone, now): (Tz, DateTime<Utc>),
    is_meant: impl Fn(&Task) -> bool,
) -> Result<Followed> {
    let tasks: Vec<Task> =
        store.tasks(chat).await?.into_iter().filter(|task| may_follow(task, now)).collect();
    let is_elsewhere = |task: &Task| task.zone != zone && task.schedule.uses_zone();
    let (meant, rest): (Vec<Task>, Vec<Task>) =
        tasks.into_iter().partition(|task| is_meant(task) && (task.zone_assumed || is_elsewhere(task)));
    let others = rest.into_iter().filter(is_elsewhere).collect();
    let edit = TaskChange::Edit(TaskEdit { zone: Some(zone), ..TaskEdit::default() });
    let changes: Vec<(TaskId, TaskChange)> = meant.iter().map(|task| (task.id, edit.clone())).collect();
    if changes.is_empty() {
        return Ok(Followed { others, ..Followed::default() });
    }
    let changed = store.change_tasks(changes, Vec::new(), now).await?;
    let pairs = meant.into_iter().zip(changed).filter(|(before, _)| is_elsewhere(before));
    let pairs = pairs.filter_map(|(before, after)| Some((before, after?)));
    let (moved, kept): (Vec<_>, Vec<_>) =
        pairs.partition(|(before, after)| after.schedule == before.schedule.moved(before.zone, zone));
    let after = |pairs: Vec<(Task, Task)>| pairs.into_iter().map(|(_, after)| after).collect();
    Ok(Followed { moved: after(moved), kept: after(kept), others })
}

/// Whether a task still has a time to come that clocks can move.
fn may_follow(task: &Task, now: DateTime<Utc>) -> bool {
    let is_to_come = match task.schedule {
        Schedule::Cron(_) => true,
        Schedule::Once { at, .. } => task.next.is_some() && at > now,
    };
    task.is_live() && is_to_come
}
