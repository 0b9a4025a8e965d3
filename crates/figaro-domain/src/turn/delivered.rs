//! End of a delivery.

use chrono::{DateTime, Utc};

use super::changes::{ChangeSet, TurnChange};
use crate::conversation::Message;
use crate::delivery::{DeliveryEnd, PendingDelivery};
use crate::task::{Cost, Reason, Task, TaskChange, TaskRunResult};

/// Stored data of a delivery that is to end.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredDelivery {
    /// Delivery that has ended.
    pub delivery: PendingDelivery,
    /// Stored answer that it carries.
    pub answer: Option<Message>,
    /// Task whose run it ends.
    pub task: Option<Task>,
}

/// Ends a delivery: stores the ids of the confirmed messages in the answer, forgets the live messages of its turn, and ends
/// the run of its task with the same result.
pub fn end_delivery(stored: StoredDelivery, end: DeliveryEnd, now: DateTime<Utc>) -> ChangeSet {
    let StoredDelivery { delivery, answer, task } = stored;
    let mut changes = ChangeSet::default();
    if delivery.entry.is_some() && end != DeliveryEnd::Whole {
        // Nobody can answer a question that was not shown.
        changes.add(TurnChange::RemoveParked(delivery.run));
    }
    let settle = TaskChange::Settle(delivery.run, run_end(&delivery, end));
    changes.add_step(task.and_then(|task| task.step(settle, now)));
    changes.add(TurnChange::RemoveDelivery(delivery.id));
    // A card is not part of the answer, which may still be on its way.
    if delivery.card.is_none() {
        changes.add(TurnChange::ForgetLive(delivery.run));
    }
    if let Some(answer) = answer {
        changes.add_message(Message { telegram: delivery.confirmed, ..answer });
    }
    changes
}

/// Returns the result of a task's run from the result of its delivery.
fn run_end(delivery: &PendingDelivery, end: DeliveryEnd) -> TaskRunResult {
    let failed = |error| TaskRunResult::Failed { error, again: false, cost: Cost::default() };
    match end {
        DeliveryEnd::Whole => TaskRunResult::Delivered(delivery.confirmed.last().copied()),
        DeliveryEnd::Stopped => TaskRunResult::Stopped(Cost::default()),
        DeliveryEnd::Refused => failed(Reason::Undelivered),
        DeliveryEnd::Unclear => failed(Reason::Unclear),
    }
}
