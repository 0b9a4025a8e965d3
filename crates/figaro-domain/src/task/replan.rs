//! Recalculation of a task's times after the machine's clock was wrong.

use chrono::{DateTime, Utc};

use super::{LEASE, ON_TIME, PAUSES, Task, TaskState};

impl Task {
    /// Recalculates the times that a fast clock has set too far ahead: the next due time, the retry and the end of the
    /// lease. Returns `true` if anything changed.
    pub fn replan(&mut self, now: DateTime<Utc>) -> bool {
        let before = (self.next, self.retry, self.lease);
        if let TaskState::Active | TaskState::Paused(_) = self.state
            && self.schedule.is_recurring()
        {
            // A run already made by a slightly fast clock is not repeated.
            let runs =
                self.lease.map(|lease| lease.due).into_iter().chain(self.last.as_ref().map(|last| last.due));
            let just_run = runs.filter(|due| *due > now && *due - now <= ON_TIME).max();
            let next = self.schedule.next(self.zone, just_run.unwrap_or(now));
            self.next = self.next.into_iter().chain(next).min();
        }
        if let (Some(retry), Some(longest)) = (&mut self.retry, PAUSES.last()) {
            retry.at = retry.at.min(now + *longest);
        }
        if let Some(lease) = &mut self.lease {
            lease.until = lease.until.min(now + LEASE);
        }
        before != (self.next, self.retry, self.lease)
    }
}
