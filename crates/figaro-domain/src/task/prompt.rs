//! The prompt of a task as a message that comes in.

use chrono::{DateTime, Utc};

use super::Task;
use crate::message::Inbound;
use crate::origin::Origin;

impl Inbound {
    /// The prompt of a task that is to be carried out now.
    #[must_use]
    pub fn of_task(task: &Task, now: DateTime<Utc>) -> Self {
        Self {
            language: task.language.clone(),
            task: Some(task.id),
            ..Self::addressed(
                Origin::Task,
                task.place.clone(),
                task.creator.clone(),
                task.prompt.clone(),
                now,
            )
        }
    }
}
