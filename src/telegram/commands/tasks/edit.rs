//! The card that changes a task: its time by steps, what becomes of missed runs; all else is said to the model.

use chrono::TimeDelta;

use super::super::card::Card;
use super::super::command::Pressed;
use super::card::{View, shortened};
use super::changes::Changes;
use crate::domain::schedule::Schedule;
use crate::domain::task::{IfMissed, State, Task, TaskChange, TaskEdit};
use crate::prompts::texts::{Texts, fill};
use crate::store::StoreError;
use crate::telegram::callback::TaskVerb;

/// Steps in minutes for what runs again and again.
const STEPS: [(&str, i32); 4] = [("−1 h", -60), ("−15 min", -15), ("+15 min", 15), ("+1 h", 60)];
/// Steps for a single run, from now on if its time has passed.
const LATER: [(&str, i32); 3] = [("+10 min", 10), ("+1 h", 60), ("+1 d", 24 * 60)];
/// A change of a task by a button.
#[derive(Debug, Clone, Copy)]
pub(super) enum Edit {
    /// Moves its times by minutes.
    Shift(i32),
    /// Says what becomes of missed runs.
    Missed(IfMissed),
}

/// Shows the card that changes a task, after this change if there is one.
///
/// # Errors
/// When the store fails; nothing is changed then.
pub(super) async fn press(
    changes: &Changes,
    view: View<'_>,
    task: Task,
    edit: Option<Edit>,
) -> Result<Pressed, StoreError> {
    let edit = match (edit, task.state) {
        (_, State::Cancelled(_)) => None,
        (None, _) => return Ok(Pressed::card(view.edit_card(&task))),
        (Some(Edit::Shift(minutes)), _) => view.shifted(&task, minutes),
        (Some(Edit::Missed(policy)), _) => Some(TaskEdit { if_missed: Some(policy), ..TaskEdit::default() }),
    };
    if !changes.has_room_for(&task).await? {
        return Ok(Pressed::toast(changes.full(view.texts)));
    }
    let changed = match edit {
        Some(edit) => changes.make(task.id, TaskChange::Edit(edit)).await?,
        None => None,
    };
    Ok(match changed {
        Some(task) => Pressed::both(&view.texts.config_saved, view.edit_card(&task)),
        None => Pressed::both(&view.texts.gone, view.card(&task)),
    })
}

impl View<'_> {
    fn edit_card(&self, task: &Task) -> Card {
        let texts = self.texts;
        let prompt = shortened(task.prompt.trim());
        let prompt = fill(&texts.task_edit_prompt, &[("prompt", &prompt)]);
        let steps = if task.schedule.is_recurring() { &STEPS[..] } else { &LATER[..] };
        let fitting = steps.iter().filter(|(_, minutes)| self.shifted(task, *minutes).is_some());
        let step = |(label, minutes): &(&str, i32)| self.button(label, TaskVerb::Shift(*minutes), task);
        let policies = IfMissed::ALL.into_iter().map(|policy| {
            let mark = if policy == task.if_missed { "✓ " } else { "" };
            let label = format!("{mark}{}", missed_words(texts, policy));
            self.button(&label, TaskVerb::Missed(policy), task)
        });
        let label = self.button(&texts.task_edit_label, TaskVerb::Label, task);
        Card::titled(&fill(&texts.task_edit, &[("task", &self.title(task))]), prompt)
            .row(fitting.map(step).collect())
            .row(vec![label])
            .row(policies.collect())
            .row(vec![self.button(&texts.button_back, TaskVerb::Open, task)])
    }

    /// What the buttons about missed runs choose, and what is chosen.
    pub(super) fn missed_help(&self, task: &Task) -> String {
        fill(&self.texts.task_edit_missed, &[("choice", missed_words(self.texts, task.if_missed))])
    }

    /// The edit that moves a task's times; `None` where that has no meaning.
    pub(super) fn shifted(&self, task: &Task, minutes: i32) -> Option<TaskEdit> {
        let late = match task.schedule {
            Schedule::Once { at, .. } => (self.now - at).max(TimeDelta::zero()),
            Schedule::Cron(_) => TimeDelta::zero(),
        };
        let by = TimeDelta::try_minutes(minutes.into())?.checked_add(&late)?;
        let schedule = task.schedule.shifted(by)?;
        schedule.next(task.zone, self.now)?;
        Some(TaskEdit { schedule: Some((schedule, task.zone)), ..TaskEdit::default() })
    }
}

const fn missed_words(texts: &Texts, policy: IfMissed) -> &str {
    match policy {
        IfMissed::RunOnce => texts.missed_run_once.as_str(),
        IfMissed::Skip => texts.missed_skip.as_str(),
        IfMissed::Ask => texts.missed_ask.as_str(),
    }
}
