//! Telegram's flood limits, enabled by tests: 30 messages a second overall, 20 a minute per group.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

const OVERALL: Rate = Rate { count: 30, window: Duration::from_secs(1) };
const PER_GROUP: Rate = Rate { count: 20, window: Duration::from_secs(60) };

/// Maximum number of messages within a time window.
#[derive(Debug, Clone, Copy)]
struct Rate {
    count: usize,
    window: Duration,
}

/// Send times of the messages within the time windows, overall and by group.
#[derive(Debug, Default)]
pub(super) struct SendLimits {
    overall: VecDeque<Instant>,
    groups: BTreeMap<i64, VecDeque<Instant>>,
}

impl SendLimits {
    /// Counts a message to a chat. The error is the number of seconds to wait, if a limit is exceeded.
    pub(super) fn count(&mut self, group: Option<i64>, now: Instant) -> Result<(), u64> {
        wait(&mut self.overall, OVERALL, now)?;
        if let Some(group) = group {
            let sent = self.groups.entry(group).or_default();
            wait(sent, PER_GROUP, now)?;
            sent.push_back(now);
        }
        self.overall.push_back(now);
        Ok(())
    }
}

fn wait(sent: &mut VecDeque<Instant>, Rate { count, window }: Rate, now: Instant) -> Result<(), u64> {
    while sent.front().is_some_and(|at| now.duration_since(*at) >= window) {
        sent.pop_front();
    }
    match sent.front() {
        Some(first) if sent.len() >= count => {
            Err((window - now.duration_since(*first)).as_secs_f64().ceil() as u64)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_windows_slide() {
        let mut limits = SendLimits::default();
        let start = Instant::now();
        for _ in 0..20 {
            assert_eq!(limits.count(Some(-1), start), Ok(()));
        }
        assert_eq!(limits.count(Some(-1), start), Err(60));
        assert_eq!(limits.count(Some(-1), start + Duration::from_millis(20_500)), Err(40));
        assert_eq!(limits.count(Some(-1), start + Duration::from_secs(60)), Ok(()));
        let mut limits = SendLimits::default();
        for _ in 0..30 {
            assert_eq!(limits.count(None, start), Ok(()));
        }
        assert_eq!(limits.count(Some(-1), start), Err(1));
        assert_eq!(limits.count(None, start + Duration::from_secs(1)), Ok(()));
    }
}
