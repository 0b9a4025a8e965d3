//! Changes of several tasks at once, with the notices to people.

use chrono::{DateTime, Utc};

use super::changes::{ChangeSet, Transition};
use crate::delivery::PendingDelivery;
use crate::task::{Task, TaskChange};

/// A requested change of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedChange {
    /// The stored task; `None` if it does not exist.
    pub task: Option<Task>,
    /// Change to be applied.
    pub change: TaskChange,
}

/// Applies the changes that fit, at most one per task, and adds the deliveries if any change fits. Returns the changed tasks
/// in the order of the changes; `None` for a task that did not change.
pub fn change_tasks(
    asked: Vec<AskedChange>,
    deliveries: Vec<PendingDelivery>,
    now: DateTime<Utc>,
) -> Transition<Vec<Option<Task>>> {
    let mut changes = ChangeSet::default();
    let mut changed = Vec::with_capacity(asked.len());
    for AskedChange { task, change } in asked {
        let step = task.and_then(|task| task.step(change, now));
        changed.push(step.as_ref().map(|step| step.after.clone()));
        changes.add_step(step);
    }
    if changed.iter().any(Option::is_some) {
        for delivery in deliveries {
            changes.add_delivery(delivery, None);
        }
    }
    Transition { output: changed, changes }
}
