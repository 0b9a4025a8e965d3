//! Background tasks and one request to stop them all. Each task carries its tracing span and ends when asked.

use std::future::Future;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// Spawns tasks, tracks them and stops them together. Clones are cheap and share the same tasks.
#[derive(Debug, Clone, Default)]
pub struct TaskTracker {
    stop: CancellationToken,
    spawned: tokio_util::task::TaskTracker,
}

impl TaskTracker {
    /// Makes a tracker without tasks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Spawns a task; [`Self::finish`] waits for it. Long tasks should watch [`Self::stopping`].
    #[expect(clippy::disallowed_methods, reason = "the one place that spawns")]
    pub fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        let span = tracing::info_span!(parent: tracing::Span::current(), "task", name);
        drop(tokio::spawn(self.spawned.track_future(task).instrument(span)));
    }

    /// Resolves once a stop was requested.
    pub async fn stopping(&self) {
        self.stop.cancelled().await;
    }

    /// Returns `true` once a stop was requested.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Returns a token that is cancelled by the stop; it can also be cancelled alone.
    #[must_use]
    pub fn child_token(&self) -> CancellationToken {
        self.stop.child_token()
    }

    /// Asks all tasks to stop. Does not wait for them; see [`Self::finish`].
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits for all tasks until `timeout`. Returns `false` if some are still running.
    pub async fn finish(&self, timeout: Duration) -> bool {
        self.spawned.close();
        tokio::time::timeout(timeout, self.spawned.wait()).await.is_ok()
    }
}
