//! Schedule for reading people's messages for facts: several at once, after their answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use figaro_base::ids::UserId;

/// Number of messages that are read without waiting for a pause.
const MANY: usize = 8;

/// People with unread messages. Cheap to clone; clones share the data.
#[derive(Debug, Clone)]
pub struct UnreadQueue {
    /// Time without new messages before a person's messages are read.
    quiet: Duration,
    people: Arc<Mutex<HashMap<UserId, UnreadState>>>,
}

/// State of one person's unread messages.
#[derive(Debug)]
struct UnreadState {
    /// Number of messages since the last reading.
    messages: usize,
    /// Time of the next reading. Each message postpones it.
    at: Instant,
    /// No reading before this time, because a reading failed.
    not_before: Instant,
    changed: Arc<Notify>,
}

impl UnreadQueue {
    /// Creates an empty schedule. Messages are read when their writer was quiet for this time.
    #[must_use]
    pub fn new(quiet: Duration) -> Self {
        Self { quiet, people: Arc::default() }
    }

    /// Records one more message of a person. Returns `true` if no job attends to them yet.
    pub(super) fn said(&self, user: &UserId) -> bool {
        self.note(user, |waiting| {
            waiting.messages += 1;
            waiting.at = Instant::now() + self.quiet;
        })
    }

    /// Schedules the reading of a person's messages for now. Returns `true` if no job attends to them yet.
    pub(super) fn hurry(&self, user: &UserId) -> bool {
        self.note(user, |waiting| waiting.at = Instant::now())
    }

    /// Returns `true` while a job waits for, or reads, the messages of a person.
    pub(super) fn has(&self, user: &UserId) -> bool {
        self.people.lock().contains_key(user)
    }

    /// Returns `true` while the messages of a person are being read or about to be. Returns `false` during a pause
    /// after a failure.
    pub(super) fn is_reading(&self, user: &UserId) -> bool {
        self.people.lock().get(user).is_some_and(|waiting| waiting.not_before <= Instant::now())
    }

    /// Postpones the reading of a person's messages after a failure.
    pub(super) fn rest(&self, user: &UserId, pause: Duration) {
        self.note(user, |waiting| {
            waiting.not_before = Instant::now() + pause;
            waiting.at = waiting.not_before;
        });
    }

    /// Waits until the messages of a person are due.
    pub(super) async fn due(&self, user: &UserId) {
        loop {
            let (at, changed) = {
                let mut people = self.people.lock();
                let Some(waiting) = people.get_mut(user) else { return };
                let at = if waiting.messages >= MANY { waiting.not_before } else { waiting.at };
                if at.max(waiting.not_before) <= Instant::now() {
                    waiting.messages = 0;
                    return;
                }
                (at.max(waiting.not_before), Arc::clone(&waiting.changed))
            };
            tokio::select! {
                () = tokio::time::sleep_until(at) => {}
                () = changed.notified() => {}
            }
        }
    }

    /// Removes a person without unread messages. Returns `false` if they have written more meanwhile.
    pub(super) fn end(&self, user: &UserId) -> bool {
        let mut people = self.people.lock();
        let is_done = people.get(user).is_none_or(|waiting| waiting.messages == 0);
        if is_done {
            people.remove(user);
        }
        is_done
    }

    fn note(&self, user: &UserId, change: impl FnOnce(&mut UnreadState)) -> bool {
        let mut people = self.people.lock();
        let is_new = !people.contains_key(user);
        let now = Instant::now();
        let new = || UnreadState { messages: 0, at: now, not_before: now, changed: Arc::default() };
        let waiting = people.entry(user.clone()).or_insert_with(new);
        change(waiting);
        waiting.changed.notify_one();
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn is_due_after(pending: &UnreadQueue, user: &UserId) -> Duration {
        let begun = Instant::now();
        pending.due(user).await;
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_person_is_read_when_quiet_for_a_minute_or_after_eight_messages() {
        let (minute, ann) = (Duration::from_secs(60), UserId::telegram(1));
        let pending = UnreadQueue::new(minute);
        assert!(pending.said(&ann));
        tokio::time::advance(Duration::from_secs(40)).await;
        assert!(!pending.said(&ann), "somebody attends to her");
        assert_eq!(is_due_after(&pending, &ann).await, minute, "each message puts it off");
        assert!(pending.end(&ann));

        for _ in 0..MANY {
            pending.said(&ann);
        }
        assert_eq!(is_due_after(&pending, &ann).await, Duration::ZERO);
        pending.said(&ann);
        assert!(!pending.end(&ann), "she has said more meanwhile");
        pending.hurry(&ann);
        assert_eq!(is_due_after(&pending, &ann).await, Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_read_while_a_person_rests() {
        let (hour, ann) = (Duration::from_secs(3_600), UserId::telegram(1));
        let pending = UnreadQueue::new(Duration::from_secs(60));
        pending.said(&ann);
        pending.rest(&ann, hour);
        for _ in 0..MANY {
            pending.said(&ann);
        }
        assert_eq!(is_due_after(&pending, &ann).await, hour);
    }
}
