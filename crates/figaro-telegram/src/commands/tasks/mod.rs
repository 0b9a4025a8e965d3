//! `/tasks`: lists the scheduled tasks of a chat. The list opens the cards of tasks; buttons on cards and under
//! notices change tasks.

pub(super) mod back;
mod card;
mod drawn;
mod edit;
mod fired;
mod keeper;
mod one;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use self::back::RestingTasks;
use super::agents::ChatAgents;
use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    self, Command, CommandOutcome, CommandRequest, CommandSpec, Group, PressError, Pressed,
};
use super::handles::Handles;
use super::list_page::ListPage;
use crate::callback::{ButtonFamily, Page, TaskPress, TaskVerb, TasksButton};
use crate::send::Button;
use figaro_agent::task_control::TaskControl;
use figaro_base::text::one_line;
use figaro_domain::task::{RunStatus, Task, TaskState};
use figaro_prompts::texts::{Texts, schedules};
use figaro_store::{StoreError, TaskStore};

pub use self::drawn::TaskCards;
pub use self::keeper::CardKeeper;

/// Maximum length of a task's title on a button, in characters.
const BUTTON_CHARS: usize = 40;

/// Shows and changes the tasks of a chat.
#[derive(Debug)]
pub(super) struct TasksCommand {
    cards: Cards,
    store: TaskStore,
    changes: TaskControl,
    agents: ChatAgents,
    resting: RestingTasks,
    drawn: TaskCards,
}

#[async_trait]
impl Command for TasksCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("tasks", Texts::command_tasks).group(Group::Schedule).families(&[TasksButton::NAME])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        self.list(request.asker, 0).map(CommandOutcome::Card)
    }

    async fn press(&self, press: &command::Press<'_>) -> Result<Pressed, PressError> {
        let asker = press.asker;
        Ok(match press.data.parse()? {
            TasksButton::List(page) => {
                self.leave(asker, press.message).await?;
                Pressed::card(self.list(asker, page)?)
            }
            TasksButton::Back(again) => match self.resting.press(asker, again).await? {
                Some(pressed) => pressed,
                None => Pressed::both(self.cards.texts(asker).gone(), self.list(asker, 0)?),
            },
            TasksButton::One(on) => self.press_one(press, on).await?,
        })
    }
}

impl TasksCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            store: handles.store.tasks(),
            changes: handles.task_control.clone(),
            agents: ChatAgents::new(handles),
            resting: RestingTasks::new(handles),
            drawn: TaskCards {
                languages: handles.cards.languages.clone(),
                settings: handles.store.settings(),
                prompts: handles.prompts.clone(),
                default_zone: handles.default_zone,
                clock: handles.cards.sender.clock.clone(),
            },
        }
    }

    fn list(&self, asker: &Asker, page: Page) -> Result<Card, StoreError> {
        let (texts, now) = (self.cards.texts(asker), self.cards.now());
        let tasks = in_order(self.store.of_chat(asker.place.chat)?, now);
        if tasks.is_empty() {
            return Ok(Card::text(texts.tasks_empty()));
        }
        let page = ListPage::of(tasks, page);
        let open = |task: &Task| {
            let press = TaskPress { verb: TaskVerb::Open, task: task.id, page: Some(page.number()) };
            vec![Button::new(label(texts, task, now), TasksButton::One(press))]
        };
        Ok(Card::titled(texts.tasks_title(), "").list(texts, &page, open, TasksButton::List))
    }
}

/// Time for which a finished task stays in the list.
const LISTED: TimeDelta = TimeDelta::days(7);

/// Sorts tasks for the list: active tasks by next run, then paused ones, then those that ended within [`LISTED`].
fn in_order(mut tasks: Vec<Task>, now: DateTime<Utc>) -> Vec<Task> {
    tasks.retain(|task| match task.state {
        TaskState::Active | TaskState::Paused(_) => true,
        TaskState::Done(at) => now - at < LISTED,
        TaskState::Cancelled(_) => false,
    });
    tasks.sort_by_key(|task| match task.state {
        TaskState::Active => (0, comes(task).map_or(0, |at| at.timestamp())),
        TaskState::Paused(_) => (1, task.created_at.timestamp()),
        TaskState::Done(at) | TaskState::Cancelled(at) => (2, -at.timestamp()),
    });
    tasks
}

/// Returns the time of a task's next run or retry; `None` while it runs.
fn comes(task: &Task) -> Option<DateTime<Utc>> {
    task.retry.map(|retry| retry.at).or(task.next).filter(|_| task.lease.is_none())
}

fn label(texts: &Texts, task: &Task, now: DateTime<Utc>) -> String {
    let title = one_line(&task.title(), BUTTON_CHARS);
    match (task.state, comes(task)) {
        _ if task.lease.is_some() => format!("⏳ {title}"),
        (TaskState::Active, Some(at)) => format!("⏰ {} · {title}", schedules::short(texts, task, at, now)),
        (TaskState::Active, None) => format!("⏰ {title}"),
        (TaskState::Paused(_), _) => format!("⏸ {title}"),
        (TaskState::Done(_) | TaskState::Cancelled(_), _) => match task.last.as_ref().map(|run| run.status) {
            Some(RunStatus::Failed | RunStatus::Missed) => format!("⚠️ {title}"),
            _ => format!("✅ {title}"),
        },
    }
}
