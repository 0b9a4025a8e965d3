//! Clock handle: all code that needs the time gets a [`Clock`], so that tests can set it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rustix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

/// Tells the time. Cheap to clone.
#[derive(Clone)]
pub struct Clock {
    now: Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>,
    steady: Arc<dyn Fn() -> Duration + Send + Sync>,
}

impl Clock {
    /// Returns a clock that reads the machine's time.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the machine")]
    pub fn system() -> Self {
        Self { now: Arc::new(Utc::now), steady: Arc::new(since_boot) }
    }

    /// Returns a clock that calls `tell` for the current time.
    #[must_use]
    pub fn told_by(tell: impl Fn() -> DateTime<Utc> + Send + Sync + 'static) -> Self {
        let made = Instant::now();
        Self { now: Arc::new(tell), steady: Arc::new(move || made.elapsed()) }
    }

    /// Returns the current time in UTC.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        (self.now)()
    }

    /// Returns the monotonic time since a fixed moment of this process. The system clock also counts time during which the
    /// machine sleeps.
    #[must_use]
    pub fn steady(&self) -> Duration {
        (self.steady)()
    }
}

/// Returns the time since the machine booted, sleep included.
fn since_boot() -> Duration {
    #[cfg(target_os = "linux")]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    const CLOCK: ClockId = ClockId::Monotonic;
    let time = clock_gettime(CLOCK);
    let part = |part: i64| u64::try_from(part).unwrap_or_default();
    Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec))
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steady_clock_goes_on_and_never_back() {
        let clock = Clock::system();
        let begun = std::time::Instant::now();
        let first = clock.steady();
        std::thread::sleep(Duration::from_millis(5));
        let passed = clock.steady() - first;
        assert!(passed >= Duration::from_millis(5));
        // Measured around it; the clocks may be read to another digit.
        assert!(passed <= begun.elapsed() + Duration::from_millis(1));
    }
}
