//! When the messages of a person are read for facts: many at once, after their answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use figaro_base::ids::UserId;

/// With so many messages a person is not waited for any longer.
const MANY: usize = 8;

/// The people whose messages are to be read. Cheap to clone; clones are one.
#[derive(Debug, Clone)]
pub struct Pending {
    /// So long a person has been quiet before they are read.
    quiet: Duration,
    people: Arc<Mutex<HashMap<UserId, Waiting>>>,
}

/// What waits of a person.
#[derive(Debug)]
struct Waiting {
    /// The messages since the last reading.
    messages: usize,
    /// It is read then at the latest; a message puts it off.
    at: Instant,
    /// Before that nothing is read: a model has failed.
    not_before: Instant,
    /// Told of each change.
    changed: Arc<Notify>,
}

impl Pending {
    /// Nobody yet; people are read when they have been quiet for so long.
    #[must_use]
    pub fn new(quiet: Duration) -> Self {
        Self { quiet, people: Arc::default() }
    }

    /// Notes one more message of a person. `true` if nobody attends to them yet.
    pub(super) fn said(&self, user: &UserId) -> bool {
        self.note(user, |waiting| {
            waiting.messages += 1;
            waiting.at = Instant::now() + self.quiet;
        })
    }

    /// Notes that the messages of a person are to be read now. `true` if nobody attends to them yet.
    pub(super) fn hurry(&self, user: &UserId) -> bool {
        self.note(user, |waiting| waiting.at = Instant::now())
    }

    /// `true` while a job waits for, or reads, the messages of a person.
    pub(super) fn has(&self, user: &UserId) -> bool {
        self.people.lock().contains_key(user)
    }

    /// `true` while the messages of a person are being read, or are about to be.
    pub(super) fn is_reading(&self, user: &UserId) -> bool {
        self.people.lock().get(user).is_some_and(|waiting| waiting.not_before <= Instant::now())
    }

    /// Puts off a person whose messages could not be read.
    pub(super) fn rest(&self, user: &UserId, pause: Duration) {
        self.note(user, |waiting| {
            waiting.not_before = Instant::now() + pause;
            waiting.at = waiting.not_before;
        });
    }

    /// Waits until the messages of a person are to be read.
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

    /// Forgets a person of whom nothing is left; `false` if they have said more meanwhile.
    pub(super) fn end(&self, user: &UserId) -> bool {
        let mut people = self.people.lock();
        let is_done = people.get(user).is_none_or(|waiting| waiting.messages == 0);
        if is_done {
            people.remove(user);
        }
        is_done
    }

    fn note(&self, user: &UserId, change: impl FnOnce(&mut Waiting)) -> bool {
        let mut people = self.people.lock();
        let is_new = !people.contains_key(user);
        let now = Instant::now();
        let new = || Waiting { messages: 0, at: now, not_before: now, changed: Arc::default() };
        let waiting = people.entry(user.clone()).or_insert_with(new);
        change(waiting);
        waiting.changed.notify_one();
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn is_due_after(pending: &Pending, user: &UserId) -> Duration {
        let begun = Instant::now();
        pending.due(user).await;
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_person_is_read_when_quiet_for_a_minute_or_after_eight_messages() {
        let (minute, ann) = (Duration::from_secs(60), UserId::telegram(1));
        let pending = Pending::new(minute);
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
        let pending = Pending::new(Duration::from_secs(60));
        pending.said(&ann);
        pending.rest(&ann, hour);
        for _ in 0..MANY {
            pending.said(&ann);
        }
        assert_eq!(is_due_after(&pending, &ann).await, hour);
    }
}
