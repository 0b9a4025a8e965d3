//! The scheduling tools: `schedule_task`, `list_tasks`, `cancel_task`, `update_task`. Results come from the stored task;
//! the turn shows the person a card made from it.

mod allow;
mod arguments;
mod read;
#[cfg(test)]
mod tests;
mod view;

use std::sync::Arc;

use serde_json::{Value, json};

pub(crate) use self::allow::allow_tool;
use self::arguments::{ChangeTaskArguments, CreateTaskArguments, NoTaskArguments, Which};
pub use self::read::TaskReader;
use super::typed::{ToolDefinition, typed};
use super::{Tool, ToolContext, ToolError, ToolOutput};
use figaro_base::ids::TaskId;
use figaro_domain::task::{NewTask, PauseReason, Task, TaskChange, TaskEdit, TaskState};
use figaro_domain::tool::{Effect, StatusKey};
use figaro_policy::access::{Admins, Standing, may_change};
use figaro_store::{RecordStore, TaskAdded, TaskLimits, TaskStore};

/// Status text shown during a call.
const STATUS: StatusKey = StatusKey("tool_tasks");
/// Minimum length of an id prefix, in characters.
const MIN_PREFIX: usize = 8;
const GONE: &str =
    "the task has just been changed or removed by someone else; list_tasks shows what there is";

/// Dependencies of the task tools.
#[derive(Debug, Clone)]
pub struct TaskTools {
    /// Store of the scheduled tasks.
    pub store: TaskStore,
    /// Records that tasks remind of.
    pub records: RecordStore,
    /// Tells who may change other people's tasks in a group.
    pub admins: Arc<dyn Admins>,
    /// Maximum number of tasks per chat and per person.
    pub limits: TaskLimits,
    /// Parses the zones, times, models and agents of a task.
    pub reader: TaskReader,
}

impl TaskTools {
    /// Makes `schedule_task`, which creates a task.
    #[must_use]
    pub(crate) fn schedule_tool(self) -> Arc<dyn Tool> {
        let words = "Has something done later in this chat, once or again and again: reminders, regular news, checks. \
                     It is sure only if this says success; the person then sees a card with the next times.";
        let about = ToolDefinition::new("schedule_task", words, Effect::Write, STATUS).of_chat();
        typed(about, move |context: ToolContext, wanted: CreateTaskArguments| {
            let this = self.clone();
            async move { this.schedule(&context, wanted).await }
        })
    }

    /// Makes `list_tasks`, which lists the tasks of the chat.
    #[must_use]
    pub(crate) fn list_tool(self) -> Arc<dyn Tool> {
        let words = "Lists this chat's tasks, with ids, next times and last runs.";
        let about = ToolDefinition::new("list_tasks", words, Effect::Read, STATUS).of_chat();
        typed(about, move |context: ToolContext, NoTaskArguments {}| {
            let this = self.clone();
            async move {
                let tasks = this.store.of_chat(context.place.chat)?;
                Ok(view::list(tasks.iter().filter(|task| task.is_live()).collect()))
            }
        })
    }

    /// Makes `cancel_task`, which cancels a task for good.
    #[must_use]
    pub(crate) fn cancel_tool(self) -> Arc<dyn Tool> {
        let words = "Cancels a task for good. To leave it out for a while, pause it.";
        let about = ToolDefinition::new("cancel_task", words, Effect::Destructive, STATUS).of_chat();
        typed(about, move |context: ToolContext, which: Which| {
            let this = self.clone();
            async move { this.cancel(&context, &which.task_id).await }
        })
    }

    /// Makes `update_task`, which changes, pauses or resumes a task.
    #[must_use]
    pub(crate) fn update_tool(self) -> Arc<dyn Tool> {
        let words = "Changes a scheduled task of this chat, pauses it or lets it run again. Give only what is to change.";
        let about = ToolDefinition::new("update_task", words, Effect::Write, STATUS).of_chat();
        typed(about, move |context: ToolContext, change: ChangeTaskArguments| {
            let this = self.clone();
            async move { this.update(&context, change).await }
        })
    }

    async fn schedule(
        &self,
        context: &ToolContext,
        wanted: CreateTaskArguments,
    ) -> Result<ToolOutput, ToolError> {
        own_words(context)?;
        let prompt = read::prompt(&wanted.prompt)?;
        let (named, schedule) = read::zoned(context, wanted.timezone.as_deref(), &wanted.schedule)?;
        let (zone, is_guess) = self.reader.zone(context, named)?;
        let schedule = self.reader.when(schedule, wanted.recurring, zone, context.now)?;
        let new = NewTask {
            place: context.place.clone(),
            creator: context.speaker.clone(),
            language: context.language.clone(),
            prompt,
            zone,
            zone_assumed: is_guess && schedule.uses_zone(),
            schedule,
        };
        let addresses = context.addresses.known_in(&new.prompt).map(ToOwned::to_owned).collect();
        let agent = self.reader.agent(context, wanted.agent.as_deref())?;
        let title = read::title(wanted.title.as_deref());
        let task = Task::new(new, context.now);
        let made_in = [context.run].into();
        let (agent, read) = (agent.unwrap_or_else(|| task.agent.clone()), context.read.clone());
        let task = Task { title, addresses, made_in, read, agent, ..task };
        let full = |whose: &str, most: usize| {
            ToolError::ForModel(format!(
                "{whose} as many scheduled tasks as there may be: {most}. Ask the person which of them to cancel; \
                 list_tasks shows those of this chat"
            ))
        };
        match self.add(&task, wanted.record_id.as_deref()).await? {
            TaskAdded::New => Ok(view::shown(&task)),
            TaskAdded::Already(id) => {
                let same = self.store.find(id)?.ok_or_else(gone)?;
                let mut shown = view::shown(&same);
                shown.value["already_there"] = true.into();
                Ok(shown)
            }
            TaskAdded::ChatFull => Err(full("this chat has", self.limits.per_chat)),
            TaskAdded::UserFull => Err(full("this person has, in all chats,", self.limits.per_user)),
        }
    }

    /// Adds a task, and links it to its record if there is one.
    async fn add(&self, task: &Task, record: Option<&str>) -> Result<TaskAdded, ToolError> {
        let Some(record) = record.map(str::trim).filter(|id| !id.is_empty()) else {
            return Ok(self.store.add(task, self.limits).await?);
        };
        let unknown = || ToolError::ForModel(format!("no record has the id {record}; leave record_id out"));
        let id = record.parse().map_err(|_not_an_id| unknown())?;
        let added = self.records.add_reminders(id, std::slice::from_ref(task), self.limits).await?;
        added.first().copied().ok_or_else(unknown)
    }

    async fn cancel(&self, context: &ToolContext, id: &str) -> Result<Value, ToolError> {
        let task = self.task_to_change(context, id).await?;
        let task = self.change(task.id, TaskChange::Cancel, context).await?;
        Ok(json!({"success": true, "cancelled": {"task_id": task.id, "title": task.title()}}))
    }

    async fn update(
        &self,
        context: &ToolContext,
        change: ChangeTaskArguments,
    ) -> Result<ToolOutput, ToolError> {
        let mut task = self.task_to_change(context, &change.task_id).await?;
        let edit = self.reader.edit(context, &task, &change)?;
        let is_edit = edit != TaskEdit::default();
        if !is_edit && change.paused.is_none() {
            return Err(ToolError::ForModel("nothing is to change: give what is to be different".to_owned()));
        }
        if is_edit {
            task = self.change(task.id, TaskChange::edit(edit), context).await?;
        }
        let is_paused = matches!(task.state, TaskState::Paused(_));
        task = match change.paused {
            Some(true) if !is_paused => {
                self.change(task.id, TaskChange::Pause(PauseReason::Person), context).await?
            }
            Some(false) if is_paused => self.change(task.id, TaskChange::Resume, context).await?,
            _ => task,
        };
        Ok(view::shown(&task))
    }

    async fn change(&self, id: TaskId, change: TaskChange, context: &ToolContext) -> Result<Task, ToolError> {
        let changed = self.store.change(vec![(id, change)], Vec::new(), context.now).await?;
        let changed = changed.into_iter().next().flatten().ok_or_else(gone)?;
        // The buttons and the question on old cards are obsolete.
        let closed = self.store.change(vec![(id, TaskChange::CloseOpened)], Vec::new(), context.now).await?;
        Ok(closed.into_iter().next().flatten().unwrap_or(changed))
    }

    /// Finds a live task of this chat by its id or a prefix of it, and checks that the person may change it.
    async fn task_to_change(&self, context: &ToolContext, id: &str) -> Result<Task, ToolError> {
        own_words(context)?;
        let id = id.trim().to_uppercase();
        let is_meant = |task: &Task| {
            let whole = task.id.to_string();
            whole == id || id.len() >= MIN_PREFIX && whole.starts_with(&id)
        };
        let tasks = self.store.of_chat(context.place.chat)?;
        let mut meant = tasks.into_iter().filter(|task| task.is_live() && is_meant(task));
        let (Some(task), None) = (meant.next(), meant.next()) else {
            return Err(ToolError::ForModel(format!(
                "no task of this chat that is still to run has the id {id}; list_tasks shows the ids"
            )));
        };
        let (place, user) = (&context.place, &context.speaker.user);
        if task.creator.user == *user || may_change(&*self.admins, context.standing, place, user).await {
            return Ok(task);
        }
        Err(ToolError::Denied(format!(
            "only {}, who asked for this task, an admin of this chat or the bot's owner may change or cancel it",
            task.creator.name
        )))
    }
}

/// Rejects borrowed words: a retry of somebody else's words must not get the rights of the person who retries.
fn own_words(context: &ToolContext) -> Result<(), ToolError> {
    match context.standing {
        Standing::Owner | Standing::Admin | Standing::Member | Standing::Guest => Ok(()),
        Standing::Borrowed => Err(ToolError::Denied(
            "these are the words of someone else: only who wrote them can have something scheduled, changed or \
             cancelled, by saying so again"
                .to_owned(),
        )),
    }
}

fn gone() -> ToolError {
    ToolError::ForModel(GONE.to_owned())
}
