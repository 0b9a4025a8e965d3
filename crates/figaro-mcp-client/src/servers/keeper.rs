//! Life cycle of a server: start or connect, list its tools, watch it, restart it with growing pauses when it fails.

use std::collections::HashSet;
use std::future::pending;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceError;
use tokio::sync::watch;
use tokio::time::{Instant, interval, sleep_until, timeout};

use super::recipe::{self, ServerRecipe};
use super::server::{Server, ServerPhase};
use super::stdio::Process;
use super::tools::{LeftOut, Shelf};
use super::{http, stdio};
use crate::backoff::pauses;
use crate::client::{Connection, Hearing, words_of};
use crate::file::ServerTransport;

/// Time for a server to answer first. A program may have to be downloaded before.
const READY: Duration = Duration::from_secs(60);
/// Time for a server to list its tools.
const LISTING: Duration = Duration::from_secs(30);
/// Minimum time between two listings of the tools. Each costs work, and a server may report changes at any rate.
const RELIST: Duration = Duration::from_secs(5);
/// Time for a server to answer a ping after a call failed.
const PONG: Duration = Duration::from_secs(5);
/// Uptime after which a server counts as healthy. The next restart then has no pause.
const HEALTHY: Duration = Duration::from_secs(60);
/// Bounds of the pause before a restart. It doubles with each failure.
const PAUSES: RangeInclusive<Duration> = Duration::from_millis(500)..=Duration::from_secs(300);
/// Interval between checks whether the connection is closed.
const LOOK: Duration = Duration::from_secs(1);
/// Maximum number of pages in a list of tools.
const MAX_PAGES: usize = 200;

pub(super) struct ServerKeeper {
    pub(super) server: Arc<Server>,
    pub(super) recipe: ServerRecipe,
}

struct RunningServer {
    connection: Arc<Connection>,
    hearing: Hearing,
    /// Process of the server; `None` for HTTP.
    process: Option<Process>,
}

/// Reason why a keeper no longer attends to a server.
enum KeeperEnd {
    /// The bot or the owner stopped the server.
    Stopped,
    /// An owner asked for a restart.
    Again,
    /// The server failed, for this reason.
    Failed(String),
}

impl ServerKeeper {
    /// Keeps the server running until it is stopped.
    pub(super) async fn keep(self) {
        let mut wait = pauses(PAUSES);
        loop {
            let began = Instant::now();
            let over = self.live().await;
            if began.elapsed() >= HEALTHY {
                wait = pauses(PAUSES);
            }
            let name = &self.server.config.name;
            match over {
                KeeperEnd::Stopped => break,
                KeeperEnd::Again => {
                    tracing::info!(server = name, "an MCP server is started anew");
                    wait = pauses(PAUSES);
                }
                KeeperEnd::Failed(why) => {
                    let why = self.server.told(&why);
                    let pause = wait.next().unwrap_or(*PAUSES.end());
                    tracing::warn!(server = name, why, ?pause, "an MCP server failed; it is tried again");
                    self.server.set(|status| status.phase = ServerPhase::Failed(why));
                    tokio::select! {
                        () = self.server.stopping.cancelled() => break,
                        () = self.server.again.notified() => wait = pauses(PAUSES),
                        () = tokio::time::sleep(pause) => {}
                    }
                }
            }
            self.server.set(|status| {
                status.restarts += 1;
                status.phase = ServerPhase::Starting;
            });
        }
        self.server.set(|status| status.phase = ServerPhase::Off);
    }

    /// Starts the server, lists its tools and attends to it until it ends.
    async fn live(&self) -> KeeperEnd {
        let beginning = async {
            let running = self.begin().await?;
            match self.list(&running.connection).await {
                Ok(()) => Ok(running),
                Err(why) => {
                    self.end(running).await;
                    Err(why)
                }
            }
        };
        let running = tokio::select! {
            begun = beginning => match begun {
                Ok(running) => running,
                Err(why) => return KeeperEnd::Failed(why),
            },
            () = self.server.stopping.cancelled() => return KeeperEnd::Stopped,
            () = self.server.again.notified() => return KeeperEnd::Again,
        };
        let connection = running.connection.clone();
        self.server.set(|status| {
            status.phase = ServerPhase::Ready;
            status.connection = Some(connection);
        });
        let tools = self.server.status().tools.len();
        tracing::info!(server = self.server.config.name, tools, "an MCP server is ready");
        let (running, over) = self.attend(running).await;
        self.server.set(|status| status.connection = None);
        self.end(running).await;
        over
    }

    /// Starts the program or connects to the address.
    async fn begin(&self) -> Result<RunningServer, String> {
        let hearing = Hearing::default();
        let name = &self.server.config.name;
        let late = || format!("it did not answer within {} s", READY.as_secs());
        match &self.server.config.way {
            ServerTransport::Http(address) => {
                let transport = http::transport(address, self.recipe.http.clone());
                let opened = timeout(READY, Connection::over(transport, hearing.clone())).await;
                let connection = Arc::new(opened.unwrap_or_else(|_| Err(late()))?);
                Ok(RunningServer { connection, hearing, process: None })
            }
            ServerTransport::Stdio(program) => {
                let mut started = stdio::start(&self.server.config, program, &self.recipe)?;
                let opening = timeout(READY, Connection::over(started.transport, hearing.clone()));
                let opened = started.said.during(opening).await.unwrap_or_else(|_| Err(late()));
                match opened {
                    Ok(connection) => {
                        started.said.forward();
                        self.server.set(|status| status.too_long = Some(started.too_long));
                        let connection = Arc::new(connection);
                        Ok(RunningServer { connection, hearing, process: Some(started.process) })
                    }
                    Err(why) => {
                        // The program's last output explains more than the closed pipe does.
                        stdio::end(name, started.process).await;
                        let words = started.said.last_words(LOOK).await;
                        Err(words.map_or(why.clone(), |words| format!("{why}; it said: {words}")))
                    }
                }
            }
        }
    }

    /// Lists the tools of the server, within limits.
    async fn list(&self, connection: &Connection) -> Result<(), String> {
        let mut too_long = self.server.status().too_long;
        too_long.iter_mut().for_each(watch::Receiver::mark_unchanged);
        let mut shelf = Shelf::of(&self.server.config);
        // A server that declares no tools may still have some, or may not know the request.
        let has_tools = connection.has_tools();
        let bound = if has_tools { LISTING } else { PONG };
        let listing = timeout(bound, fill(&mut shelf, connection));
        let listed = tokio::select! {
            listed = listing => {
                let late = || format!("it did not list its tools within {} s", bound.as_secs());
                listed.unwrap_or_else(|_elapsed| Err(late()))
            }
            () = grown(&mut too_long) => Err(format!("{}: its list of tools", recipe::too_long())),
        };
        match listed {
            Err(why) if !shelf.is_untouched() => shelf.cut(self.server.told(&why)),
            Err(why) if has_tools => return Err(why),
            Err(_) | Ok(()) => {}
        }
        let is_new = {
            let before = self.server.status().tools;
            before.len() != shelf.tools.len() || before.iter().zip(&shelf.tools).any(|(a, b)| **a != **b)
        };
        let Shelf { tools, left_out, beyond, .. } = shelf;
        let before = self.server.status().left_out;
        let new = left_out.iter().filter(|one| !before.contains(one));
        let said =
            new.map(|LeftOut { name, reason }| format!("{name}: {reason}")).collect::<Vec<_>>().join("; ");
        if !said.is_empty() {
            let (server, said) = (&self.server.config.name, self.server.told(&said));
            tracing::warn!(server, said, "tools of an MCP server are left out");
        }
        self.server.set(|status| {
            status.tools = Arc::new(tools);
            status.left_out = Arc::new(left_out);
            status.beyond = beyond;
        });
        if is_new {
            self.server.tools_changed();
        }
        Ok(())
    }

    /// Watches the server until it ends.
    async fn attend(&self, mut running: RunningServer) -> (RunningServer, KeeperEnd) {
        let server = &*self.server;
        let mut look = interval(LOOK);
        let mut listed = Instant::now();
        let mut is_changed = false;
        loop {
            let over = tokio::select! {
                () = server.stopping.cancelled() => Some(KeeperEnd::Stopped),
                () = server.again.notified() => Some(KeeperEnd::Again),
                status = ended(running.process.as_mut()) => Some(KeeperEnd::Failed(format!("it ended ({status})"))),
                () = server.suspected.notified() => {
                    let pong = timeout(PONG, running.connection.ping()).await;
                    let silent = || KeeperEnd::Failed(format!("it did not answer within {} s", PONG.as_secs()));
                    match pong {
                        // An error answers the ping too: the server may not know the method.
                        Ok(Ok(()) | Err(ServiceError::McpError(_))) => None,
                        Ok(Err(error)) => Some(KeeperEnd::Failed(words_of(&error))),
                        Err(_) => Some(silent()),
                    }
                }
                () = running.hearing.tools_changed.notified() => {
                    is_changed = true;
                    None
                }
                () = sleep_until(listed + RELIST), if is_changed => {
                    is_changed = false;
                    let over = self.list_again(&running.connection).await;
                    listed = Instant::now();
                    over
                }
                _ = look.tick() => {
                    let is_closed = running.connection.is_closed();
                    is_closed.then(|| KeeperEnd::Failed("it closed the connection".to_owned()))
                }
            };
            if let Some(over) = over {
                return (running, over);
            }
        }
    }

    /// Lists the tools again, unless the server is to end meanwhile.
    async fn list_again(&self, connection: &Connection) -> Option<KeeperEnd> {
        tokio::select! {
            listed = self.list(connection) => listed.err().map(KeeperEnd::Failed),
            () = self.server.stopping.cancelled() => Some(KeeperEnd::Stopped),
            () = self.server.again.notified() => Some(KeeperEnd::Again),
        }
    }

    async fn end(&self, running: RunningServer) {
        match Arc::try_unwrap(running.connection) {
            Ok(connection) => connection.close().await,
            // A call that still holds the connection breaks.
            Err(held) => held.stop(),
        }
        if let Some(process) = running.process {
            stdio::end(&self.server.config.name, process).await;
        }
    }
}

/// Reads the pages of the list of tools.
async fn fill(shelf: &mut Shelf, connection: &Connection) -> Result<(), String> {
    let mut cursor = None;
    // A cursor seen before would lead in a circle.
    let mut seen = HashSet::new();
    for _ in 0..MAX_PAGES {
        let page = connection.tools(cursor).await;
        let page = page.map_err(|error| format!("it does not list its tools: {}", words_of(&error)))?;
        page.tools.into_iter().for_each(|tool| shelf.add(tool));
        cursor = page.next_cursor.filter(|next| !next.is_empty());
        let is_new = cursor.as_ref().is_some_and(|next| seen.insert(next.clone()));
        if !is_new {
            return Ok(());
        }
        if shelf.is_full() {
            break;
        }
    }
    // There are more tools, of unknown number.
    shelf.beyond = shelf.beyond.max(1);
    Ok(())
}

/// Waits for the program to end and returns its exit status. Never returns if there is no program.
async fn ended(process: Option<&mut Process>) -> String {
    match process {
        Some(process) => {
            process.child.wait().await.map_or_else(|error| error.to_string(), |status| status.to_string())
        }
        None => pending().await,
    }
}

/// Waits until a message was too long.
pub(super) async fn grown(too_long: &mut Option<watch::Receiver<u64>>) {
    let Some(count) = too_long else { return pending().await };
    if count.changed().await.is_err() {
        pending().await
    }
}
