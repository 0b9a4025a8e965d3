//! Reminders of records: scheduled tasks like any others, made by a press of a button, found again when the record goes.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::super::ToolError;
use super::super::tasks::TaskTools;
use figaro_base::ids::TaskId;
use figaro_domain::chat::Place;
use figaro_domain::message::Speaker;
use figaro_domain::record::{Book, Entry, Reminder, reminders};
use figaro_domain::task::{NewTask, Task};
use figaro_store::{StoreError, TaskAdded, TaskStore};

/// Makes reminders of records, and finds them again. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Reminding {
    /// Makes tasks, within their limits.
    pub tasks: TaskTools,
}

/// Who has the bot remind of a record, and where.
#[derive(Debug, Clone, Copy)]
pub struct RemindedBy<'a> {
    /// The chat and topic that the reminders come in.
    pub place: &'a Place,
    /// Who has pressed: the tasks are theirs.
    pub creator: &'a Speaker,
    /// The IETF tag of the language to speak to them in.
    pub language: Option<&'a str>,
}

/// The zone of a chat, and whether nobody has named it.
#[derive(Debug, Clone, Copy)]
struct Local {
    zone: Tz,
    is_guess: bool,
}

/// Why nothing reminds of a record.
#[derive(Debug, thiserror::Error)]
pub enum NotReminded {
    /// It has no time to come.
    #[error("it has no time to come")]
    NoTime,
    /// There are as many tasks as there may be.
    #[error("there are as many tasks as there may be")]
    Full,
    /// It would come more often than a task may run.
    #[error("it would come too often: {0}")]
    TooOften(String),
    /// Tasks or records could not be read or stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Reminding {
    /// Has the bot remind of a record for somebody, and notes that with the record. Gives the tasks.
    ///
    /// # Errors
    /// See [`NotReminded`]; then nothing was made.
    pub async fn remind(
        &self,
        book: &Book,
        entry: &Entry<'_>,
        asker: RemindedBy<'_>,
        now: DateTime<Utc>,
    ) -> Result<Vec<TaskId>, NotReminded> {
        let offered = reminders(book, entry, asker.language, now);
        let config = self.tasks.reader.settings.chat_config(asker.place.chat).await?;
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

    /// The task that does what a record offers.
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

    /// The tasks that remind of a record and still run.
    ///
    /// # Errors
    /// Of the store.
    pub async fn of(
        &self,
        book: &Book,
        entry: &Entry<'_>,
        language: Option<&str>,
    ) -> Result<Vec<Task>, StoreError> {
        tasks_of(&self.tasks.store, book, entry, language).await
    }
}

/// The tasks that remind of a record and still run: those that were noted with it, and those that do the same.
///
/// # Errors
/// Of the store.
pub(super) async fn tasks_of(
    tasks: &TaskStore,
    book: &Book,
    entry: &Entry<'_>,
    language: Option<&str>,
) -> Result<Vec<Task>, StoreError> {
    let remind = entry.kind.remind.is_some() || !entry.record.reminders.is_empty();
    if !remind {
        return Ok(Vec::new());
    }
    // What has passed too: only its words are compared.
    let offered = reminders(book, entry, language, DateTime::<Utc>::MIN_UTC);
    let mut all = tasks.of_chat(entry.record.chat).await?;
    all.retain(|task| {
        let does_same = || offered.iter().any(|one| one.prompt == task.prompt);
        task.is_live() && (entry.record.reminders.contains(&task.id) || does_same())
    });
    Ok(all)
}
