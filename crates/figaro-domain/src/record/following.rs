//! Reminders follow their records: what becomes of the tasks that remind of a record once it says something else. A task follows
//! as long as it does what the record offered; what a person or the model made otherwise is left to them.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

use super::super::schedule::Schedule;
use super::super::task::{NewTask, State, Task, TaskEdit};
use super::book::{Book, Entry};
use super::kept::Record;
use super::pack::Pack;
use super::reminders::{Reminder, reminders};
use figaro_base::ids::{ChatId, RecordId, TaskId, TopicId, UserId};

/// All that a record has ever offered counts, also what is over.
const EVER: DateTime<Utc> = DateTime::UNIX_EPOCH;

/// By what a chat's reminders follow its records.
#[derive(Debug, Clone, Default)]
pub struct Forms {
    /// The packs that the chat has chosen.
    pub packs: Vec<Arc<Pack>>,
    /// The zone of the chat.
    pub zone: Tz,
    /// The least time between two runs of a task.
    pub min_interval: TimeDelta,
    /// Whose reminders alone follow; `None` where everybody's do. A reminder runs in its creator's name, so others do not change
    /// what it says.
    pub of: Option<UserId>,
}

/// The records of a chat before and after one of them was changed.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// All records of the chat, this one as it was.
    pub before: &'a Book,
    /// All records of the chat, this one as it is now.
    pub after: &'a Book,
    /// The record that was changed.
    pub record: RecordId,
    /// The least time between two runs of a task.
    pub min_interval: TimeDelta,
    /// Whose reminders alone follow; `None` where everybody's do.
    pub of: Option<&'a UserId>,
    /// The current time.
    pub now: DateTime<Utc>,
}

/// What is to become of tasks that remind of changed records.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Following {
    /// These get another prompt or other times.
    pub edits: Vec<(TaskId, TaskEdit)>,
    /// These have nothing to remind of any more.
    pub ended: Vec<TaskId>,
    /// These come in addition, each with the record that it reminds of.
    pub added: Vec<(RecordId, Task)>,
    /// These follow, each with the record that it reminds of.
    pub noted: Vec<(RecordId, TaskId)>,
    /// These remind of a changed record, but are otherwise than it offered: a person or the model has to see to them.
    pub left: Vec<TaskId>,
}

/// What is to become of the tasks of the chat that remind of a changed record, or of one that names it.
#[must_use]
pub fn following(change: Change<'_>, tasks: &[Task]) -> Following {
    let mut following = Following::default();
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

/// The changed record and, again and again, those that name it.
fn concerned(change: Change<'_>) -> Vec<RecordId> {
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

/// A record before and after.
struct Moved<'a> {
    old: &'a Entry<'a>,
    new: &'a Entry<'a>,
}

/// Whom a task reminds, where and in which language.
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

/// A reminder as a task does it.
#[derive(PartialEq)]
struct Done {
    title: String,
    prompt: String,
    schedule: Schedule,
}

impl Done {
    fn of(reminder: Reminder, zone: Tz) -> Option<Self> {
        let Reminder { title, prompt, schedule, at, .. } = reminder;
        let schedule = match at {
            // A time is read only where it is to come, and not too far off.
            Some(at) => Schedule::once(&schedule, zone, at - TimeDelta::days(1)).ok()?,
            None => Schedule::recurring(&schedule, zone, EVER).ok()?,
        };
        Some(Self { title, prompt, schedule })
    }

    fn all(book: &Book, entry: &Entry<'_>, language: Option<&str>) -> Vec<Self> {
        let offered = reminders(book, entry, language, EVER);
        offered.into_iter().filter_map(|one| Self::of(one, book.zone())).collect()
    }

    fn is_by(&self, task: &Task, zone: Tz) -> bool {
        let is_same_time = match self.schedule.is_recurring() {
            true => task.schedule == self.schedule,
            // A zone that was set meanwhile leaves the instant.
            false => task.schedule.next(task.zone, EVER) == self.schedule.next(zone, EVER),
        };
        task.prompt == self.prompt && is_same_time
    }
}

impl Following {
    /// Has the tasks of one person in one language follow a record.
    fn follow(&mut self, change: Change<'_>, Moved { old, new }: &Moved<'_>, tasks: &[&Task]) {
        let language = tasks.first().and_then(|task| task.language.as_deref());
        let (was, is) = (Done::all(change.before, old, language), Done::all(change.after, new, language));
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
        let is_too_often = |one: &Done| {
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
            let is_unwanted = by().any(|task| matches!(task.state, State::Cancelled(_)));
            // Where the record had a time to come that nothing reminds of, a person has taken the reminder away or changed it.
            let is_free = was.is_none_or(|one| one.schedule.next(zone, change.now).is_none())
                || by().any(|task| matches!(task.state, State::Done(_)));
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

    fn edit(&mut self, change: Change<'_>, record: &Record, task: &Task, one: &Done) {
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

/// A further task like one that reminds of the record already.
fn made(change: Change<'_>, like: &Task, record: &Record, one: &Done) -> Task {
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
