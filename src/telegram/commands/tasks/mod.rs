//! `/tasks`: what runs by itself in a chat. Its list opens the cards of tasks; the buttons on those, and under notices
//! about tasks, change them here.

pub(super) mod back;
mod card;
mod changes;
mod edit;
mod words;

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use self::back::RestingTasks;
use self::changes::Changes;
use self::edit::Edit;
use super::asker::Asker;
use super::card::{Card, ROWS, number, page_of, pager};
use super::cards::Cards;
use super::command::{self, Command, Group, Outcome, PressError, Pressed, Request};
use super::handles::Handles;
use crate::config::AccessSettings;
use crate::domain::task::{PauseReason, RunStatus, State, Task, TaskChange};
use crate::ids::RunId;
use crate::policy::access::{Standing, Verdict, judge, may_change};
use crate::prompts::texts::Texts;
use crate::store::{SettingsStore, StoreError, TaskStore};
use crate::telegram::callback::{Family, Page, TaskPress, TaskVerb, Tasks as Press};
use crate::telegram::send::Button;
use crate::text::one_line;
use crate::turn::queue::{Job, Mailboxes};

pub use card::task_card;
use card::{UNDO, View};

/// What a button of the list shows of a task.
const BUTTON_CHARS: usize = 40;

/// Shows and changes the tasks of a chat.
#[derive(Debug)]
pub(super) struct Tasks {
    cards: Cards,
    store: Arc<dyn TaskStore>,
    settings: Arc<dyn SettingsStore>,
    changes: Changes,
    resting: RestingTasks,
    access: AccessSettings,
    mailboxes: Mailboxes,
}

#[async_trait]
impl Command for Tasks {
    fn name(&self) -> &'static str {
        "tasks"
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        &texts.command_tasks
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
            Press::List(page) => Pressed::card(self.list(asker, page).await?),
            Press::Back(again) => match self.resting.press(asker, again).await? {
                Some(pressed) => pressed,
                None => Pressed::both(&self.cards.texts(asker).gone, self.list(asker, 0).await?),
            },
            Press::One(press) => self.press_one(asker, press).await?,
        })
    }
}

/// A change of a task that somebody wants, and what is said when it is made.
struct Wanted<'a> {
    verb: TaskVerb,
    change: TaskChange,
    done: &'a str,
}

impl Tasks {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            store: handles.store.clone(),
            settings: handles.store.clone(),
            changes: Changes::new(handles),
            resting: RestingTasks::new(handles),
            access: handles.access.clone(),
            mailboxes: handles.mailboxes.clone(),
        }
    }

    async fn list(&self, asker: &Asker, page: Page) -> Result<Card, StoreError> {
        let (texts, now) = (self.cards.texts(asker), self.cards.now());
        let tasks = in_order(self.store.tasks(asker.place.chat).await?, now);
        if tasks.is_empty() {
            return Ok(Card::text(&texts.tasks_empty));
        }
        let page = page_of(page, tasks.len());
        let open = |task: &Task| {
            Press::One(TaskPress { verb: TaskVerb::Open, task: task.id, page: Some(number(page)) })
        };
        let shown = tasks.iter().skip(page * ROWS).take(ROWS);
        let rows = shown.map(|task| vec![Button::new(label(texts, task, now), open(task))]);
        Ok(Card::titled(&texts.tasks_title, "").rows(rows).row(pager(page, tasks.len(), Press::List)))
    }

    async fn press_one(&self, asker: &Asker, press: TaskPress) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let task = self.store.task(press.task).await?.filter(|task| may_look(asker, task));
        let Some(task) = task else {
            // A notice is left as it is: it still says what happened.
            return Ok(match press.page {
                Some(page) => Pressed::both(&texts.gone, self.list(asker, page).await?),
                None => Pressed::toast(&texts.gone),
            });
        };
        let view = self.view(asker, &task, press);
        let (change, done) = match press.verb {
            TaskVerb::Open => return Ok(Pressed::card(view.card(&task))),
            TaskVerb::History(page) => {
                let runs = self.store.task_runs(task.id).await?;
                return Ok(Pressed::card(view.history(&task, &runs, page)));
            }
            _ if !self.may_change(asker, &task).await => return Ok(Pressed::toast(&texts.task_not_yours)),
            verb if !self.may_reach(asker, &task, verb).await => {
                return Ok(Pressed::toast(&texts.task_not_there));
            }
            TaskVerb::Edit => return edit::press(&self.changes, view, task, None).await,
            TaskVerb::Shift(minutes) => {
                return edit::press(&self.changes, view, task, Some(Edit::Shift(minutes))).await;
            }
            TaskVerb::Missed(policy) => {
                return edit::press(&self.changes, view, task, Some(Edit::Missed(policy))).await;
            }
            TaskVerb::Run => (TaskChange::RunNow(RunId::new()), &texts.task_running),
            TaskVerb::Pause => (TaskChange::Pause(PauseReason::Person), &texts.task_paused),
            TaskVerb::Resume => (TaskChange::Resume, &texts.task_resumed),
            TaskVerb::Cancel => (TaskChange::Cancel, &texts.task_cancelled),
            TaskVerb::Undo => (TaskChange::Revive, &texts.task_revived),
            TaskVerb::Skip => (TaskChange::Skip, &texts.task_skipped),
        };
        self.press_change(view, task, Wanted { verb: press.verb, change, done }).await
    }

    fn view<'a>(&'a self, asker: &Asker, task: &Task, press: TaskPress) -> View<'a> {
        let is_elsewhere = asker.place.chat != task.place.chat;
        View { texts: self.cards.texts(asker), now: self.cards.now(), page: press.page, is_elsewhere }
    }

    /// Does what takes no more than one change.
    async fn press_change(
        &self,
        view: View<'_>,
        task: Task,
        Wanted { verb, change, done }: Wanted<'_>,
    ) -> Result<Pressed, StoreError> {
        let texts = view.texts;
        if verb == TaskVerb::Undo && is_gone(&task, view.now) {
            return Ok(Pressed::both(&texts.gone, view.card(&task)));
        }
        let makes_it_run = matches!(verb, TaskVerb::Run | TaskVerb::Resume | TaskVerb::Undo);
        if makes_it_run && !self.may_still_talk(&task).await? {
            return Ok(Pressed::both(&texts.task_paused_denied, view.card(&task)));
        }
        if verb == TaskVerb::Undo && !self.changes.has_room_for(&task).await? {
            return Ok(Pressed::toast(self.changes.full(texts)));
        }
        if let Some(task) = self.changes.make(task.id, change).await? {
            let card = view.card(&task);
            if verb == TaskVerb::Run {
                self.mailboxes.post(task.place.conversation(), Job::Task(Box::new(task)));
            }
            return Ok(Pressed::both(done, card));
        }
        let Some(now) = self.store.task(task.id).await? else { return Ok(Pressed::toast(&texts.gone)) };
        let is_running = verb == TaskVerb::Run && now.lease.is_some();
        let words = if is_running { &texts.task_runs_already } else { &texts.gone };
        Ok(Pressed::both(words, view.card(&now)))
    }

    /// Whether whoever asked for a task may still talk to the bot: it runs in their name.
    async fn may_still_talk(&self, task: &Task) -> Result<bool, StoreError> {
        let list = self.settings.access().await?;
        let verdict = judge(&self.access, &list, &task.place, &task.creator.user);
        Ok(matches!(verdict, Verdict::Allow(_)))
    }

    /// Whoever asked for a task may change it, and whoever may change what holds for its chat, from there; owners from
    /// anywhere.
    async fn may_change(&self, asker: &Asker, task: &Task) -> bool {
        let is_here = asker.place.chat == task.place.chat;
        is_own(asker, task)
            || is_here
                && may_change(&*self.cards.admins, asker.standing, &task.place, &asker.speaker.user).await
    }

    /// Whether someone who may change a task is in its chat, or need not be: what a task does, it does there.
    async fn may_reach(&self, asker: &Asker, task: &Task, verb: TaskVerb) -> bool {
        asker.place.chat == task.place.chat
            || asker.standing == Standing::Owner
            || is_restraint(verb)
            || self.cards.admins.is_member(task.place.chat, &asker.speaker.user).await
    }
}

/// Whether a verb makes a task do less, and never more.
const fn is_restraint(verb: TaskVerb) -> bool {
    matches!(verb, TaskVerb::Cancel | TaskVerb::Pause | TaskVerb::Skip)
}

/// A task that has ended stays in the list so long.
const LISTED: TimeDelta = TimeDelta::days(7);

/// Whether someone may see a task: from where it is everybody, from elsewhere those whose own it is.
fn may_look(asker: &Asker, task: &Task) -> bool {
    asker.place.chat == task.place.chat || is_own(asker, task)
}

fn is_own(asker: &Asker, task: &Task) -> bool {
    asker.standing == Standing::Owner || asker.speaker.user == task.creator.user
}

/// Whether it is too late to have a cancelled task back.
fn is_gone(task: &Task, now: DateTime<Utc>) -> bool {
    matches!(task.state, State::Cancelled(at) if now - at >= UNDO)
}

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
    let title = one_line(&task.prompt, BUTTON_CHARS);
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
