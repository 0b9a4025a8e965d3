//! Limit on wrong codes per person, after which further codes are ignored for a while. Pure.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};

use figaro_base::ids::UserId;

/// Wrong codes of a person before further ones are ignored for [`PAUSE`].
pub(crate) const MAX_WRONG: usize = 5;
/// Time that wrong codes of a person count, from the last one on.
pub(crate) const PAUSE: TimeDelta = TimeDelta::hours(1);
/// Maximum number of people whose wrong codes are counted; while it is reached, codes of further people are ignored.
const MAX_PEOPLE: usize = 10_000;

/// Recent wrong codes by person. Lost on a restart.
#[derive(Debug, Default)]
pub struct Guesses(HashMap<UserId, Wrong>);

#[derive(Debug)]
struct Wrong {
    count: usize,
    last: DateTime<Utc>,
}

impl Guesses {
    /// Returns `true` if a code that this person sends now is checked.
    pub fn may_guess(&mut self, user: &UserId, now: DateTime<Utc>) -> bool {
        self.0.retain(|_, wrong| now - wrong.last < PAUSE);
        self.0.get(user).map_or(self.0.len() < MAX_PEOPLE, |wrong| wrong.count < MAX_WRONG)
    }

    /// Records a wrong code; returns `false` if further ones are ignored.
    pub fn note_wrong(&mut self, user: UserId, now: DateTime<Utc>) -> bool {
        let wrong = self.0.entry(user).or_insert(Wrong { count: 0, last: now });
        wrong.count += 1;
        wrong.last = now;
        wrong.count < MAX_WRONG
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_wrong_codes_of_a_person_are_looked_at_and_more_after_an_hour() {
        let (ann, bob) = (UserId::telegram(1), UserId::telegram(2));
        let at = |minute: i64| DateTime::UNIX_EPOCH + TimeDelta::minutes(minute);
        let mut guesses = Guesses::default();
        for minute in 0..5 {
            assert!(guesses.may_guess(&ann, at(minute)));
            assert_eq!(guesses.note_wrong(ann.clone(), at(minute)), minute < 4);
        }
        assert!(!guesses.may_guess(&ann, at(5)) && guesses.may_guess(&bob, at(5)));
        assert!(!guesses.may_guess(&ann, at(63)));
        assert!(guesses.may_guess(&ann, at(64)));
        assert!((0..10_000).all(|user| guesses.note_wrong(UserId::telegram(100 + user), at(64))));
        assert!(!guesses.may_guess(&bob, at(65)));
        assert!(guesses.may_guess(&bob, at(200)));
    }
}
