//! Server as others see it: its status, its tools and its connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::tools::{LeftOut, ServerTool};
use crate::client::Connection;
use crate::file::ServerConfig;
use figaro_base::secret::Redactor;
use figaro_base::text::one_line;

/// Maximum number of concurrent calls of a server. Others wait.
const MAX_CALLS: usize = 8;
/// Maximum length of a failure reason, in characters.
const MAX_REASON: usize = 300;

/// Server of the owner's file.
#[derive(Debug)]
pub struct Server {
    /// Entry of the server in the file.
    pub config: ServerConfig,
    status: watch::Sender<ServerStatus>,
    changes: Arc<AtomicU64>,
    /// Permits for calls; each call holds one.
    pub(super) calls: Semaphore,
    /// Signalled when somebody doubts that the server answers.
    pub(super) suspected: Notify,
    /// Signalled to restart the server at once.
    pub(super) again: Notify,
    pub(super) stopping: CancellationToken,
    /// Redactor that knows the secrets of the bot and of this server.
    redactor: Redactor,
}

/// State of a server at one moment.
#[derive(Debug, Clone)]
pub struct ServerStatus {
    /// Phase of the server's life.
    pub phase: ServerPhase,
    /// Tools of the last listing. They stay during a restart.
    pub tools: Arc<Vec<Arc<ServerTool>>>,
    /// Tools that cannot be offered, with the reason.
    pub left_out: Arc<Vec<LeftOut>>,
    /// Number of further tools that were not examined.
    pub beyond: usize,
    /// Number of restarts since the bot was started.
    pub restarts: u32,
    /// Connection to the server; `None` unless it is ready.
    pub(super) connection: Option<Arc<Connection>>,
    /// Number of messages that were too long; `None` if they are not counted.
    pub(super) too_long: Option<watch::Receiver<u64>>,
}

/// Phase of a server's life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerPhase {
    /// The file disables the server.
    Off,
    /// The server was started and has not answered yet.
    Starting,
    /// The server answers and its tools are listed.
    Ready,
    /// The server failed, for this reason, and will be restarted.
    Failed(String),
}

impl Server {
    /// Creates a server. `redactor` knows the bot's secrets.
    pub(super) fn new(
        config: ServerConfig,
        changes: Arc<AtomicU64>,
        stopping: CancellationToken,
        redactor: &Redactor,
    ) -> Self {
        let phase = if config.is_disabled { ServerPhase::Off } else { ServerPhase::Starting };
        let status = ServerStatus {
            phase,
            tools: Arc::default(),
            left_out: Arc::default(),
            beyond: 0,
            restarts: 0,
            connection: None,
            too_long: None,
        };
        Self {
            redactor: redactor.and_all(config.secrets().chain(&config.parameters())),
            config,
            status: watch::Sender::new(status),
            changes,
            calls: Semaphore::new(MAX_CALLS),
            suspected: Notify::new(),
            again: Notify::new(),
            stopping,
        }
    }

    /// Returns the current status.
    #[must_use]
    pub fn status(&self) -> ServerStatus {
        self.status.borrow().clone()
    }

    /// Returns a receiver of status changes.
    #[must_use]
    pub(crate) fn watch(&self) -> watch::Receiver<ServerStatus> {
        self.status.subscribe()
    }

    /// Waits until the server is ready, failed or off, and returns its status. Starting takes a minute and a half at
    /// most.
    pub async fn begun(&self) -> ServerStatus {
        let mut watch = self.watch();
        let begun = watch.wait_for(|status| status.phase != ServerPhase::Starting).await;
        begun.map_or_else(|_| self.status(), |status| status.clone())
    }

    /// Restarts the server at once. Calls in progress break.
    pub fn restart(&self) {
        self.again.notify_one();
    }

    pub(super) fn stop(&self) {
        self.stopping.cancel();
    }

    /// Returns the reason of a failure for the log and for owners: one line without secrets.
    pub(super) fn told(&self, why: &str) -> String {
        one_line(&self.redactor.clean(why), MAX_REASON)
    }

    pub(super) fn set(&self, change: impl FnOnce(&mut ServerStatus)) {
        self.status.send_modify(change);
    }

    /// Counts a change of the tools.
    pub(super) fn tools_changed(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }
}
