//! Prompt of a task as an incoming message.

use chrono::{DateTime, TimeDelta, Utc};

use super::Task;
use crate::catch_up::{CatchUp, KEPT_BACKGROUND, SentAt};
use crate::message::Inbound;
use crate::origin::Origin;

/// Time that the first run of a task in a group looks back.
const FIRST_LOOK: TimeDelta = TimeDelta::hours(24);
/// Maximum time that a run looks back.
const LONGEST_LOOK: TimeDelta = TimeDelta::days(7);

impl Inbound {
    /// Creates the message with the prompt of a task that runs now. In a group it asks about what was said since the last run,
    /// so that a digest is a task like any other.
    #[must_use]
    pub fn of_task(task: &Task, now: DateTime<Utc>) -> Self {
        let last = task.last.as_ref().map_or(now - FIRST_LOOK, |run| run.started_at.max(now - LONGEST_LOOK));
        let about = CatchUp { after: Some(SentAt::before(last)), newest: KEPT_BACKGROUND, username: None };
        Self {
            about: task.place.is_group().then_some(about),
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
