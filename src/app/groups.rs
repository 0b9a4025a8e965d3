//! Two groups of background work and their stop timeouts.

use std::time::Duration;

use figaro_base::shutdown::TaskTracker;

/// Timeout of running turns after a stop request; less than the ten seconds that Docker waits.
pub(super) const STOP_TIMEOUT: Duration = Duration::from_secs(8);
/// Timeout of abandoned turns and helpers.
pub(super) const LAST_CALL: Duration = Duration::from_secs(4);
/// Timeout after a second stop request; enough to save the state.
pub(super) const AT_ONCE: Duration = Duration::from_millis(500);

/// Groups of background work: `front` takes in updates and answers them; `back` serves `front` until that has ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups {
    pub(super) front: TaskTracker,
    pub(super) back: TaskTracker,
}

impl Groups {
    /// Ends the helpers of turns within a timeout.
    pub(super) async fn end_helpers(&self, within: Duration) {
        self.front.stop();
        self.back.stop();
        self.back.finish(within).await;
    }
}
