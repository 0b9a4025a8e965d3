//! Retry limits of messages that Telegram does not accept. Used by `send`, `amend` and `poller`.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::Instant;

use figaro_base::ids::DeliveryId;
use figaro_domain::delivery::PendingDelivery;

/// Minimum and maximum pause before a retry. The pause doubles from the first to the second, and up to as much again
/// is added at random.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(30));
/// Growth of the pause between repeats. Each repeat may leave a copy in the chat, so they are spread from a tenth of
/// a second to about a minute.
const REPEAT_FACTOR: f32 = 5.0;
/// Maximum number of repeats of a call with an unknown outcome.
pub(crate) const MAX_REPEATS: u32 = 5;
/// Time for which a message that was certainly not sent is retried.
const SEND_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// Returns growing pauses without an end, for retries until success.
#[must_use]
pub(crate) fn pauses() -> ExponentialBackoff {
    let growing = ExponentialBuilder::new().with_min_delay(PAUSES.0).with_max_delay(PAUSES.1);
    growing.without_max_times().with_jitter().build()
}

/// Remaining retries and repeats of one message.
#[derive(Debug)]
pub(crate) struct Tries {
    /// Delivery that counts the repeats; `None` for a message without a delivery.
    pub(crate) delivery: Option<DeliveryId>,
    until: Instant,
    pauses: ExponentialBackoff,
    repeats: ExponentialBackoff,
}

impl Tries {
    /// Creates the tries for a message without a delivery.
    #[must_use]
    pub(crate) fn unrecorded(now: DateTime<Utc>) -> Self {
        Self::new(None, now, now, 0)
    }

    /// Creates the tries for a message without a delivery that is not repeated if it may have been sent.
    #[must_use]
    pub(crate) fn unrepeated(now: DateTime<Utc>) -> Self {
        Self::new(None, now, now, MAX_REPEATS)
    }

    /// Creates the tries for a part of a delivery that has already been repeated `repeated` times. Even an old
    /// delivery is tried once.
    #[must_use]
    pub(crate) fn of(delivery: &PendingDelivery, now: DateTime<Utc>, repeated: u32) -> Self {
        Self::new(Some(delivery.id), delivery.created_at, now, repeated)
    }

    fn new(delivery: Option<DeliveryId>, written: DateTime<Utc>, now: DateTime<Utc>, repeated: u32) -> Self {
        // The age is at least zero, even if the clock was set back.
        let age = (now - written).max(TimeDelta::zero()).to_std().unwrap_or(SEND_TIMEOUT);
        let left = usize::try_from(MAX_REPEATS.saturating_sub(repeated)).unwrap_or_default();
        let spread = ExponentialBuilder::new().with_min_delay(PAUSES.0).with_factor(REPEAT_FACTOR);
        Self {
            delivery,
            // A monotonic clock, which nobody can set.
            until: Instant::now() + SEND_TIMEOUT.saturating_sub(age),
            pauses: pauses(),
            repeats: spread.without_max_delay().with_max_times(left).with_jitter().build(),
        }
    }

    /// Returns the pause before the retry of a message that was certainly not sent; `None` after its time is over.
    pub(crate) fn again(&mut self) -> Option<Duration> {
        if self.is_over() { None } else { self.pauses.next() }
    }

    /// Returns the pause before the repeat of a message that may have been sent; `None` if no repeat is left.
    pub(crate) fn repeat(&mut self) -> Option<Duration> {
        if self.is_over() { None } else { self.repeats.next() }
    }

    /// Returns `true` if no further try is allowed.
    #[must_use]
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::hours(hours)
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_not_sent_is_tried_again_for_a_day() {
        let mut tries = Tries::new(None, at(0), at(1), 0);
        let mut waited = Duration::ZERO;
        let mut times = 0;
        while let Some(pause) = tries.again() {
            assert!(pause <= PAUSES.1 * 2, "{pause:?}");
            waited += pause;
            times += 1;
            tokio::time::advance(pause).await;
        }
        let hours = 23 * 3600;
        assert!((hours..hours + 60).contains(&waited.as_secs()), "{waited:?}");
        assert!(times > 1000, "{times} tries");
    }

    #[tokio::test(start_paused = true)]
    async fn what_may_have_been_sent_is_repeated_five_times_within_some_minutes() {
        for (repeated, left) in [(0, 5), (1, 4), (4, 1), (5, 0), (9, 0)] {
            let mut tries = Tries::new(None, at(0), at(0), repeated);
            let pauses: Vec<Duration> = std::iter::from_fn(|| tries.repeat()).collect();
            assert_eq!(pauses.len(), left, "{pauses:?}");
            let sum: Duration = pauses.iter().sum();
            assert!(
                sum < Duration::from_secs(180) && (left < 5 || sum > Duration::from_secs(60)),
                "{pauses:?}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_old_message_has_no_further_try_and_one_of_the_future_a_day() {
        assert!(Tries::new(None, at(0), at(25), 0).is_over());
        assert!(Tries::new(None, at(0), at(25), 0).repeat().is_none());
        let tries = Tries::new(None, at(48), at(0), 0);
        tokio::time::advance(Duration::from_secs(23 * 3600)).await;
        assert!(!tries.is_over());
        tokio::time::advance(Duration::from_secs(2 * 3600)).await;
        assert!(tries.is_over());
    }
}
