//! Changes of several tasks at once, with what people are told of them.

use chrono::{DateTime, Utc};

use super::changes::{ChangeSet, Transition};
use crate::delivery::PendingDelivery;
use crate::task::{Task, TaskChange};

/// A change of a task that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedChange {
    /// The task as it is stored; `None` if it is not there.
    pub task: Option<Task>,
    /// The change to be applied.
    pub change: TaskChange,
}

/// Makes the changes that fit, each task at most once, and puts deliveries on their way unless no change fits. Gives the
/// tasks as they are then, in the order of the changes; `None` for one that did not change.
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
