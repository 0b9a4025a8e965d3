//! What is to be done anew when the machine's clock turns out to have been wrong.

use chrono::{DateTime, Utc};

use super::{LEASE, ON_TIME, PAUSES, State, Task};

impl Task {
    /// Works out anew, from the present, what a clock that was ahead has put too far off: the next due time, another try,
    /// the end of a lease. Returns whether anything has changed.
    pub fn replan(&mut self, now: DateTime<Utc>) -> bool {
        let before = (self.next, self.retry, self.lease);
        if let State::Active | State::Paused(_) = self.state
            && self.schedule.is_recurring()
        {
            // What has just run by a clock that was a little ahead is not run twice.
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
