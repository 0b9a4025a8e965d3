//! Keeps the MCP server running: starts it, waits until it answers, restarts it when it dies, ends it on shutdown.
//! The child watches its standard input, which this process holds open, so it cannot outlive this process.

use std::io;
use std::ops::RangeInclusive;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

use super::backoff::pauses;
use super::bots::{BotRegister, RegisteredBot};
use super::child::{self, Recipe};
use super::client::{Connection, McpError, ToolCallOutput};
use super::lines::{ChildOutput, LogTo, PipeLines};
use super::locate::ServerProgram;
use figaro_base::secret::{ExposeSecret, SecretString, random_hex};
use figaro_base::shutdown::TaskTracker;
use figaro_base::system::in_words;
use figaro_base::tenure::Tenure;

/// Time for a child to report that it is ready.
const READY: Duration = Duration::from_secs(10);
/// Time for a child to end after its standard input is closed.
const LEAVE: Duration = Duration::from_secs(3);
/// Maximum wait of a call for a child that is being restarted.
const RESTART_TIMEOUT: Duration = Duration::from_secs(10);
/// Uptime after which a child counts as healthy. The next restart then has no pause.
const HEALTHY: Duration = Duration::from_secs(60);
/// Bounds of the pause before a restart. It doubles with each failure.
const PAUSES: RangeInclusive<Duration> = Duration::from_millis(200)..=Duration::from_secs(30);

/// The server for all bots of this process, whichever child it is at the moment. Cheap to clone.
#[derive(Debug, Clone)]
pub struct McpServer {
    current: watch::Receiver<Option<Arc<Connection>>>,
    restarts: Arc<AtomicU32>,
    child: Arc<AtomicU32>,
    bots: BotRegister,
}

/// Handle of a bot on the server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Mcp {
    server: McpServer,
    bot: Arc<RegisteredBot>,
    /// Right of this process to act for the bot.
    tenure: Tenure,
}

/// Reason why the server could not be started at all.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The child ended at once. Holds its own explanation.
    #[error("the Telegram MCP server did not start: {0}")]
    Refused(String),
    /// There is no executable, or it is not this server.
    #[error(
        "the Telegram MCP server could not be started ({0}): set MCP_SERVER_BIN to the figaro-mcp of this build"
    )]
    Missing(String),
}

/// Child that is ready, with the pipe that keeps it alive.
#[derive(Debug)]
struct RunningChild {
    child: Child,
    /// Held open; the child ends when it closes. It is not left in `Child`, because `Child::wait` would close it.
    stdin: ChildStdin,
    connection: Arc<Connection>,
}

impl RunningChild {
    /// Tells the child of bots.
    async fn name_bots(&mut self, lines: Vec<SecretString>) {
        for line in lines {
            // A child that no longer reads has ended, and the next one is told of all bots.
            if self.stdin.write_all(line.expose_secret().as_bytes()).await.is_err() {
                return;
            }
        }
    }
}

impl McpServer {
    /// Starts the server from the first candidate of this build. Keeps it running until `background` is asked to
    /// stop.
    ///
    /// # Errors
    /// If no candidate can be started. Nothing is left running then.
    pub async fn start(
        candidates: Vec<ServerProgram>,
        recipe: Recipe,
        background: &TaskTracker,
    ) -> Result<Self, StartError> {
        let (candidate, running) = first_of_this_build(candidates, &recipe).await?;
        let (sender, current) = watch::channel(Some(Arc::clone(&running.connection)));
        let (bots, lines) = BotRegister::new();
        let child = Arc::new(AtomicU32::new(running.child.id().unwrap_or_default()));
        let server = Self { current, restarts: Arc::default(), child, bots };
        let keeper =
            ChildKeeper { candidate, recipe, sender, server: server.clone(), background: background.clone() };
        background.spawn("mcp_supervisor", keeper.keep(running, lines));
        Ok(server)
    }

    /// Makes the server act for the bot of a token, until the last clone of the handle is dropped, and while `tenure` holds.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn for_bot(&self, token: &SecretString, tenure: Tenure) -> io::Result<Mcp> {
        let key = random_hex(16).map_err(io::Error::other)?;
        let bot = Arc::new(self.bots.add(key, token.clone()));
        Ok(Mcp { server: self.clone(), bot, tenure })
    }
}

impl Mcp {
    /// Returns the number of restarts since the bot was started.
    #[must_use]
    pub fn restarts(&self) -> u32 {
        self.server.restarts.load(Ordering::Relaxed)
    }

    /// Returns the process id of the current child.
    #[must_use]
    pub fn child_pid(&self) -> u32 {
        self.server.child.load(Ordering::Relaxed)
    }

    /// Calls a tool. Waits a little for a child that is being restarted.
    ///
    /// # Errors
    /// See [`McpError`]. A call whose connection broke is not repeated, because it may have acted.
    pub async fn call(&self, name: &str, arguments: Map<String, Value>) -> Result<ToolCallOutput, McpError> {
        let mut current = self.server.current.clone();
        let unavailable = || McpError::Unavailable("it is being restarted".to_owned());
        let connection = match timeout(RESTART_TIMEOUT, current.wait_for(Option::is_some)).await {
            Ok(Ok(connection)) => connection.clone().ok_or_else(unavailable)?,
            Ok(Err(_)) | Err(_) => return Err(unavailable()),
        };
        if !self.tenure.holds() {
            return Err(McpError::Unavailable("another process may have the bot".to_owned()));
        }
        let gone = current.wait_for(|now| now.as_ref().is_none_or(|now| !Arc::ptr_eq(now, &connection)));
        tokio::select! {
            answer = connection.call(Some(self.bot.key.expose_secret()), name, arguments) => answer,
            () = self.tenure.ended() => Err(McpError::Lost("another process may have the bot by now".to_owned())),
            // The client would wait for an answer that can no longer come.
            _ = gone => Err(McpError::Lost("it ended".to_owned())),
        }
    }
}

/// Watches the child and starts another one when it ends.
struct ChildKeeper {
    candidate: ServerProgram,
    recipe: Recipe,
    sender: watch::Sender<Option<Arc<Connection>>>,
    server: McpServer,
    background: TaskTracker,
}

impl ChildKeeper {
    async fn keep(self, mut running: RunningChild, mut lines: mpsc::UnboundedReceiver<SecretString>) {
        let mut pauses = pauses(PAUSES);
        loop {
            let began = Instant::now();
            running.name_bots(self.server.bots.all()).await;
            let status = loop {
                tokio::select! {
                    status = running.child.wait() => break status,
                    Some(line) = lines.recv() => running.name_bots(vec![line]).await,
                    () = self.background.stopping() => {
                        self.sender.send_replace(None);
                        return end(running).await;
                    }
                }
            };
            self.sender.send_replace(None);
            let restarts = self.server.restarts.fetch_add(1, Ordering::Relaxed) + 1;
            tracing::error!(restarts, "the Telegram MCP server ended ({}); restarting it", describe(status));
            if began.elapsed() >= HEALTHY {
                pauses = self::pauses(PAUSES);
            }
            let Some(next) = self.restart(&mut pauses).await else {
                return;
            };
            self.server.child.store(next.child.id().unwrap_or_default(), Ordering::Relaxed);
            self.sender.send_replace(Some(Arc::clone(&next.connection)));
            running = next;
        }
    }

    /// Tries until a child is ready. Returns `None` once a stop was requested.
    async fn restart(&self, pauses: &mut impl Iterator<Item = Duration>) -> Option<RunningChild> {
        for pause in pauses {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.background.stopping() => return None,
            }
            match launch(&self.candidate, &self.recipe, true).await {
                Ok(running) => return Some(running),
                Err(error) => tracing::error!("{error}"),
            }
        }
        None
    }
}

/// Starts the first candidate that works. A candidate that the owner did not configure must be of this build; a stale
/// one, or one that is no server, is skipped.
async fn first_of_this_build(
    candidates: Vec<ServerProgram>,
    recipe: &Recipe,
) -> Result<(ServerProgram, RunningChild), StartError> {
    let mut candidates = candidates.into_iter().peekable();
    while let Some(candidate) = candidates.next() {
        let running = match launch(&candidate, recipe, false).await {
            Ok(running) => running,
            // It is no server at all. A server that refuses has a reason that holds for the next candidate too.
            Err(error @ StartError::Missing(_)) if candidates.peek().is_some() => {
                tracing::warn!("{error}; passing it over");
                continue;
            }
            Err(error) => return Err(error),
        };
        let is_same = running.connection.server_version.ends_with(figaro_mcp::BUILD_ID);
        if candidate.named || is_same {
            return Ok((candidate, running));
        }
        tracing::warn!(
            "{} is of another build ({}); passing it over",
            candidate.program.display(),
            running.connection.server_version
        );
        end(running).await;
    }
    Err(StartError::Missing("no executable of this build".to_owned()))
}

/// Starts a child and waits until it answers. `again` is `true` if an earlier child has died.
async fn launch(candidate: &ServerProgram, recipe: &Recipe, again: bool) -> Result<RunningChild, StartError> {
    // A configured program is not shown: the setting may hold a secret by mistake.
    let program = match candidate.named {
        true => "what MCP_SERVER_BIN names".to_owned(),
        false => candidate.program.display().to_string(),
    };
    let missing = |reason: String| StartError::Missing(format!("{program}: {reason}"));
    let key = random_hex(32).map_err(|error| missing(error.to_string()))?;
    let spawned = child::command(candidate, recipe, &key, again).spawn();
    let mut child = spawned.map_err(|error| missing(in_words(&error)))?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(missing("its pipes are not there".to_owned()));
    };
    let redactor = recipe.redactor.and(&key);
    let mut words = PipeLines::new(stdout, redactor.clone());
    let mut errors = ChildOutput::new(PipeLines::new(stderr, redactor), LogTo::Own(recipe.log.format));
    let Some(url) = errors.during(timeout(READY, words.ready_url())).await.ok().flatten() else {
        drop(child.start_kill());
        let words = errors.last_words(LEAVE).await;
        let words = words.ok_or_else(|| missing("it is no such server".to_owned()))?;
        return Err(StartError::Refused(words));
    };
    errors.forward();
    ChildOutput::new(words, LogTo::Own(recipe.log.format)).forward();
    let connection = Connection::open(&url, &key).await.map_err(|error| missing(error.to_string()))?;
    Ok(RunningChild { child, stdin, connection: Arc::new(connection) })
}

/// Closes the child's standard input and waits. Kills the child if it does not end in time.
async fn end(RunningChild { mut child, stdin, connection }: RunningChild) {
    // If a call still holds the connection, the connection breaks with the child.
    if let Ok(connection) = Arc::try_unwrap(connection) {
        connection.close().await;
    }
    drop(stdin);
    if timeout(LEAVE, child.wait()).await.is_err() {
        tracing::warn!("the Telegram MCP server did not leave in time; killing it");
        if let Err(error) = child.kill().await {
            tracing::error!(%error, "the Telegram MCP server could not be killed");
        }
    }
}

fn describe(status: io::Result<ExitStatus>) -> String {
    status.map_or_else(|error| error.to_string(), |status| status.to_string())
}
