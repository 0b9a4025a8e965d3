//! Reminders that follow their records: the changes of tasks after a change of a record. A task follows while it matches
//! what the record offered. A task that a person or the model changed is left alone.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::tz::Tz;

use super::super::schedule::Schedule;
use super::super::task::{NewTask, Task, TaskEdit, TaskState};
use super::book::{Book, BookEntry};
use super::kept::Record;
use super::pack::Pack;
use super::reminders::{Reminder, reminders};
use figaro_base::ids::{ChatId, RecordId, TaskId, TopicId, UserId};

/// Start of time, so that everything a record ever offered is compared, even if it is past.
const EVER: DateTime<Utc> = DateTime::UNIX_EPOCH;

/// Parameters by which a chat's reminders follow its records.
#[derive(Debug, Clone, Default)]
pub struct Forms {
    /// Packs chosen for the chat.
    pub packs: Vec<Arc<Pack>>,
    /// Time zone of the chat.
    pub zone: Tz,
    /// Minimum time between two runs of a task.
    pub min_interval: TimeDelta,
    /// Person whose reminders follow; `None` for everybody's. A reminder runs in its creator's name, so others do not change
    /// its text.
    pub of: Option<UserId>,
}

/// Records of a chat before and after a change of one of them.
#[derive(Debug, Clone, Copy)]
pub struct RecordChange<'a> {
    /// All records of the chat before the change.
    pub before: &'a Book,
    /// All records of the chat after the change.
    pub after: &'a Book,
    /// Changed record.
    pub record: RecordId,
    /// Minimum time between two runs of a task.
    pub min_interval: TimeDelta,
    /// Person whose reminders follow; `None` for everybody's.
    pub of: Option<&'a UserId>,
    /// Current time, UTC.
    pub now: DateTime<Utc>,
}

/// Changes of tasks that remind of changed records.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReminderEdits {
    /// Tasks that get a new prompt or new times.
    pub edits: Vec<(TaskId, TaskEdit)>,
    /// Tasks that have nothing left to remind of.
    pub ended: Vec<TaskId>,
    /// New tasks, each with the record that it reminds of.
    pub added: Vec<(RecordId, Task)>,
    /// Tasks that follow, each with the record that it reminds of.
    pub noted: Vec<(RecordId, TaskId)>,
    /// Tasks that remind of a changed record, but differ from what it offered. A person or the model must adjust them.
    pub left: Vec<TaskId>,
}

/// Returns the changes of the chat's tasks that remind of the changed record, or of a record that refers to it.
#[must_use]
pub fn following(change: RecordChange<'_>, tasks: &[Task]) -> ReminderEdits {
    let mut following = ReminderEdits::default();
    for id in concerned(change) {
        let entries = change.before.entry(id).zip(change.after.entry(id));
        let Some((old, new)) = entries.filter(|(old, _)| old.kind.remind.is_some()) else { continue };
        let mut known: Vec<Whose<'_>> = Vec::new();
        for task in tasks {
            let whose = Whose::of(task);
            if task.is_live() && !known.contains(&whose) {
                known.push(whose);
            }
        }
        for whose in known {
            let of_one: Vec<&Task> = tasks.iter().filter(|task| Whose::of(task) == whose).collect();
            following.follow(change, &Moved { old: &old, new: &new }, &of_one);
        }
    }
    following
}

/// Returns the changed record and all records that refer to it, directly or indirectly.
fn concerned(change: RecordChange<'_>) -> Vec<RecordId> {
    let mut all = vec![change.record];
    let mut at = 0;
    while let Some(id) = all.get(at).copied() {
        for record in change.after.referring(id) {
            if !all.contains(&record.id) {
                all.push(record.id);
            }
        }
        at += 1;
    }
    all
}

/// A record before and after the change.
struct Moved<'a> {
    old: &'a BookEntry<'a>,
    new: &'a BookEntry<'a>,
}

/// Recipient of a reminder: person, place and language.
#[derive(PartialEq)]
struct Whose<'a> {
    user: &'a UserId,
    chat: ChatId,
    topic: Option<TopicId>,
    language: Option<&'a str>,
}

impl<'a> Whose<'a> {
    fn of(task: &'a Task) -> Self {
        Self {
            user: &task.creator.user,
            chat: task.place.chat,
            topic: task.place.topic,
            language: task.language.as_deref(),
        }
    }
}

/// A reminder in the form of a task.
#[derive(PartialEq)]
struct ReminderTask {
    title: String,
    prompt: String,
    schedule: Schedule,
}

impl ReminderTask {
    fn of(reminder: Reminder, zone: Tz) -> Option<Self> {
        let Reminder { title, prompt, schedule, at, .. } = reminder;
        let schedule = match at {
            // A time is only parsed if it is in the future and not too far away.
            Some(at) => Schedule::once(&schedule, zone, at - TimeDelta::days(1)).ok()?,
            None => Schedule::recurring(&schedule, zone, EVER).ok()?,
        };
        Some(Self { title, prompt, schedule })
    }

    fn all(book: &Book, entry: &BookEntry<'_>, language: Option<&str>) -> Vec<Self> {
        let offered = reminders(book, entry, language, EVER);
        offered.into_iter().filter_map(|one| Self::of(one, book.zone())).collect()
    }

    fn is_by(&self, task: &Task, zone: Tz) -> bool {
        let is_same_time = match self.schedule.is_recurring() {
            true => task.schedule == self.schedule,
            // A time zone set in between does not change the instant.
            false => task.schedule.next(task.zone, EVER) == self.schedule.next(zone, EVER),
        };
        task.prompt == self.prompt && is_same_time
    }
}

impl ReminderEdits {
    /// Updates the tasks of one person in one language after a change of a record.
    fn follow(&mut self, change: RecordChange<'_>, Moved { old, new }: &Moved<'_>, tasks: &[&Task]) {
        let language = tasks.first().and_then(|task| task.language.as_deref());
        let (was, is) =
            (ReminderTask::all(change.before, old, language), ReminderTask::all(change.after, new, language));
        if was == is {
            return;
        }
        let does = |task: &Task| was.iter().any(|one| one.is_by(task, change.before.zone()));
        let is_noted = |task: &Task| old.record.reminders.contains(&task.id);
        let live = || tasks.iter().copied().filter(|task| task.is_live());
        self.left.extend(live().filter(|task| is_noted(task) && !does(task)).map(|task| task.id));
        let Some(like) = live().find(|task| does(task)) else { return };
        if change.of.is_some_and(|user| like.creator.user != *user) {
            self.left.extend(live().filter(|task| does(task)).map(|task| task.id));
            return;
        }
        let zone = change.after.zone();
        let is_too_often = |one: &ReminderTask| {
            one.schedule.shortest_gap(zone, change.now).is_some_and(|gap| gap < change.min_interval)
        };
        if is.iter().any(is_too_often) {
            self.left.extend(live().filter(|task| does(task)).map(|task| task.id));
            return;
        }
        for at in 0..was.len().max(is.len()) {
            let to = is.get(at).filter(|one| one.schedule.next(zone, change.now).is_some());
            let was = was.get(at);
            let by = || tasks.iter().copied().filter(|task| was.is_some_and(|one| one.is_by(task, zone)));
            let is_unwanted = by().any(|task| matches!(task.state, TaskState::Cancelled(_)));
            // If the record had a future time without a reminder, a person has removed or changed the reminder.
            let is_free = was.is_none_or(|one| one.schedule.next(zone, change.now).is_none())
                || by().any(|task| matches!(task.state, TaskState::Done(_)));
            match (by().find(|task| task.is_live()), to) {
                (Some(task), Some(one)) => self.edit(change, new.record, task, one),
                (Some(task), None) => self.ended.push(task.id),
                (None, Some(one)) if is_free && !is_unwanted && was != Some(one) => {
                    self.added.push((new.record.id, made(change, like, new.record, one)));
                }
                (None, _) => {}
            }
        }
    }

    fn edit(&mut self, change: RecordChange<'_>, record: &Record, task: &Task, one: &ReminderTask) {
        self.noted.push((record.id, task.id));
        let zone = change.after.zone();
        let is_moved = !one.is_by(task, zone);
        if !is_moved && task.title.as_deref() == Some(one.title.as_str()) {
            return;
        }
        let edit = TaskEdit {
            title: Some(one.title.clone()),
            prompt: Some(one.prompt.clone()).filter(|prompt| *prompt != task.prompt),
            addresses: task.addresses.clone(),
            made_in: record.turns(),
            schedule: Some((one.schedule.clone(), zone)).filter(|(schedule, _)| *schedule != task.schedule),
            zone_assumed: task.zone_assumed,
            ..TaskEdit::default()
        };
        self.edits.push((task.id, edit));
    }
}

/// Creates a task like an existing one that reminds of the record.
fn made(change: RecordChange<'_>, like: &Task, record: &Record, one: &ReminderTask) -> Task {
    let new = NewTask {
        place: like.place.clone(),
        creator: like.creator.clone(),
        language: like.language.clone(),
        prompt: one.prompt.clone(),
        schedule: one.schedule.clone(),
        zone: change.after.zone(),
        zone_assumed: like.zone_assumed && one.schedule.uses_zone(),
    };
    let task = Task::new(new, change.now);
    Task {
        title: Some(one.title.clone()),
        made_in: record.turns(),
        agent: like.agent.clone(),
        model: like.model.clone(),
        ..task
    }
}
