//! Pace of updates: the usual one, slower for a while after Telegram has pushed back. Pure; used by both kinds of
//! previews.

use std::time::Duration;

use tokio::time::Instant;

const MAX_PAUSE: Duration = Duration::from_secs(60);
/// Time before the next look after one without a visible change.
const LOOK: Duration = Duration::from_millis(350);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PreviewPace {
    usual: Duration,
    pause: Duration,
    ready: Instant,
}

impl PreviewPace {
    /// Creates a pace with this usual pause; the first update may go out now.
    pub(super) const fn new(usual: Duration, now: Instant) -> Self {
        Self { usual, pause: usual, ready: now }
    }

    /// Returns the time of the next update.
    pub(super) const fn ready(&self) -> Instant {
        self.ready
    }

    /// Records a shown update: the next one waits for the pause, which shrinks by a quarter down to the usual one.
    pub(super) fn updated(&mut self, now: Instant) {
        self.ready = now + self.pause;
        self.pause = self.usual.max(self.pause * 3 / 4);
    }

    /// Records that the rate limit was reached or Telegram asked to wait: the pause doubles, and the next update
    /// waits at least `wait`.
    pub(super) fn pushed_back(&mut self, now: Instant, wait: Duration) {
        self.pause = MAX_PAUSE.min(self.pause * 2);
        self.ready = now + self.pause.max(wait);
    }

    /// Records a look that found nothing new to show.
    pub(super) fn looked(&mut self, now: Instant) {
        self.ready = self.ready.max(now + LOOK);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const USUAL: Duration = Duration::from_secs(4);

    /// Milliseconds until the next update may go out, after each of these: `None` for one that was shown, else the wait
    /// in seconds that Telegram asked for.
    fn pauses(updates: &[Option<u64>]) -> Vec<u128> {
        let mut now = Instant::now();
        let mut pace = PreviewPace::new(USUAL, now);
        let after = |update: &Option<u64>| {
            match update {
                None => pace.updated(now),
                Some(wait) => pace.pushed_back(now, Duration::from_secs(*wait)),
            }
            let pause = pace.ready() - now;
            now = pace.ready();
            pause.as_millis()
        };
        updates.iter().map(after).collect()
    }

    #[test]
    fn it_doubles_at_every_push_back_and_returns_slowly() {
        assert_eq!(pauses(&[None, None]), [4000, 4000]);
        assert_eq!(
            pauses(&[Some(0), Some(1), None, None, None, None]),
            [8000, 16_000, 16_000, 12_000, 9000, 6750]
        );
        assert_eq!(pauses(&[Some(30), None, None]), [30_000, 8000, 6000], "no sooner than Telegram wants");
        assert_eq!(pauses(&[Some(0); 6]), [8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
        assert_eq!(pauses(&[Some(0), None, None, None, None, None]).last(), Some(&4000), "it comes back");
    }

    #[test]
    fn a_look_without_news_delays_the_next_and_no_update() {
        let now = Instant::now();
        let mut pace = PreviewPace::new(USUAL, now);
        pace.looked(now);
        assert_eq!(pace.ready(), now + LOOK);
        pace.updated(now);
        pace.looked(now);
        assert_eq!(pace.ready(), now + USUAL);
    }

    proptest! {
        #[test]
        fn no_pause_is_shorter_than_usual_or_longer_than_it_must_be(updates: Vec<Option<u8>>) {
            let updates: Vec<Option<u64>> = updates.into_iter().map(|wait| wait.map(u64::from)).collect();
            for (pause, update) in pauses(&updates).into_iter().zip(&updates) {
                let asked = u128::from(update.unwrap_or_default()) * 1000;
                prop_assert!(pause >= asked.max(4000) && pause <= asked.max(60_000));
            }
        }
    }
}
