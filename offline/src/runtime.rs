//! Runtime of the offline servers: a clock, and tasks that end together. Created by the code that starts the servers.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

/// Clock and task group. Clones share both; the servers of one runtime end together.
#[derive(Clone)]
pub struct Runtime {
    now: Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>,
    stop: CancellationToken,
    tracker: TaskTracker,
}

impl Runtime {
    /// Creates a runtime without tasks. `now` returns the time in UTC.
    #[must_use]
    pub(crate) fn new(now: impl Fn() -> DateTime<Utc> + Send + Sync + 'static) -> Self {
        Self { now: Arc::new(now), stop: CancellationToken::new(), tracker: TaskTracker::new() }
    }

    /// Creates a runtime with the system clock.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place of this package that asks the machine")]
    pub fn system() -> Self {
        Self::new(Utc::now)
    }

    /// Returns the time of the runtime's clock, in UTC.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        (self.now)()
    }

    /// Asks every task to stop. Returns at once; [`Self::finish`] waits for them.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits for all tasks, at most for `timeout`. Returns `false` if some are still running.
    pub async fn finish(&self, timeout: Duration) -> bool {
        self.tracker.close();
        tokio::time::timeout(timeout, self.tracker.wait()).await.is_ok()
    }

    /// Spawns a task, with `name` in its tracing span. The task should end soon after [`Self::stopping`] resolves.
    #[expect(clippy::disallowed_methods, reason = "the one place of this package that spawns")]
    pub(crate) fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        let span = tracing::info_span!(parent: tracing::Span::current(), "task", name);
        drop(tokio::spawn(self.tracker.track_future(task).instrument(span)));
    }

    /// Resolves when a stop is requested.
    pub(crate) async fn stopping(&self) {
        self.stop.cancelled().await;
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("stop", &self.stop)
            .field("tracker", &self.tracker)
            .finish_non_exhaustive()
    }
}
