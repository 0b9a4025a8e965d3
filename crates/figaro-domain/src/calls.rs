//! Model calls of a day, in figures: how many came to an answer, how many failed, and how long they took.

use std::ops::AddAssign;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Upper bounds of the classes of a [`Spread`], in milliseconds. The last class has none.
const BOUNDS: [u64; 9] = [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000];

/// Model calls: their number and their times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// Calls that came to an answer.
    pub answered: u32,
    /// Calls that failed, tries that another model took over included.
    pub failed: u32,
    /// Times from a call to the first word of its answer.
    pub first: Spread,
    /// Times from a call to the end of its answer.
    pub whole: Spread,
}

/// Durations, counted in classes that each reach twice as far as the one before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread([u32; BOUNDS.len() + 1]);

impl Calls {
    /// Returns the figures of one call that came to an answer.
    #[must_use]
    pub fn one(first: Duration, whole: Duration) -> Self {
        Self { answered: 1, failed: 0, first: Spread::of(first), whole: Spread::of(whole) }
    }

    /// Returns the figures of one call that failed.
    #[must_use]
    pub fn one_failed() -> Self {
        Self { failed: 1, ..Self::default() }
    }

    /// Returns `true` if there are no calls.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.answered == 0 && self.failed == 0
    }
}

impl AddAssign for Calls {
    fn add_assign(&mut self, other: Self) {
        self.answered = self.answered.saturating_add(other.answered);
        self.failed = self.failed.saturating_add(other.failed);
        self.first += other.first;
        self.whole += other.whole;
    }
}

impl Spread {
    /// No durations.
    pub const NONE: Self = Self([0; BOUNDS.len() + 1]);

    fn of(duration: Duration) -> Self {
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let class = BOUNDS.iter().position(|bound| millis <= *bound).unwrap_or(BOUNDS.len());
        let mut counts = [0; BOUNDS.len() + 1];
        counts[class] = 1;
        Self(counts)
    }

    /// Returns the bound within which this share of the durations lie, in percent from 1 to 100: the upper bound of a class.
    /// `None` without durations, or if they reach beyond the last bound of 64 seconds.
    #[must_use]
    pub fn within(&self, percent: u32) -> Option<Duration> {
        let all: u64 = self.0.iter().map(|count| u64::from(*count)).sum();
        let wanted = (all * u64::from(percent)).div_ceil(100);
        let mut counted = 0;
        let reached = self.0.iter().position(|count| {
            counted += u64::from(*count);
            counted >= wanted && all > 0
        });
        reached.and_then(|class| BOUNDS.get(class)).map(|bound| Duration::from_millis(*bound))
    }

    /// Returns `true` if there are no durations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|count| *count == 0)
    }
}

impl AddAssign for Spread {
    fn add_assign(&mut self, other: Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count = count.saturating_add(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_calls_lies_within_a_bound() {
        let millis = Duration::from_millis;
        let mut calls = Calls::default();
        assert!(calls.is_none() && calls.first.is_empty());
        assert_eq!(calls.first.within(50), None);
        for first in [10, 250, 251, 900, 30_000] {
            calls += Calls::one(millis(first), millis(100_000));
        }
        calls += Calls::one_failed();
        assert_eq!((calls.answered, calls.failed), (5, 1));
        let first =
            [20, 40, 60, 80, 95, 100].map(|percent| calls.first.within(percent).map(|one| one.as_millis()));
        assert_eq!(first, [250, 250, 500, 1_000, 32_000, 32_000].map(Some));
        assert_eq!(calls.whole.within(50), None, "beyond the last bound");
        let read: Calls = serde_json::from_str(&serde_json::to_string(&calls).unwrap()).unwrap();
        assert_eq!(read, calls);
    }
}
