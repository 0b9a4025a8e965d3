//! Time zone of a chat and its effect on the tasks: `/timezone`, the settings tools and their undo change zones with
//! this.

use chrono::{DateTime, Utc};
use figaro_base::tz::Tz;

use super::{Result, SettingsStore, TaskStore};
use figaro_base::ids::{ChatId, RunId, TaskId};
use figaro_domain::chat::{ChatConfig, ConfigPatch};
use figaro_domain::config_change::{ChangingTurn, ConfigChange, Setting};
use figaro_domain::schedule::Schedule;
use figaro_domain::task::{Task, TaskChange, TaskEdit};

/// Effect of a zone change on the tasks of a chat.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ZoneChangeResult {
    /// Tasks that run at another instant now: at the same local times of the chat.
    pub moved: Vec<Task>,
    /// Tasks whose single time has already passed there: they run at the time planned before.
    pub kept: Vec<Task>,
    /// Tasks that stay in another zone.
    pub others: Vec<Task>,
    /// Previous zone of each task that relied on a guess.
    pub(crate) assumed: Vec<(TaskId, Tz)>,
}

/// Time and origin of a settings change.
#[derive(Debug, Clone, Copy)]
pub struct Changing {
    /// Time of the change, UTC.
    pub now: DateTime<Utc>,
    /// Turn in which the model makes the change; `None` for a person.
    pub turn: Option<RunId>,
}

/// Changes settings of a chat. If the zone changes, tasks that relied on a guess follow it; those with an explicit zone
/// keep theirs.
///
/// # Errors
/// As the store's calls. A repeated call completes the change.
pub async fn change_chat(
    settings: &SettingsStore,
    tasks: &TaskStore,
    chat: ChatId,
    change: ConfigPatch,
    Changing { now, turn }: Changing,
) -> Result<(ChatConfig, ZoneChangeResult)> {
    // The tasks first: as long as the setting is missing, the chat can be asked again.
    let followed = match change.timezone.flatten() {
        Some(zone) => follow(tasks, chat, zone, now, |task| task.zone_assumed).await?,
        None => ZoneChangeResult::default(),
    };
    let config = match turn {
        Some(run) => {
            let turn = ChangingTurn { run, moved: followed.assumed.clone(), at: now };
            settings.change_chat_config_in_turn(chat, change, turn).await?
        }
        None => settings.change_chat_config(chat, change).await?,
    };
    Ok((config, followed))
}

/// Undoes the model's change in a turn, as [`SettingsStore::undo_config_change`]. Tasks that followed the undone zone
/// return to the zone assumed before.
///
/// # Errors
/// As the store's calls. If only the tasks could not be changed, they stay in the undone zone.
pub async fn undo_change(
    settings: &SettingsStore,
    tasks: &TaskStore,
    run: RunId,
    now: DateTime<Utc>,
) -> Result<Option<(ConfigChange, Vec<Setting>)>> {
    let undone = settings.undo_config_change(run, now).await?;
    let zone = undone.as_ref().filter(|(_, restored)| restored.contains(&Setting::Zone));
    if let Some((change, _)) = zone {
        match change.before.timezone {
            Some(zone) => drop(follow(tasks, change.chat, zone, now, |task| task.zone_assumed).await?),
            None => follow_back(tasks, change, now).await?,
        }
    }
    Ok(undone)
}

/// Returns the tasks that followed a zone to the zone assumed before.
async fn follow_back(store: &TaskStore, change: &ConfigChange, now: DateTime<Utc>) -> Result<()> {
    let tasks = store.of_chat(change.chat)?;
    let edits = tasks.into_iter().filter_map(|task| {
        let (_, zone) = change.moved.iter().find(|(id, _)| *id == task.id)?;
        let is_there = Some(task.zone) == change.after.timezone && may_follow(&task, now);
        let edit = TaskEdit { zone: Some(*zone), zone_assumed: true, ..TaskEdit::default() };
        is_there.then_some((task.id, TaskChange::edit(edit)))
    });
    let edits: Vec<_> = edits.collect();
    if !edits.is_empty() {
        store.change(edits, Vec::new(), now).await?;
    }
    Ok(())
}

/// Moves all tasks of a chat to this zone.
///
/// # Errors
/// As the store's calls.
pub async fn move_tasks(
    tasks: &TaskStore,
    chat: ChatId,
    zone: Tz,
    now: DateTime<Utc>,
) -> Result<ZoneChangeResult> {
    follow(tasks, chat, zone, now, |_| true).await
}

async fn follow(
    store: &TaskStore,
    chat: ChatId,
    zone: Tz,
    now: DateTime<Utc>,
    is_meant: impl Fn(&Task) -> bool,
) -> Result<ZoneChangeResult> {
    let tasks: Vec<Task> = store.of_chat(chat)?.into_iter().filter(|task| may_follow(task, now)).collect();
    let is_elsewhere = |task: &Task| task.zone != zone && task.schedule.uses_zone();
    let (meant, rest): (Vec<Task>, Vec<Task>) =
        tasks.into_iter().partition(|task| is_meant(task) && (task.zone_assumed || is_elsewhere(task)));
    let others = rest.into_iter().filter(is_elsewhere).collect();
    let edit = TaskChange::edit(TaskEdit { zone: Some(zone), ..TaskEdit::default() });
    let changes: Vec<(TaskId, TaskChange)> = meant.iter().map(|task| (task.id, edit.clone())).collect();
    if changes.is_empty() {
        return Ok(ZoneChangeResult { others, ..ZoneChangeResult::default() });
    }
    let assumed = meant.iter().filter(|task| task.zone_assumed).map(|task| (task.id, task.zone)).collect();
    let changed = store.change(changes, Vec::new(), now).await?;
    let pairs = meant.into_iter().zip(changed).filter(|(before, _)| is_elsewhere(before));
    let pairs = pairs.filter_map(|(before, after)| Some((before, after?)));
    let (moved, kept): (Vec<_>, Vec<_>) =
        pairs.partition(|(before, after)| after.schedule == before.schedule.moved(before.zone, zone));
    let after = |pairs: Vec<(Task, Task)>| pairs.into_iter().map(|(_, after)| after).collect();
    Ok(ZoneChangeResult { moved: after(moved), kept: after(kept), others, assumed })
}

/// Returns `true` if a task still has a future time that a zone change can move.
fn may_follow(task: &Task, now: DateTime<Utc>) -> bool {
    let is_to_come = match task.schedule {
        Schedule::Cron(_) => true,
        Schedule::Once { at, .. } => task.next.is_some() && at > now,
    };
    task.is_live() && is_to_come
}
