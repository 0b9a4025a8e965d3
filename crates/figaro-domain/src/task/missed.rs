//! Due times missed while the bot was not running.

use chrono::{DateTime, TimeDelta, Utc};

use super::if_missed::IfMissed;
use super::{Task, TaskState};

/// Maximum delay of a run that counts as on time.
pub const ON_TIME: TimeDelta = TimeDelta::minutes(2);

/// Action needed when a task wakes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// Tell people about a change of the task.
    Tell,
    /// Run this due time.
    Run(DueRun),
    /// Record this due time as missed, without a run.
    Miss(DateTime<Utc>, Missed),
    /// Expire the question about a missed run, because nobody answered.
    Lapse,
    /// No action yet.
    Nothing,
}

/// A due time to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueRun {
    /// Due time of the run, UTC.
    pub at: DateTime<Utc>,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// `true` if the due time was missed and is made up for.
    pub late: bool,
}

/// Handling of a missed due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missed {
    /// Report it to the chat.
    Report,
    /// Skip it without a notice.
    Skip,
    /// Ask a person whether to run it.
    Ask,
}

impl From<IfMissed> for Missed {
    /// Returns the handling of a due time that is too late to run.
    fn from(policy: IfMissed) -> Self {
        match policy {
            IfMissed::RunOnce => Self::Report,
            IfMissed::Skip => Self::Skip,
            IfMissed::Ask => Self::Ask,
        }
    }
}

impl Task {
    /// Returns the action that the task needs now. The bot has been running since `awake`. What came due later is not
    /// missed, however long it waited in the queue.
    #[must_use]
    pub fn wake(&self, now: DateTime<Utc>, awake: DateTime<Utc>) -> Wake {
        if self.tell.is_some() {
            return Wake::Tell;
        }
        if self.lease.is_some() || self.wakes_at().is_none_or(|at| at > now) {
            return Wake::Nothing;
        }
        match (self.state, self.retry, self.next) {
            (TaskState::Active, Some(retry), _) => {
                if retry.at >= awake {
                    return Wake::Run(DueRun { at: retry.due, attempt: retry.attempt, late: false });
                }
                match self.after_absence(retry.due, now, true) {
                    Some(late) => Wake::Run(DueRun { at: retry.due, attempt: retry.attempt, late }),
                    None => Wake::Miss(retry.due, self.if_missed.into()),
                }
            }
            (TaskState::Active, None, Some(next)) => self.due(next, now, awake),
            (TaskState::Active, None, None) => Wake::Lapse,
            (TaskState::Paused(_) | TaskState::Done(_) | TaskState::Cancelled(_), ..) => Wake::Nothing,
        }
    }

    /// Of several past due times, only the last one counts.
    fn due(&self, next: DateTime<Utc>, now: DateTime<Utc>, awake: DateTime<Utc>) -> Wake {
        let at = self.schedule.last(self.zone, now).map_or(next, |last| last.max(next));
        let run = |late| Wake::Run(DueRun { at, attempt: 1, late });
        if at >= awake {
            return run(false);
        }
        self.after_absence(at, now, false).map_or_else(|| Wake::Miss(at, self.if_missed.into()), run)
    }

    /// Decides whether to run a due time at which the bot was not running. Returns `None` for no run, or `true` if the run
    /// is late. A run that had begun continues under every policy, within the grace period.
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
