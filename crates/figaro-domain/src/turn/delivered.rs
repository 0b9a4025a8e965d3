//! How a delivery ends.

use chrono::{DateTime, Utc};

use super::changes::{Change, ChangeSet};
use crate::conversation::Message;
use crate::delivery::{DeliveryEnd, PendingDelivery};
use crate::task::{Cost, Ended, Reason, Task, TaskChange};

/// What is stored of a delivery that is to end.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredDelivery {
    /// The delivery that has ended.
    pub delivery: PendingDelivery,
    /// The stored answer that it carries.
    pub answer: Option<Message>,
    /// The task whose run it ends.
    pub task: Option<Task>,
}

/// Ends a delivery: the ids of the confirmed messages are written into the stored answer, the live messages of its turn
/// are forgotten, and the run of its task ends as the delivery did.
pub fn end_delivery(stored: StoredDelivery, end: DeliveryEnd, now: DateTime<Utc>) -> ChangeSet {
    let StoredDelivery { delivery, answer, task } = stored;
    let mut changes = ChangeSet::default();
    if delivery.entry.is_some() && end != DeliveryEnd::Whole {
        // Nobody answers a question that was not shown.
        changes.add(Change::RemoveParked(delivery.run));
    }
    let settle = TaskChange::Settle(delivery.run, run_end(&delivery, end));
    changes.add_step(task.and_then(|task| task.step(settle, now)));
    changes.add(Change::RemoveDelivery(delivery.id));
    // A card is no part of the answer, which may still be on its way.
    if delivery.card.is_none() {
        changes.add(Change::ForgetLive(delivery.run));
    }
    if let Some(answer) = answer {
        changes.add_message(Message { telegram: delivery.confirmed, ..answer });
    }
    changes
}

/// How the run of a task ends whose words were delivered so.
fn run_end(delivery: &PendingDelivery, end: DeliveryEnd) -> Ended {
    let failed = |error| Ended::Failed { error, again: false, cost: Cost::default() };
    match end {
        DeliveryEnd::Whole => Ended::Delivered(delivery.confirmed.last().copied()),
        DeliveryEnd::Stopped => Ended::Stopped(Cost::default()),
        DeliveryEnd::Refused => failed(Reason::Undelivered),
        DeliveryEnd::Unclear => failed(Reason::Unclear),
    }
}
