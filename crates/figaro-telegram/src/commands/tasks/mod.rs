//! `/tasks`: what runs by itself in a chat. Its list opens the cards of tasks; the buttons on those, and under notices
//! about tasks, change them here.

pub(super) mod back;
mod card;
mod changes;
mod drawn;
mod edit;
mod fired;
mod keeper;
mod one;
mod words;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use self::back::RestingTasks;
use self::changes::Changes;
use super::agents::ChatAgents;
use super::asker::Asker;
use super::card::{Card, ROWS, number, page_of, pager};
use super::cards::Cards;
use super::command::{self, Command, Group, Outcome, PressError, Pressed, Request};
use super::handles::Handles;
use crate::callback::{Family, Page, TaskPress, TaskVerb, Tasks as Press};
use crate::send::Button;
use figaro_agent::turn::queue::Mailboxes;
use figaro_base::text::one_line;
use figaro_config::AccessSettings;
use figaro_domain::task::{RunStatus, State, Task};
use figaro_prompts::texts::Texts;
use figaro_store::{SettingsStore, StoreError, TaskStore};

pub use self::drawn::TaskCards;
pub use self::keeper::CardKeeper;

/// What a button of the list shows of a task.
const BUTTON_CHARS: usize = 40;

/// Shows and changes the tasks of a chat.
#[derive(Debug)]
pub(super) struct Tasks {
    cards: Cards,
    store: TaskStore,
    settings: SettingsStore,
    changes: Changes,
    agents: ChatAgents,
    resting: RestingTasks,
    access: AccessSettings,
    mailboxes: Mailboxes,
    drawn: TaskCards,
}

#[async_trait]
impl Command for Tasks {
    fn name(&self) -> &'static str {
        "tasks"
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        texts.command_tasks()
    }

    fn group(&self) -> Option<Group> {
        Some(Group::Schedule)
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        self.list(request.asker, 0).await.map(Outcome::Card)
    }

    fn families(&self) -> &'static [&'static str] {
        &[Press::NAME]
    }

    async fn press(&self, press: &command::Press<'_>) -> Result<Pressed, PressError> {
        let asker = press.asker;
        Ok(match press.data.parse()? {
            Press::List(page) => {
                self.leave(asker, press.message).await?;
                Pressed::card(self.list(asker, page).await?)
            }
            Press::Back(again) => match self.resting.press(asker, again).await? {
                Some(pressed) => pressed,
                None => Pressed::both(self.cards.texts(asker).gone(), self.list(asker, 0).await?),
            },
            Press::One(on) => self.press_one(press, on).await?,
        })
    }
}

impl Tasks {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            store: handles.store.tasks(),
            settings: handles.store.settings(),
            changes: Changes::new(handles),
            agents: ChatAgents::new(handles),
            resting: RestingTasks::new(handles),
            access: handles.access.clone(),
            mailboxes: handles.mailboxes.clone(),
            drawn: TaskCards {
                languages: handles.cards.languages.clone(),
                settings: handles.store.settings(),
                prompts: handles.prompts.clone(),
                default_zone: handles.default_zone,
                clock: handles.cards.sender.clock.clone(),
            },
        }
    }

    async fn list(&self, asker: &Asker, page: Page) -> Result<Card, StoreError> {
        let (texts, now) = (self.cards.texts(asker), self.cards.now());
        let tasks = in_order(self.store.of_chat(asker.place.chat).await?, now);
        if tasks.is_empty() {
            return Ok(Card::text(texts.tasks_empty()));
        }
        let page = page_of(page, tasks.len());
        let open = |task: &Task| {
            Press::One(TaskPress { verb: TaskVerb::Open, task: task.id, page: Some(number(page)) })
        };
        let shown = tasks.iter().skip(page * ROWS).take(ROWS);
        let rows = shown.map(|task| vec![Button::new(label(texts, task, now), open(task))]);
        Ok(Card::titled(texts.tasks_title(), "").rows(rows).row(pager(texts, page, tasks.len(), Press::List)))
    }
}

/// A task that has ended stays in the list so long.
const LISTED: TimeDelta = TimeDelta::days(7);

/// As the list has them: those that run by when they do, then paused ones, then those that ended within a week.
fn in_order(mut tasks: Vec<Task>, now: DateTime<Utc>) -> Vec<Task> {
    tasks.retain(|task| match task.state {
        State::Active | State::Paused(_) => true,
        State::Done(at) => now - at < LISTED,
        State::Cancelled(_) => false,
    });
    tasks.sort_by_key(|task| match task.state {
        State::Active => (0, comes(task).map_or(0, |at| at.timestamp())),
        State::Paused(_) => (1, task.created_at.timestamp()),
        State::Done(at) | State::Cancelled(at) => (2, -at.timestamp()),
    });
    tasks
}

/// When a task runs next, a further try counted.
fn comes(task: &Task) -> Option<DateTime<Utc>> {
    task.retry.map(|retry| retry.at).or(task.next).filter(|_| task.lease.is_none())
}

fn label(texts: &Texts, task: &Task, now: DateTime<Utc>) -> String {
    let title = one_line(&task.title(), BUTTON_CHARS);
    match (task.state, comes(task)) {
        _ if task.lease.is_some() => format!("⏳ {title}"),
        (State::Active, Some(at)) => format!("⏰ {} · {title}", words::short(texts, task, at, now)),
        (State::Active, None) => format!("⏰ {title}"),
        (State::Paused(_), _) => format!("⏸ {title}"),
        (State::Done(_) | State::Cancelled(_), _) => match task.last.as_ref().map(|run| run.status) {
            Some(RunStatus::Failed | RunStatus::Missed) => format!("⚠️ {title}"),
            _ => format!("✅ {title}"),
        },
    }
}
