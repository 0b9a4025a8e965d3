//! Makes tasks.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use figaro_base::tz::Tz;

use super::{IfMissed, SCHEDULED_AGENT, Task, TaskState};
use crate::chat::Place;
use crate::message::Speaker;
use crate::schedule::Schedule;
use figaro_base::ids::TaskId;

/// Values of a new task. All others start at their default.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTask {
    /// Chat and topic that the task writes to.
    pub place: Place,
    /// Person who asked for the task. Their rights are checked at each run.
    pub creator: Speaker,
    /// IETF tag of the creator's language.
    pub language: Option<String>,
    /// Instruction for the model at each run.
    pub prompt: String,
    /// Schedule: a single time or a cron expression.
    pub schedule: Schedule,
    /// IANA time zone of the schedule.
    pub zone: Tz,
    /// `true` if nobody named the zone, so that it is assumed.
    pub zone_assumed: bool,
}

impl Task {
    /// Creates an active task that begins at `now`, with its first due time.
    #[must_use]
    pub fn new(new: NewTask, now: DateTime<Utc>) -> Self {
        let NewTask { place, creator, language, prompt, schedule, zone, zone_assumed } = new;
        let next = schedule.next(zone, now);
        Self {
            id: TaskId::new(),
            place,
            creator,
            language,
            title: None,
            prompt,
            addresses: Vec::new(),
            made_in: BTreeSet::new(),
            read: None,
            record: None,
            standing: Vec::new(),
            schedule,
            zone,
            zone_assumed,
            agent: SCHEDULED_AGENT.to_owned(),
            model: None,
            if_missed: IfMissed::default(),
            created_at: now,
            updated_at: now,
            state: TaskState::Active,
            was_paused: None,
            next,
            lease: None,
            retry: None,
            asked: None,
            tell: None,
            failures: 0,
            last: None,
            messages: Vec::new(),
        }
    }
}
