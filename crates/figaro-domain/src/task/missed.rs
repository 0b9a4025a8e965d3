//! What becomes of a due time at which the bot was not running.

use chrono::{DateTime, TimeDelta, Utc};

use super::if_missed::IfMissed;
use super::{State, Task};

/// A run that begins no later than this counts as on time.
pub const ON_TIME: TimeDelta = TimeDelta::minutes(2);

/// What a task needs when it wakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// People are told of a change of the task.
    Tell,
    /// This due time is to be run.
    Run(Due),
    /// This due time was missed and is not run now.
    Miss(DateTime<Utc>, Missed),
    /// Nobody has answered whether a missed run is to be made.
    Lapse,
    /// Nothing is to be done yet.
    Nothing,
}

/// A due time that is to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// The due time of the run, UTC.
    pub at: DateTime<Utc>,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// It was missed and is made up for.
    pub late: bool,
}

/// What becomes of a missed due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missed {
    /// The missed run is reported to the chat.
    Report,
    /// The missed run is skipped.
    Skip,
    /// A person is asked whether to make it up.
    Ask,
}

impl From<IfMissed> for Missed {
    /// What becomes of a due time that is too late to be run.
    fn from(policy: IfMissed) -> Self {
        match policy {
            IfMissed::RunOnce => Self::Report,
            IfMissed::Skip => Self::Skip,
            IfMissed::Ask => Self::Ask,
        }
    }
}

impl Task {
    /// What it needs now. The bot has been running since `awake`: what came due later was not missed, however long it
    /// had to wait its turn.
    #[must_use]
    pub fn wake(&self, now: DateTime<Utc>, awake: DateTime<Utc>) -> Wake {
        if self.tell.is_some() {
            return Wake::Tell;
        }
        if self.lease.is_some() || self.wakes_at().is_none_or(|at| at > now) {
            return Wake::Nothing;
        }
        match (self.state, self.retry, self.next) {
            (State::Active, Some(retry), _) => {
                if retry.at >= awake {
                    return Wake::Run(Due { at: retry.due, attempt: retry.attempt, late: false });
                }
                match self.after_absence(retry.due, now, true) {
                    Some(late) => Wake::Run(Due { at: retry.due, attempt: retry.attempt, late }),
                    None => Wake::Miss(retry.due, self.if_missed.into()),
                }
            }
            (State::Active, None, Some(next)) => self.due(next, now, awake),
            (State::Active, None, None) => Wake::Lapse,
            (State::Paused(_) | State::Done(_) | State::Cancelled(_), ..) => Wake::Nothing,
        }
    }

    /// Of several due times that have passed, only the last one counts.
    fn due(&self, next: DateTime<Utc>, now: DateTime<Utc>, awake: DateTime<Utc>) -> Wake {
        let at = self.schedule.last(self.zone, now).map_or(next, |last| last.max(next));
        let run = |late| Wake::Run(Due { at, attempt: 1, late });
        if at >= awake {
            return run(false);
        }
        self.after_absence(at, now, false).map_or_else(|| Wake::Miss(at, self.if_missed.into()), run)
    }

    /// Whether a due time at which the bot was not running is run now, and if so, whether that is late. What had begun
    /// is gone on with whatever the policy, as long as it makes sense.
    #[must_use]
    pub fn after_absence(&self, due: DateTime<Utc>, now: DateTime<Utc>, has_begun: bool) -> Option<bool> {
        let lateness = now - due;
        if lateness <= ON_TIME {
            return Some(false);
        }
        let is_wanted = has_begun || self.if_missed == IfMissed::RunOnce;
        (is_wanted && lateness <= self.schedule.grace(self.zone, due)).then_some(true)
    }
}
