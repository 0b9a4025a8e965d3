//! `/tasks`: what runs by itself in a chat. Its list opens the cards of tasks; the buttons on those, and under notices
//! about tasks, change them here.
//!
//! A button says `tasks:VERB:ID`, with `~PAGE` behind the id if its card was opened from the list, and `:MORE` at the
//! end for the verbs that need more.

mod back;
mod card;
mod edit;
mod words;

use chrono::{DateTime, Utc};

use super::{Asker, Card, Commands, Pressed, ROWS, pager};
use crate::domain::task::{KEPT, PauseReason, RunStatus, State, Task, TaskChange};
use crate::ids::{RunId, TaskId};
use crate::policy::access::{Standing, Verdict, judge, may_change};
use crate::prompts::texts::{Texts, fill};
use crate::store::StoreError;
use crate::telegram::send::Button;
use crate::text::one_line;
use crate::turn::queue::{Job, Mailboxes};

pub use card::task_card;
use card::{UNDO, View};

/// What a button of the list shows of a task.
const BUTTON_CHARS: usize = 40;

/// What a button asks for.
#[derive(Debug, Clone, Copy)]
struct Wish<'a> {
    verb: &'a str,
    task: TaskId,
    page: Option<usize>,
    more: &'a str,
}

fn wish(what: &str) -> Option<Wish<'_>> {
    let (verb, rest) = what.split_once(':')?;
    let (target, more) = rest.split_once(':').unwrap_or((rest, ""));
    let (id, page) = match target.split_once('~') {
        Some((id, page)) => (id, Some(page.parse().ok()?)),
        None => (target, None),
    };
    Some(Wish { verb, task: id.parse().ok()?, page, more })
}

impl Commands {
    pub(super) async fn tasks_card(&self, asker: &Asker, page: usize) -> Result<Card, StoreError> {
        let (texts, now) = (self.texts(asker), self.now());
        let tasks = in_order(self.store.tasks(asker.place.chat).await?, now);
        if tasks.is_empty() {
            return Ok(Card::text(&texts.tasks_empty));
        }
        let page = page.min((tasks.len() - 1) / ROWS);
        let rows =
            tasks.iter().skip(page * ROWS).take(ROWS).map(|task| {
                vec![Button::new(label(texts, task, now), format!("tasks:open:{}~{page}", task.id))]
            });
        Ok(Card::titled(&texts.tasks_title, "").rows(rows).row(pager("tasks:list", page, tasks.len())))
    }

    pub(super) async fn press_tasks(
        &self,
        what: &str,
        asker: &Asker,
        mailboxes: &Mailboxes,
    ) -> Result<Pressed, StoreError> {
        match what.split_once(':') {
            Some(("list", page)) => {
                return Ok(Pressed::card(self.tasks_card(asker, page.parse().unwrap_or_default()).await?));
            }
            Some(("back", choice)) => return self.press_back(choice, asker).await,
            _ => {}
        }
        let texts = self.texts(asker);
        let Some(wish) = wish(what) else { return Ok(Pressed::toast(&texts.gone)) };
        let task = self.store.task(wish.task).await?.filter(|task| may_look(asker, task));
        let Some(task) = task else {
            // A notice is left as it is: it still says what happened.
            return Ok(match wish.page {
                Some(page) => Pressed::both(&texts.gone, self.tasks_card(asker, page).await?),
                None => Pressed::toast(&texts.gone),
            });
        };
        let view = self.view(asker, &task, wish);
        match wish.verb {
            "open" => Ok(Pressed::card(view.card(&task))),
            "history" => {
                let runs = self.store.task_runs(task.id).await?;
                Ok(Pressed::card(view.history(&task, &runs, wish.more.parse().unwrap_or_default())))
            }
            _ if !self.may_change_task(asker, &task).await => Ok(Pressed::toast(&texts.task_not_yours)),
            _ if !self.may_reach(asker, &task, wish.verb).await => Ok(Pressed::toast(&texts.task_not_there)),
            "edit" | "shift" | "missed" => self.press_edit(view, task, wish).await,
            _ => self.press_change(view, task, wish, mailboxes).await,
        }
    }

    fn view<'a>(&'a self, asker: &Asker, task: &Task, wish: Wish<'_>) -> View<'a> {
        let is_elsewhere = asker.place.chat != task.place.chat;
        View { texts: self.texts(asker), now: self.now(), page: wish.page, is_elsewhere }
    }

    /// Does what takes no more than one change.
    async fn press_change(
        &self,
        view: View<'_>,
        task: Task,
        wish: Wish<'_>,
        mailboxes: &Mailboxes,
    ) -> Result<Pressed, StoreError> {
        let texts = view.texts;
        let change = match wish.verb {
            "run" => Some((TaskChange::RunNow(RunId::new()), &texts.task_running)),
            "pause" => Some((TaskChange::Pause(PauseReason::Person), &texts.task_paused)),
            "resume" => Some((TaskChange::Resume, &texts.task_resumed)),
            "cancel" => Some((TaskChange::Cancel, &texts.task_cancelled)),
            "undo" => Some((TaskChange::Revive, &texts.task_revived)),
            "skip" => Some((TaskChange::Skip, &texts.task_skipped)),
            _ => None,
        };
        let is_late = wish.verb == "undo" && is_gone(&task, view.now);
        let Some((change, done)) = change.filter(|_| !is_late) else {
            return Ok(Pressed::both(&texts.gone, view.card(&task)));
        };
        let makes_it_run = ["run", "resume", "undo"].contains(&wish.verb);
        if makes_it_run && !self.may_still_talk(&task).await? {
            return Ok(Pressed::both(&texts.task_paused_denied, view.card(&task)));
        }
        if wish.verb == "undo" && !self.has_room_for(&task).await? {
            return Ok(Pressed::toast(self.full(texts)));
        }
        if let Some(task) = self.change_task(task.id, change).await? {
            let card = view.card(&task);
            if wish.verb == "run" {
                mailboxes.post(task.place.conversation(), Job::Task(Box::new(task)));
            }
            return Ok(Pressed::both(done, card));
        }
        let Some(now) = self.store.task(task.id).await? else { return Ok(Pressed::toast(&texts.gone)) };
        let is_running = wish.verb == "run" && now.claim.is_some();
        let words = if is_running { &texts.task_runs_already } else { &texts.gone };
        Ok(Pressed::both(words, view.card(&now)))
    }

    /// Whether a task that is over may come back: its chat has as many as it may otherwise.
    async fn has_room_for(&self, task: &Task) -> Result<bool, StoreError> {
        let of_chat = self.store.tasks(task.place.chat).await?;
        let live = of_chat.iter().filter(|other| other.is_live()).count();
        Ok(task.is_live() || live < self.tasks_per_chat)
    }

    fn full(&self, texts: &Texts) -> String {
        fill(&texts.tasks_full, &[("limit", &self.tasks_per_chat.to_string())])
    }

    /// Whether whoever asked for a task may still talk to the bot: it runs in their name.
    async fn may_still_talk(&self, task: &Task) -> Result<bool, StoreError> {
        let list = self.store.access().await?;
        let verdict = judge(&self.access, &list, &task.place, &task.creator.user);
        Ok(matches!(verdict, Verdict::Allow(_)))
    }

    /// The task as it is then; `None` if it is gone or the change does not fit it any more.
    async fn change_task(&self, task: TaskId, change: TaskChange) -> Result<Option<Task>, StoreError> {
        let changed = self.store.change_tasks(vec![(task, change)], Vec::new(), self.now()).await?;
        Ok(changed.into_iter().next().flatten())
    }

    /// Whoever asked for a task may change it, and whoever may change what holds for its chat, from there; owners from
    /// anywhere.
    async fn may_change_task(&self, asker: &Asker, task: &Task) -> bool {
        let is_here = asker.place.chat == task.place.chat;
        is_own(asker, task)
            || is_here && may_change(&*self.admins, asker.standing, &task.place, &asker.speaker.user).await
    }

    /// Whether someone who may change a task is in its chat, or need not be: what a task does, it does there.
    async fn may_reach(&self, asker: &Asker, task: &Task, verb: &str) -> bool {
        asker.place.chat == task.place.chat
            || asker.standing == Standing::Owner
            || is_restraint(verb)
            || self.admins.is_member(task.place.chat, &asker.speaker.user).await
    }
}

/// Whether a verb makes a task do less, and never more.
fn is_restraint(verb: &str) -> bool {
    ["cancel", "pause", "skip"].contains(&verb)
}

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
        State::Done(at) => now - at < KEPT,
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
    task.retry.map(|retry| retry.at).or(task.next).filter(|_| task.claim.is_none())
}

fn label(texts: &Texts, task: &Task, now: DateTime<Utc>) -> String {
    let title = one_line(&task.prompt, BUTTON_CHARS);
    match (task.state, comes(task)) {
        _ if task.claim.is_some() => format!("⏳ {title}"),
        (State::Active, Some(at)) => format!("⏰ {} · {title}", words::short(texts, task, at, now)),
        (State::Active, None) => format!("⏰ {title}"),
        (State::Paused(_), _) => format!("⏸ {title}"),
        (State::Done(_) | State::Cancelled(_), _) => match task.last.as_ref().map(|run| run.status) {
            Some(RunStatus::Failed | RunStatus::Missed) => format!("⚠️ {title}"),
            _ => format!("✅ {title}"),
        },
    }
}
