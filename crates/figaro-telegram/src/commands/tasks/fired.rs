//! Buttons under a reminder that has come: mark it as done, or repeat it later.

use chrono::{DateTime, Days, Utc};

use super::super::command::Pressed;
use super::TasksCommand;
use super::card::TaskView;
use crate::callback::TaskVerb;
use figaro_domain::schedule::Schedule;
use figaro_domain::task::{Task, TaskChange, TaskEdit, TaskState};
use figaro_prompts::texts::{fill, schedules};
use figaro_store::StoreError;

impl TasksCommand {
    /// Repeats a single run later, or marks the reminder as done with the time on its button. The other buttons are
    /// removed in both cases.
    pub(super) async fn press_fired(
        &self,
        view: TaskView<'_>,
        task: Task,
        verb: TaskVerb,
    ) -> Result<Pressed, StoreError> {
        let texts = view.texts;
        let gone = || Ok(Pressed::Over(texts.gone().to_owned()));
        let edit = match verb {
            TaskVerb::Done => {
                let time = view.now.with_timezone(&task.zone).format("%H:%M").to_string();
                let label = fill(texts.task_done_trace(), &[("time", &time)]);
                return Ok(Pressed::Marked { toast: texts.task_done().to_owned(), label });
            }
            TaskVerb::Later(minutes) => view.shifted(&task, minutes),
            _ => tomorrow(&task, view.now),
        };
        let is_single = !task.schedule.is_recurring() && !matches!(task.state, TaskState::Cancelled(_));
        let Some(edit) = edit.filter(|_| is_single) else { return gone() };
        if !self.changes.may_still_talk(&task)? {
            return Ok(Pressed::toast(texts.task_paused_denied()));
        }
        if !self.changes.has_room_for(&task)? {
            return Ok(Pressed::toast(self.changes.full(texts)));
        }
        let changed = self.changes.make(task.id, TaskChange::edit(edit)).await?;
        let Some((at, task)) = changed.and_then(|task| Some((task.next?, task))) else { return gone() };
        let when = schedules::coming(texts, &task, at, view.now);
        Ok(Pressed::Over(fill(texts.task_later(), &[("when", &when)])))
    }
}

/// Returns the edit that moves a single run to the same time tomorrow, in the time zone of the task.
fn tomorrow(task: &Task, now: DateTime<Utc>) -> Option<TaskEdit> {
    let Schedule::Once { at, .. } = &task.schedule else { return None };
    let day = now.with_timezone(&task.zone).date_naive().checked_add_days(Days::new(1))?;
    let text = day.and_time(at.with_timezone(&task.zone).time()).format("%Y-%m-%dT%H:%M:%S").to_string();
    let schedule = Schedule::once(&text, task.zone, now).ok()?;
    Some(TaskEdit { schedule: Some((schedule, task.zone)), ..TaskEdit::default() })
}
