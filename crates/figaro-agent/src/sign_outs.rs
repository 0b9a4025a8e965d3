//! Signing out of the dashboard everywhere: in all browsers and Mini Apps, at all bots of the process.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;

use figaro_base::ids::UserId;

/// Time after which a browser has to sign in again, whatever it did meanwhile.
pub const SIGNED_IN_HOURS: i64 = 12;
/// Time for which a sign-out is kept: longer than anything lasts that it ends.
const KEPT: TimeDelta = TimeDelta::hours(2 * SIGNED_IN_HOURS);

/// Last sign-outs of people, in memory only: a restart signs everybody out. Cheap to clone; the bots of a process share one.
#[derive(Debug, Clone, Default)]
pub struct SignOuts(Arc<Mutex<SignOutNumbers>>);

#[derive(Debug, Default)]
struct SignOutNumbers {
    /// Number of the next grant or sign-out. Clocks may be set back, numbers only grow.
    next: u64,
    last: HashMap<UserId, LastSignOut>,
}

#[derive(Debug)]
struct LastSignOut {
    number: u64,
    at: DateTime<Utc>,
}

/// Right of a browser to be signed in for a person, until the person signs out everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInGrant {
    /// Person that the browser is signed in for.
    pub user: UserId,
    number: u64,
}

impl SignOutNumbers {
    const fn take(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

impl SignOuts {
    /// Makes the right to be signed in for a person.
    pub(super) fn grant(&self, user: UserId) -> SignInGrant {
        SignInGrant { user, number: self.0.lock().take() }
    }

    /// Returns `true` if the person has not signed out since the right was made.
    pub(super) fn holds(&self, grant: &SignInGrant) -> bool {
        self.0.lock().last.get(&grant.user).is_none_or(|out| out.number < grant.number)
    }

    /// Makes the right to be signed in for a person who was known at this time; `None` if they have signed out since. Times
    /// count in whole seconds, and one of the same second as before.
    pub(super) fn grant_of(&self, user: UserId, at: DateTime<Utc>) -> Option<SignInGrant> {
        // Under one lock: a sign-out in between would be older than the right.
        let mut all = self.0.lock();
        let is_out = all.last.get(&user).is_some_and(|out| out.at.timestamp() >= at.timestamp());
        (!is_out).then(|| SignInGrant { user, number: all.take() })
    }

    /// Signs a person out.
    pub(super) fn add(&self, user: &UserId, now: DateTime<Utc>) {
        let mut all = self.0.lock();
        all.last.retain(|_, out| now - out.at < KEPT);
        let number = all.take();
        all.last.insert(user.clone(), LastSignOut { number, at: now });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_of_a_person_ends_nothing_of_another() {
        let (all, now) = (SignOuts::default(), DateTime::UNIX_EPOCH);
        let (ann, bob) = (UserId::telegram(1), UserId::telegram(2));
        all.add(&ann, now);
        let later = all.grant(ann.clone());
        all.add(&bob, now + KEPT);
        let kept = all.0.lock().last.len();
        assert!(kept == 1 && all.grant_of(ann.clone(), now).is_some());
        assert!(all.holds(&later) && !all.holds(&SignInGrant { user: bob, number: 1 }));
        // A clock that is set back does not bring anything back.
        all.add(&ann, now - KEPT);
        assert!(!all.holds(&later));
    }
}
