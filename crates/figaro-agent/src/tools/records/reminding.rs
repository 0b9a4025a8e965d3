//! Reminders of records: ordinary scheduled tasks, made by a button and found again when the record is removed.

use chrono::{DateTime, Utc};
use figaro_base::tz::Tz;

use super::super::ToolError;
use super::super::tasks::TaskTools;
use figaro_base::ids::TaskId;
use figaro_domain::chat::Place;
use figaro_domain::message::Speaker;
use figaro_domain::record::{Book, BookEntry, Reminder, reminders};
use figaro_domain::task::{NewTask, Task};
use figaro_store::{StoreError, TaskAdded, TaskStore};

/// Makes and finds reminders of records. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Reminding {
    /// Creates the tasks, within their limits.
    pub tasks: TaskTools,
}

/// Requester of a reminder, and the place for it.
#[derive(Debug, Clone, Copy)]
pub struct RemindedBy<'a> {
    /// Chat and topic of the reminders.
    pub place: &'a Place,
    /// Person who pressed the button and owns the tasks.
    pub creator: &'a Speaker,
    /// IETF language tag of that person.
    pub language: Option<&'a str>,
}

/// Time zone of a chat; `is_guess` if nobody has set it.
#[derive(Debug, Clone, Copy)]
struct Local {
    zone: Tz,
    is_guess: bool,
}

/// Error of making a reminder.
#[derive(Debug, thiserror::Error)]
pub enum NotReminded {
    /// The record has no future time.
    #[error("it has no time to come")]
    NoTime,
    /// The limit of tasks is reached.
    #[error("there are as many tasks as there may be")]
    Full,
    /// The reminder would run more often than allowed.
    #[error("it would come too often: {0}")]
    TooOften(String),
    /// Tasks or records could not be read or stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Reminding {
    /// Creates the reminders of a record and links them to it. Returns the tasks.
    ///
    /// # Errors
    /// See [`NotReminded`]. Nothing was created then.
    pub async fn remind(
        &self,
        book: &Book,
        entry: &BookEntry<'_>,
        asker: RemindedBy<'_>,
        now: DateTime<Utc>,
    ) -> Result<Vec<TaskId>, NotReminded> {
        let offered = reminders(book, entry, asker.language, now);
        let config = self.tasks.reader.settings.chat_config(asker.place.chat)?;
        let local = Local { zone: book.zone(), is_guess: config.timezone.is_none() };
        let tasks = offered.into_iter().map(|one| self.task(one, asker, local, now));
        let tasks = tasks.collect::<Result<Vec<Task>, NotReminded>>()?;
        let added = self.tasks.records.add_reminders(entry.record.id, &tasks, self.tasks.limits).await?;
        let id = |(added, task): (&TaskAdded, &Task)| match added {
            TaskAdded::New => Ok(task.id),
            TaskAdded::Already(id) => Ok(*id),
            TaskAdded::ChatFull | TaskAdded::UserFull => Err(NotReminded::Full),
        };
        let made = added.iter().zip(&tasks).map(id).collect::<Result<Vec<TaskId>, NotReminded>>()?;
        if made.is_empty() { Err(NotReminded::NoTime) } else { Ok(made) }
    }

    /// Makes the task of an offered reminder.
    fn task(
        &self,
        one: Reminder,
        RemindedBy { place, creator, language }: RemindedBy<'_>,
        Local { zone, is_guess }: Local,
        now: DateTime<Utc>,
    ) -> Result<Task, NotReminded> {
        let schedule = self.tasks.reader.when(&one.schedule, one.recurring, zone, now);
        let schedule = schedule.map_err(|error: ToolError| NotReminded::TooOften(error.to_string()))?;
        let new = NewTask {
            place: place.clone(),
            creator: creator.clone(),
            language: language.map(str::to_owned),
            prompt: one.prompt,
            zone,
            zone_assumed: is_guess && schedule.uses_zone(),
            schedule,
        };
        Ok(Task { title: Some(one.title), ..Task::new(new, now) })
    }

    /// Returns the live reminders of a record.
    ///
    /// # Errors
    /// If the store fails.
    pub fn of(
        &self,
        book: &Book,
        entry: &BookEntry<'_>,
        language: Option<&str>,
    ) -> Result<Vec<Task>, StoreError> {
        tasks_of(&self.tasks.store, book, entry, language)
    }
}

/// Returns the live reminders of a record: those linked to it, and those with the same prompt.
///
/// # Errors
/// If the store fails.
pub(super) fn tasks_of(
    tasks: &TaskStore,
    book: &Book,
    entry: &BookEntry<'_>,
    language: Option<&str>,
) -> Result<Vec<Task>, StoreError> {
    let remind = entry.kind.remind.is_some() || !entry.record.reminders.is_empty();
    if !remind {
        return Ok(Vec::new());
    }
    // Past times count too, since only the words are compared.
    let offered = reminders(book, entry, language, DateTime::<Utc>::MIN_UTC);
    let mut all = tasks.of_chat(entry.record.chat)?;
    all.retain(|task| {
        let does_same = || offered.iter().any(|one| one.prompt == task.prompt);
        task.is_live() && (entry.record.reminders.contains(&task.id) || does_same())
    });
    Ok(all)
}
