//! Tracked tasks and one request to stop: every spawned task carries its span and ends when asked.

use std::future::Future;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

/// Spawns tasks and ends them together. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    stop: CancellationToken,
    tracker: TaskTracker,
}

impl Tasks {
    /// No task yet, no stop requested.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs a future to its end; [`Self::finish`] waits for it. It should watch [`Self::stopping`] if it is long.
    #[expect(clippy::disallowed_methods, reason = "the one place that spawns")]
    pub fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        let span = tracing::info_span!(parent: tracing::Span::current(), "task", name);
        drop(tokio::spawn(self.tracker.track_future(task).instrument(span)));
    }

    /// Resolves once a stop was requested.
    pub async fn stopping(&self) {
        self.stop.cancelled().await;
    }

    /// Whether a stop was requested.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// A token that is cancelled with the stop, or alone.
    #[must_use]
    pub fn child_token(&self) -> CancellationToken {
        self.stop.child_token()
    }

    /// Asks every task to stop.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits for all tasks, at most this long; `false` if some are still running.
    pub async fn finish(&self, patience: Duration) -> bool {
        self.tracker.close();
        tokio::time::timeout(patience, self.tracker.wait()).await.is_ok()
    }
}
