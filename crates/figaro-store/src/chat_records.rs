//! Records of chats, in the forms of their context packs, and the tasks that remind of them.

use chrono::{DateTime, Utc};

use super::changes::Changes;
use super::fault::StoreFault;
use super::key;
use super::records::{audit, tasks as task_records, write};
use super::tables::Tables;
use super::tasks::add;
use crate::{RecordStore, Result, TaskAdded, TaskLimits};
use figaro_base::ids::{BotId, ChatId, RecordId, RunId, TaskId};
use figaro_domain::audit::{AuditEvent, Audited};
use figaro_domain::record::{
    Book, Forms, Record, RecordChange, RecordDraft, ReminderEdits, Removal, Removed, Restored, SaveResult,
    following, restoring, saving,
};
use figaro_domain::task::{Task, TaskChange};
use figaro_domain::turn::{self, AskedChange};
use figaro_domain::undo::{MadeIn, TurnUndo, UndoRefusal, Undoable, Undone};

/// Result of saving a record, including the tasks that remind of it or of records that refer to it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordSaved {
    /// Result of saving the record itself.
    pub saved: SaveResult,
    /// Tasks that were changed or added to remind of the record as it is now.
    pub moved: Vec<Task>,
    /// Tasks that were cancelled because nothing is left to remind of.
    pub ended: Vec<Task>,
    /// Tasks left unchanged: their words differ from what the record had offered.
    pub left: Vec<Task>,
    /// Number of new times without a reminder, because the task limit is reached.
    pub without_room: usize,
}

/// Removal by the model in a turn, which can be undone for a day.
#[derive(Debug, Clone, PartialEq)]
pub struct ByModel {
    /// Turn in which the record is removed.
    pub made: MadeIn,
    /// Name of the removed record.
    pub name: String,
    /// Entry for the audit log.
    pub event: AuditEvent,
}

impl RecordStore {
    /// Returns the records of a chat, oldest first, also those of packs that it has not chosen now.
    pub fn of_chat(&self, chat: ChatId) -> Result<Vec<Record>> {
        self.0.read("read the records", move |tables| oldest_first(tables, chat))
    }

    /// Saves a record durably, as a new one or over an existing one. Its reminders are updated in the same write, by
    /// these forms and within these limits.
    pub async fn save(&self, draft: &RecordDraft, forms: &Forms, limits: TaskLimits) -> Result<RecordSaved> {
        let (draft, forms, bot) = (draft.clone(), forms.clone(), self.0.bot());
        let saved = self
            .0
            .change_durably("save a record", move |tables, changes| {
                let kept = oldest_first(tables, draft.chat)?;
                let saved = saving(&kept, &draft);
                if let SaveResult::New(record) | SaveResult::Changed(record) = &saved {
                    put(tables, changes, record)?;
                }
                let alone = |saved| RecordSaved {
                    saved,
                    moved: vec![],
                    ended: vec![],
                    left: vec![],
                    without_room: 0,
                };
                match saved {
                    SaveResult::Changed(record) => ReminderChanges { bot, now: draft.now, kept, limits }
                        .save(tables, changes, record, &forms),
                    saved => Ok(alone(saved)),
                }
            })
            .await?;
        if !saved.moved.is_empty() || !saved.ended.is_empty() {
            self.0.tell_of_tasks();
        }
        Ok(saved)
    }

    /// Removes records and cancels their reminders, durably; returns both. A removal by the model is kept for undo and
    /// recorded in the audit log in the same write.
    pub async fn remove(
        &self,
        removal: &Removal,
        by: Option<ByModel>,
        now: DateTime<Utc>,
    ) -> Result<Removed> {
        let (removal, bot) = (removal.clone(), self.0.bot());
        let removed = self
            .0
            .change_durably("remove records", move |tables, changes| {
                let mut records: Vec<Record> = Vec::new();
                for key in removal.records.iter().map(|id| key::record(removal.chat, *id)) {
                    records.extend(tables.records.get(&key)?);
                    changes.remove(&tables.records, key);
                }
                let noted = records.iter().flat_map(|record| record.reminders.iter().copied());
                let asked = live(tables, removal.chat, noted.chain(removal.tasks))?;
                let asked = asked.into_iter().map(|task| (task, TaskChange::Cancel)).collect();
                let tasks = change_tasks(tables, changes, bot, asked, now)?;
                let tasks = tasks.into_iter().map(|task| task.id).collect();
                let removed = Removed { records, tasks, keys: removal.keys };
                if let Some(by) = by.filter(|_| !removed.records.is_empty()) {
                    keep_undo(tables, changes, removal.chat, by, &removed)?;
                }
                Ok(removed)
            })
            .await?;
        if !removed.tasks.is_empty() {
            self.0.tell_of_tasks();
        }
        Ok(removed)
    }

    /// Restores removed records and their reminders, durably; all or none.
    pub async fn restore(&self, chat: ChatId, removed: &Removed, now: DateTime<Utc>) -> Result<Restored> {
        let restore = Restore { bot: self.0.bot(), chat, removed: removed.clone(), now };
        let put_back =
            move |tables: &Tables<'_>, changes: &mut Changes<'_>| restore.put_back(tables, changes);
        let restored = self.0.change_durably("put records back", put_back).await?;
        self.0.tell_of_tasks();
        Ok(restored)
    }

    /// Restores the records that the call at this place of a turn removed, and stores the result in the same write, so
    /// that a repeat after a crash has no further effect. Nothing is restored if the undo record was forgotten meanwhile.
    pub async fn undo_removal(&self, run: RunId, at: usize, now: DateTime<Utc>) -> Result<Undone> {
        let bot = self.0.bot();
        let undone = self
            .0
            .change_durably("put removed records back", move |tables, changes| {
                let gone = Undone::Refused(UndoRefusal::Gone);
                let Some(mut undo) = tables.undos.find(&key::id(run))? else { return Ok(gone) };
                let Some(call) = undo.calls.get(at) else { return Ok(gone) };
                if let Some(outcome) = call.outcome {
                    return Ok(outcome);
                }
                let Some(removed) = call.records() else { return Ok(gone) };
                let restored =
                    Restore { bot, chat: undo.asked_in, removed, now }.put_back(tables, changes)?;
                let undone = Undone::from(restored);
                undo.note(at, undone);
                changes.put(&tables.undos, key::id(run), &undo.settled())?;
                Ok(undone)
            })
            .await?;
        self.0.tell_of_tasks();
        Ok(undone)
    }

    /// Adds tasks that remind of a record, durably; all, or none if one exceeds a limit. Returns the result for each;
    /// empty if the record is gone.
    pub async fn add_reminders(
        &self,
        record: RecordId,
        tasks: &[Task],
        limits: TaskLimits,
    ) -> Result<Vec<TaskAdded>> {
        let tasks = tasks.to_vec();
        let added = self
            .0
            .change_durably("store reminders of a record", move |tables, changes| {
                let Some(chat) = tasks.first().map(|task| task.place.chat) else { return Ok(Vec::new()) };
                let Some(mut record) = tables.records.get(&key::record(chat, record))? else {
                    return Ok(Vec::new());
                };
                let (mut added, mut new, mut known) = (Vec::new(), Vec::new(), Vec::new());
                for task in &tasks {
                    let one = add(tables, task, less(limits, new.len()))?;
                    match one {
                        TaskAdded::New => {
                            new.push(task);
                            note(&mut record, task.id);
                        }
                        // A task requested by somebody else is theirs and does not go with this record.
                        TaskAdded::Already(id) => {
                            let theirs = task_records::find(tables, Some(id))?
                                .filter(|known| known.creator.user == task.creator.user);
                            if let Some(task) = theirs {
                                note(&mut record, task.id);
                                known.push(task);
                            }
                        }
                        TaskAdded::ChatFull | TaskAdded::UserFull => return Ok(vec![one]),
                    }
                    added.push(one);
                }
                for before in known.iter().filter(|task| task.record.is_none()) {
                    let after = Task { record: Some(record.id), ..before.clone() };
                    task_records::put(tables, changes, Some(before), Some(&after))?;
                }
                for task in new {
                    let made_in = &record.turns() | &task.made_in;
                    let task = Task { record: Some(record.id), made_in, ..task.clone() };
                    task_records::put(tables, changes, None, Some(&task))?;
                }
                put(tables, changes, &record)?;
                Ok(added)
            })
            .await?;
        self.0.tell_of_tasks();
        Ok(added)
    }
}

fn put(tables: &Tables<'_>, changes: &mut Changes<'_>, record: &Record) -> Result<(), StoreFault> {
    changes.put(&tables.records, key::record(record.chat, record.id), record)
}

/// Records of a chat to restore.
struct Restore {
    bot: BotId,
    chat: ChatId,
    removed: Removed,
    now: DateTime<Utc>,
}

impl Restore {
    /// Restores all of them with their reminders, or none.
    fn put_back(self, tables: &Tables<'_>, changes: &mut Changes<'_>) -> Result<Restored, StoreFault> {
        let restored = restoring(&oldest_first(tables, self.chat)?, &self.removed);
        if restored != Restored::Done {
            return Ok(restored);
        }
        self.removed.records.iter().try_for_each(|record| put(tables, changes, record))?;
        let mut asked = Vec::new();
        for id in self.removed.tasks {
            let task = task_records::find(tables, Some(id))?;
            asked.extend(task.map(|task| (task, TaskChange::Revive)));
        }
        change_tasks(tables, changes, self.bot, asked, self.now)?;
        Ok(restored)
    }
}

/// Returns the limits less the tasks already added, which the tables do not show yet.
const fn less(limits: TaskLimits, added: usize) -> TaskLimits {
    TaskLimits {
        per_chat: limits.per_chat.saturating_sub(added),
        per_user: limits.per_user.saturating_sub(added),
    }
}

fn note(record: &mut Record, task: TaskId) {
    if !record.reminders.contains(&task) {
        record.reminders.push(task);
    }
}

fn oldest_first(tables: &Tables<'_>, chat: ChatId) -> Result<Vec<Record>, StoreFault> {
    let mut records = tables.records.list(&key::chat(chat))?;
    records.sort_by_key(|record| (record.created_at, record.id));
    Ok(records)
}

/// Returns those of these tasks that belong to the chat and may still run, each once.
fn live(
    tables: &Tables<'_>,
    chat: ChatId,
    ids: impl Iterator<Item = TaskId>,
) -> Result<Vec<Task>, StoreFault> {
    let mut found: Vec<Task> = Vec::new();
    for id in ids {
        let task = task_records::find(tables, Some(id))?;
        let is_new = |task: &Task| {
            task.is_live() && task.place.chat == chat && found.iter().all(|known| known.id != task.id)
        };
        if let Some(task) = task.filter(is_new) {
            found.push(task);
        }
    }
    Ok(found)
}

/// Applies changes to tasks and returns the tasks that changed.
fn change_tasks(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    wanted: Vec<(Task, TaskChange)>,
    now: DateTime<Utc>,
) -> Result<Vec<Task>, StoreFault> {
    let asked = wanted.into_iter().map(|(task, change)| AskedChange { task: Some(task), change }).collect();
    let changed = write::transition(tables, changes, bot, turn::change_tasks(asked, Vec::new(), now))?;
    Ok(changed.into_iter().flatten().collect())
}

/// Stores a removal by the model for undo, and records it in the audit log.
fn keep_undo(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    ByModel { made, name, event }: ByModel,
    removed: &Removed,
) -> Result<(), StoreFault> {
    let Some(call) = Undoable::of_records(chat, &name, removed) else { return Ok(()) };
    let key = key::id(made.run);
    let mut undo = tables.undos.find(&key)?.unwrap_or_else(|| TurnUndo::new(&made));
    undo.add(call, made.at);
    changes.put(&tables.undos, key, &undo)?;
    audit::append(tables, changes, vec![Audited { event, arguments: None }])
}

/// Effect of a changed record on its reminders.
struct ReminderChanges {
    bot: BotId,
    now: DateTime<Utc>,
    /// Records of the chat before the change.
    kept: Vec<Record>,
    /// Limits on the number of tasks.
    limits: TaskLimits,
}

impl ReminderChanges {
    /// Updates the reminders of a changed record.
    fn save(
        self,
        tables: &Tables<'_>,
        changes: &mut Changes<'_>,
        record: Record,
        forms: &Forms,
    ) -> Result<RecordSaved, StoreFault> {
        let Self { bot, now, kept, limits } = self;
        let with = |known: &Record| if known.id == record.id { record.clone() } else { known.clone() };
        let after: Vec<Record> = kept.iter().map(with).collect();
        let of_chat = task_records::of_chat(tables, record.chat)?;
        let mut following = {
            let before = Book::new(forms.packs.clone(), kept, forms.zone);
            let after = Book::new(forms.packs.clone(), after.clone(), forms.zone);
            let (min_interval, of) = (forms.min_interval, forms.of.as_ref());
            let change =
                RecordChange { before: &before, after: &after, record: record.id, min_interval, of, now };
            following(change, &of_chat)
        };
        let find = |id: TaskId| of_chat.iter().find(|task| task.id == id).cloned();
        let left = following.left.iter().copied().filter_map(find).collect();
        let edits = following
            .edits
            .iter()
            .filter_map(|(id, edit)| Some((find(*id)?, TaskChange::edit(edit.clone()))));
        let mut moved = change_tasks(tables, changes, bot, edits.collect(), now)?;
        let ends = following.ended.iter().filter_map(|id| Some((find(*id)?, TaskChange::Cancel)));
        let ended = change_tasks(tables, changes, bot, ends.collect(), now)?;
        let (mut added, mut without_room) = (Vec::new(), 0);
        for (id, task) in std::mem::take(&mut following.added) {
            match add(tables, &task, less(limits, added.len()))? {
                TaskAdded::New => {
                    let task = Task { record: Some(id), ..task };
                    task_records::put(tables, changes, None, Some(&task))?;
                    moved.push(task.clone());
                    added.push((id, task));
                }
                TaskAdded::Already(_) => {}
                TaskAdded::ChatFull | TaskAdded::UserFull => without_room += 1,
            }
        }
        following.added = added;
        let record = noted(tables, changes, record, after, &following)?;
        Ok(RecordSaved { saved: SaveResult::Changed(record), moved, ended, left, without_room })
    }
}

/// Stores with records the reminders that follow them. Returns the changed record.
fn noted(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    changed: Record,
    records: Vec<Record>,
    following: &ReminderEdits,
) -> Result<Record, StoreFault> {
    let added = following.added.iter().map(|(record, task)| (*record, task.id));
    let all: Vec<(RecordId, TaskId)> = following.noted.iter().copied().chain(added).collect();
    let mut changed = changed;
    for mut record in records {
        let before = record.reminders.len();
        let id = record.id;
        all.iter().filter(|(other, _)| *other == id).for_each(|(_, task)| note(&mut record, *task));
        if record.reminders.len() > before {
            put(tables, changes, &record)?;
        }
        if record.id == changed.id {
            changed = record;
        }
    }
    Ok(changed)
}
