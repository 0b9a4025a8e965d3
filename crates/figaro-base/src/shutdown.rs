//! Spawned futures and one request to stop them. Each carries its tracing span and ends when asked. Called wherever
//! something runs in the background.

use std::future::Future;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// Spawns futures, keeps track of them and ends them together. Cheap to clone; clones share the same set.
#[derive(Debug, Clone, Default)]
pub struct TaskTracker {
    stop: CancellationToken,
    spawned: tokio_util::task::TaskTracker,
}

impl TaskTracker {
    /// No task yet, no stop requested.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs a future to its end; [`Self::finish`] waits for it. It should watch [`Self::stopping`] if it is long.
    #[expect(clippy::disallowed_methods, reason = "the one place that spawns")]
    pub fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        let span = tracing::info_span!(parent: tracing::Span::current(), "task", name);
        drop(tokio::spawn(self.spawned.track_future(task).instrument(span)));
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
    pub async fn finish(&self, timeout: Duration) -> bool {
        self.spawned.close();
        tokio::time::timeout(timeout, self.spawned.wait()).await.is_ok()
    }
}
