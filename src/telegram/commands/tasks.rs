//! The card of a task.

use super::Card;
use crate::domain::task::Task;
use crate::prompts::texts::{Texts, fill};
use crate::telegram::send::Button;

/// So many next times a card shows.
const TIMES: usize = 3;

/// A task as it is stored: what, when, the next times, and what may be done with it.
#[must_use]
pub fn task_card(texts: &Texts, task: &Task) -> Card {
    let times: Vec<String> =
        task.upcoming(TIMES).iter().map(|at| texts.moment(&at.with_timezone(&task.zone))).collect();
    let next = fill(&texts.task_next, &[("times", &times.join(" · "))]);
    let button = |label: &str, verb: &str| Button::new(label, format!("tasks:{verb}:{}", task.id));
    let row = vec![
        button(&texts.button_run_now, "run"),
        button(&texts.button_pause, "pause"),
        button(&texts.button_edit, "edit"),
        button(&texts.button_cancel, "cancel"),
    ];
    Card::titled(&format!("⏰ {}", task.title()), next).row(row)
}
