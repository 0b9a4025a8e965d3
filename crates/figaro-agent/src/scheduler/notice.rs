//! Notices about tasks, sent outside of turns.

use chrono::{DateTime, TimeDelta, Utc};

use crate::languages::Languages;
use figaro_base::ids::{ChatId, RunId};
use figaro_base::text::as_markdown;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::delivery::{Action, PendingDelivery};
use figaro_domain::task::{Task, Tell};
use figaro_prompts::texts::{Texts, fill};

/// Makes the notice for owners that the clock was set. `step` is the change, `None` if it was found at the start; `changed`
/// tasks had been put off too far.
pub(super) fn clock_set(texts: &Texts, step: Option<TimeDelta>, changed: usize) -> String {
    let by = texts.span(step.map_or(0, |step| step.num_seconds().abs()));
    let words = match step {
        None => texts.clock_wrong(),
        Some(step) if step < TimeDelta::zero() => texts.clock_back(),
        Some(_) => texts.clock_forward(),
    };
    fill(words, &[("by", &by), ("count", &changed.to_string())])
}

/// Makes the notice of one task. Failures go to the creator in private, others to the task's chat.
pub(super) fn notice(languages: &Languages, task: &Task, tell: &Tell, now: DateTime<Utc>) -> PendingDelivery {
    let is_private = matches!(tell, Tell::Failed(_) | Tell::Paused(_));
    let own = private_place(task).filter(|_| is_private && task.place.is_group());
    let otherwise = own.as_ref().map(|_| task.place.clone());
    let place = own.unwrap_or_else(|| task.place.clone());
    let texts = languages.texts(place.chat, task.language.as_deref());
    // Text of people and providers must not act as markup.
    let name = as_markdown(&task.title());
    let due = |at: DateTime<Utc>| texts.moment(&at.with_timezone(&task.zone));
    let (words, actions) = match tell {
        Tell::Failed(error) => (
            fill(texts.task_failed(), &[("task", &name), ("error", &as_markdown(&texts.reason(error)))]),
            vec![Action::RunTask(task.id)],
        ),
        Tell::Paused(error) => (
            fill(texts.task_gave_up(), &[("task", &name), ("error", &as_markdown(&texts.reason(error)))]),
            vec![Action::ResumeTask(task.id), Action::CancelTask(task.id)],
        ),
        Tell::Missed(at) => (fill(texts.task_missed(), &[("task", &name), ("due", &due(*at))]), Vec::new()),
        Tell::Ask(at) => (
            fill(texts.task_ask(), &[("task", &name), ("due", &due(*at))]),
            vec![Action::RunTask(task.id), Action::SkipTask(task.id)],
        ),
    };
    let words = match (&otherwise, &task.place.title) {
        (Some(_), Some(title)) => format!("{}: {words}", as_markdown(title)),
        _ => words,
    };
    let language = task.language.clone();
    PendingDelivery { otherwise, actions, language, ..PendingDelivery::new(RunId::new(), place, words, now) }
}

/// Makes a joint notice of missed runs of one place that are not made up for; `None` without tasks.
pub(super) fn missed_notice(
    languages: &Languages,
    tasks: &[&Task],
    now: DateTime<Utc>,
) -> Option<PendingDelivery> {
    let (first, rest) = tasks.split_first()?;
    let mut whole = notice(languages, first, first.tell.as_ref()?, now);
    for task in rest {
        let more = notice(languages, task, task.tell.as_ref()?, now);
        whole.markdown = format!("{}\n\n{}", whole.markdown, more.markdown);
    }
    Some(whole)
}

/// Returns the private chat of the creator; `None` if the creator has none.
fn private_place(task: &Task) -> Option<Place> {
    let chat = ChatId(task.creator.user.telegram_id().filter(|id| *id > 0)?);
    Some(Place { chat, kind: ChatKind::Private, title: None, topic: None })
}
