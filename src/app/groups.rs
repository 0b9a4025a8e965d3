//! What the bot runs in the background, in two groups, and how long it may take to end.

use std::time::Duration;

use figaro_base::shutdown::TaskTracker;

/// How long running turns may go on after a stop was requested: less than the ten seconds that Docker waits.
pub(super) const STOP_TIMEOUT: Duration = Duration::from_secs(8);
/// How long abandoned turns and helpers may take to notice.
pub(super) const LAST_CALL: Duration = Duration::from_secs(4);
/// How long they may take at a second request to stop: enough to write down where they are.
pub(super) const AT_ONCE: Duration = Duration::from_millis(500);

/// `front` takes in and answers; `back` is what `front` needs until it has ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups {
    pub(super) front: TaskTracker,
    pub(super) back: TaskTracker,
}

impl Groups {
    /// Ends what turns needed, within a time.
    pub(super) async fn end_helpers(&self, within: Duration) {
        self.front.stop();
        self.back.stop();
        self.back.finish(within).await;
    }
}
