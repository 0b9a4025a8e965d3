//! A server as others see it: how it is, what tools it has, and the way to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::tools::{LeftOut, ServerTool};
use crate::client::Connection;
use crate::file::ServerConfig;
use figaro_base::secret::Redactor;
use figaro_base::text::one_line;

/// So many calls of a server are made at the same time; others wait.
const MAX_CALLS: usize = 8;
/// The most characters of why a server failed.
const MAX_REASON: usize = 300;

/// A server of the owner's file.
#[derive(Debug)]
pub struct Server {
    /// What the file says of it.
    pub config: ServerConfig,
    status: watch::Sender<Status>,
    changes: Arc<AtomicU64>,
    /// Held by each call that is made.
    pub(super) calls: Semaphore,
    /// Somebody doubts that it answers.
    pub(super) suspected: Notify,
    /// Somebody wants it started anew, now.
    pub(super) again: Notify,
    /// It is to end.
    pub(super) stopping: CancellationToken,
    /// Knows the bot's secrets and its own.
    redactor: Redactor,
}

/// How a server is.
#[derive(Debug, Clone)]
pub struct Status {
    /// What it does at the moment.
    pub phase: Phase,
    /// Its tools, as it listed them last; they stay while it is being restarted.
    pub tools: Arc<Vec<Arc<ServerTool>>>,
    /// Tools that nobody can have, with the reason.
    pub left_out: Arc<Vec<LeftOut>>,
    /// How many more tools were not even looked at.
    pub beyond: usize,
    /// How often it was started anew.
    pub restarts: u32,
    /// The way to it, while it is ready.
    pub(super) connection: Option<Arc<Connection>>,
    /// How many of its messages were too long.
    pub(super) too_long: Option<watch::Receiver<u64>>,
}

/// What a server does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// The file says that it is not to be used.
    Off,
    /// It was started and has not answered yet.
    Starting,
    /// It answers.
    Ready,
    /// It failed, for this reason, and will be tried again.
    Failed(String),
}

impl Server {
    /// `redactor` knows the bot's secrets.
    pub(super) fn new(
        config: ServerConfig,
        changes: Arc<AtomicU64>,
        stopping: CancellationToken,
        redactor: &Redactor,
    ) -> Self {
        let phase = if config.is_disabled { Phase::Off } else { Phase::Starting };
        let status = Status {
            phase,
            tools: Arc::default(),
            left_out: Arc::default(),
            beyond: 0,
            restarts: 0,
            connection: None,
            too_long: None,
        };
        Self {
            redactor: redactor.and_all(config.secrets()),
            config,
            status: watch::Sender::new(status),
            changes,
            calls: Semaphore::new(MAX_CALLS),
            suspected: Notify::new(),
            again: Notify::new(),
            stopping,
        }
    }

    /// How it is now.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// Tells of each change of how it is.
    #[must_use]
    pub(crate) fn watch(&self) -> watch::Receiver<Status> {
        self.status.subscribe()
    }

    /// Waits until it is ready, has failed or is off; gives how it is then. It is being started for a minute and a half at most.
    pub async fn begun(&self) -> Status {
        let mut watch = self.watch();
        let begun = watch.wait_for(|status| status.phase != Phase::Starting).await;
        begun.map_or_else(|_| self.status(), |status| status.clone())
    }

    /// Has it started anew, now; a call that is under way breaks.
    pub fn restart(&self) {
        self.again.notify_one();
    }

    /// Has it end for good.
    pub(super) fn stop(&self) {
        self.stopping.cancel();
    }

    /// What is told of a failure, to the log and to owners: a line without secrets.
    pub(super) fn told(&self, why: &str) -> String {
        one_line(&self.redactor.clean(why), MAX_REASON)
    }

    pub(super) fn set(&self, change: impl FnOnce(&mut Status)) {
        self.status.send_modify(change);
    }

    /// The tools are others from now on.
    pub(super) fn tools_changed(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }
}
