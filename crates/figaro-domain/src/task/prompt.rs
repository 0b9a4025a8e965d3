//! Prompt of a task as an incoming message.

use chrono::{DateTime, Utc};

use super::Task;
use crate::message::Inbound;
use crate::origin::Origin;

impl Inbound {
    /// Creates the message with the prompt of a task that runs now.
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
