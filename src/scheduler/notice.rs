//! What people are told about tasks outside of any turn.

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::chat::{ChatKind, Place};
use crate::domain::delivery::{Action, PendingDelivery};
use crate::domain::task::{Task, Tell};
use crate::ids::{ChatId, RunId};
use crate::prompts::texts::{Locales, Texts, fill};
use crate::text::{as_markdown, duration};

/// What owners are told after the machine's clock was set by so much, or after a start that found that it must have been;
/// so many tasks had been put off too far.
pub(super) fn clock_set(texts: &Texts, step: Option<TimeDelta>, changed: usize) -> String {
    let by = duration(step.map_or(0, |step| step.num_seconds().abs()));
    let words = match step {
        None => &texts.clock_wrong,
        Some(step) if step < TimeDelta::zero() => &texts.clock_back,
        Some(_) => &texts.clock_forward,
    };
    fill(words, &[("by", &by), ("count", &changed.to_string())])
}

/// What one task has to tell: about failures to its creator in private, else in its chat.
pub(super) fn notice(locales: &Locales, task: &Task, tell: &Tell, now: DateTime<Utc>) -> PendingDelivery {
    let texts = locales.of(task.language.as_deref());
    // What people and providers wrote is no markup of the bot.
    let name = as_markdown(&task.title());
    let due = |at: DateTime<Utc>| texts.moment(&at.with_timezone(&task.zone));
    let (words, actions, is_private) = match tell {
        Tell::Failed(error) => (
            fill(&texts.task_failed, &[("task", &name), ("error", &as_markdown(&texts.reason(error)))]),
            vec![Action::RunTask(task.id)],
            true,
        ),
        Tell::Paused(error) => (
            fill(&texts.task_gave_up, &[("task", &name), ("error", &as_markdown(&texts.reason(error)))]),
            vec![Action::ResumeTask(task.id), Action::CancelTask(task.id)],
            true,
        ),
        Tell::Missed(at) => {
            (fill(&texts.task_missed, &[("task", &name), ("due", &due(*at))]), Vec::new(), false)
        }
        Tell::Ask(at) => (
            fill(&texts.task_ask, &[("task", &name), ("due", &due(*at))]),
            vec![Action::RunTask(task.id), Action::SkipTask(task.id)],
            false,
        ),
    };
    let own = private_place(task).filter(|_| is_private && task.place.is_group());
    let otherwise = own.as_ref().map(|_| task.place.clone());
    let place = own.unwrap_or_else(|| task.place.clone());
    let words = match (&otherwise, &task.place.title) {
        (Some(_), Some(title)) => format!("{}: {words}", as_markdown(title)),
        _ => words,
    };
    let language = task.language.clone();
    PendingDelivery { otherwise, actions, language, ..PendingDelivery::new(RunId::new(), place, words, now) }
}

/// The runs of one place that were missed and are not made up for; `None` for no task.
pub(super) fn missed_notice(
    locales: &Locales,
    tasks: &[&Task],
    now: DateTime<Utc>,
) -> Option<PendingDelivery> {
    let (first, rest) = tasks.split_first()?;
    let whole = notice(locales, first, first.tell.as_ref()?, now);
    let more = rest.iter().filter_map(|task| Some(notice(locales, task, task.tell.as_ref()?, now).markdown));
    let markdown = std::iter::once(whole.markdown.clone()).chain(more).collect::<Vec<_>>().join("\n\n");
    Some(PendingDelivery { markdown, ..whole })
}

/// The creator's own chat with the bot.
fn private_place(task: &Task) -> Option<Place> {
    let chat = ChatId(task.creator.user.telegram_id().filter(|id| *id > 0)?);
    Some(Place { chat, kind: ChatKind::Private, title: None, topic: None })
}
