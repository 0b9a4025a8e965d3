//! Reminders of records: scheduled tasks like any others, made by a press of a button, found again when the record goes.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::super::ToolError;
use super::super::tasks::TaskTools;
use crate::domain::chat::Place;
use crate::domain::message::Speaker;
use crate::domain::record::{Book, Entry, reminders};
use crate::domain::task::{NewTask, Task};
use crate::ids::TaskId;
use crate::store::{RecordStore, StoreError, TaskAdded, TaskStore};

/// Makes reminders of records, and finds them again. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Reminding {
    /// Makes tasks, within their limits.
    pub tasks: TaskTools,
    /// Notes with records what reminds of them.
    pub records: Arc<dyn RecordStore>,
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
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Reminding {
    /// Has the bot remind of a record for somebody, and notes that with the record. Gives the tasks.
    ///
    /// # Errors
    /// See [`NotReminded`]; then nothing more was made than what there was room for.
    pub async fn remind(
        &self,
        book: &Book,
        entry: &Entry<'_>,
        asker: RemindedBy<'_>,
        now: DateTime<Utc>,
    ) -> Result<Vec<TaskId>, NotReminded> {
        let RemindedBy { place, creator, language } = asker;
        let offered = reminders(book, entry, language, now);
        let mut made = Vec::new();
        let config = self.tasks.reader.settings.chat_config(place.chat).await?;
        for one in offered {
            let zone = book.zone();
            let schedule = self.tasks.reader.when(&one.schedule, one.recurring, zone, now);
            let schedule = schedule.map_err(|error: ToolError| NotReminded::TooOften(error.to_string()))?;
            let new = NewTask {
                place: place.clone(),
                creator: creator.clone(),
                language: language.map(str::to_owned),
                prompt: one.prompt,
                zone,
                zone_assumed: config.timezone.is_none() && schedule.uses_zone(),
                schedule,
            };
            let task = Task { title: Some(one.title), ..Task::new(new, now) };
            made.push(match self.tasks.store.add_task(&task, self.tasks.limits).await? {
                TaskAdded::New => task.id,
                TaskAdded::Already(id) => id,
                TaskAdded::ChatFull | TaskAdded::UserFull => return Err(NotReminded::Full),
            });
            self.records.add_reminders(place.chat, entry.record.id, &made).await?;
        }
        if made.is_empty() { Err(NotReminded::NoTime) } else { Ok(made) }
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
        tasks_of(&*self.tasks.store, book, entry, language).await
    }
}

/// The tasks that remind of a record and still run: those that were noted with it, and those that do the same.
///
/// # Errors
/// Of the store.
pub(super) async fn tasks_of(
    tasks: &dyn TaskStore,
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
    let mut all = tasks.tasks(entry.record.chat).await?;
    all.retain(|task| {
        let does_same = || offered.iter().any(|one| one.prompt == task.prompt);
        task.is_live() && (entry.record.reminders.contains(&task.id) || does_same())
    });
    Ok(all)
}
