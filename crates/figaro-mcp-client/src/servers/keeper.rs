//! The life of a server: started or reached, its tools listed, watched, and started anew with growing pauses when it fails.

use std::collections::HashSet;
use std::future::pending;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceError;
use tokio::sync::watch;
use tokio::time::{Instant, interval, sleep_until, timeout};

use super::recipe::{self, ServerRecipe};
use super::server::{Phase, Server};
use super::stdio::Process;
use super::tools::{LeftOut, Shelf};
use super::{http, stdio};
use crate::backoff::pauses;
use crate::client::{Connection, Hearing, words_of};
use crate::file::Way;

/// How long a server may take to answer first: a program may have to be downloaded before.
const READY: Duration = Duration::from_secs(60);
/// How long it may take to list its tools.
const LISTING: Duration = Duration::from_secs(30);
/// Its tools are not listed again before this has passed: each list costs work, and a server tells of changes as it likes.
const RELIST: Duration = Duration::from_secs(5);
/// How long it may take to say that it is there, when somebody doubts it.
const PONG: Duration = Duration::from_secs(5);
/// A server that lived so long was healthy: the next restart is at once again.
const HEALTHY: Duration = Duration::from_secs(60);
/// The pause before a restart doubles from one of these to the other.
const PAUSES: RangeInclusive<Duration> = Duration::from_millis(500)..=Duration::from_secs(300);
/// How often it is looked whether a connection is closed.
const LOOK: Duration = Duration::from_secs(1);
/// The most pages that a list of tools may have.
const MAX_PAGES: usize = 200;

/// Keeps a server.
pub(super) struct Keeper {
    pub(super) server: Arc<Server>,
    pub(super) recipe: ServerRecipe,
}

/// A server that answers.
struct Running {
    connection: Arc<Connection>,
    hearing: Hearing,
    /// The program, if it is one.
    process: Option<Process>,
}

/// Why a server is not attended to any more.
enum Over {
    /// The bot, or the owner, wants it to end.
    Stopped,
    /// An owner wants it started anew.
    Again,
    /// It failed.
    Failed(String),
}

impl Keeper {
    /// Keeps the server until it is told to stop.
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
                Over::Stopped => break,
                Over::Again => {
                    tracing::info!(server = name, "an MCP server is started anew");
                    wait = pauses(PAUSES);
                }
                Over::Failed(why) => {
                    let why = self.server.told(&why);
                    let pause = wait.next().unwrap_or(*PAUSES.end());
                    tracing::warn!(server = name, why, ?pause, "an MCP server failed; it is tried again");
                    self.server.set(|status| status.phase = Phase::Failed(why));
                    tokio::select! {
                        () = self.server.stopping.cancelled() => break,
                        () = self.server.again.notified() => wait = pauses(PAUSES),
                        () = tokio::time::sleep(pause) => {}
                    }
                }
            }
            self.server.set(|status| {
                status.restarts += 1;
                status.phase = Phase::Starting;
            });
        }
        self.server.set(|status| status.phase = Phase::Off);
    }

    /// One life of the server.
    async fn live(&self) -> Over {
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
                Err(why) => return Over::Failed(why),
            },
            () = self.server.stopping.cancelled() => return Over::Stopped,
            () = self.server.again.notified() => return Over::Again,
        };
        let connection = running.connection.clone();
        self.server.set(|status| {
            status.phase = Phase::Ready;
            status.connection = Some(connection);
        });
        let tools = self.server.status().tools.len();
        tracing::info!(server = self.server.config.name, tools, "an MCP server is ready");
        let (running, over) = self.attend(running).await;
        self.server.set(|status| status.connection = None);
        self.end(running).await;
        over
    }

    /// Starts or reaches it.
    async fn begin(&self) -> Result<Running, String> {
        let hearing = Hearing::default();
        let name = &self.server.config.name;
        let late = || format!("it did not answer within {} s", READY.as_secs());
        match &self.server.config.way {
            Way::Http(address) => {
                let transport = http::transport(address, self.recipe.http.clone());
                let opened = timeout(READY, Connection::over(transport, hearing.clone())).await;
                let connection = Arc::new(opened.unwrap_or_else(|_| Err(late()))?);
                Ok(Running { connection, hearing, process: None })
            }
            Way::Stdio(program) => {
                let mut started = stdio::start(&self.server.config, program, &self.recipe)?;
                let opening = timeout(READY, Connection::over(started.transport, hearing.clone()));
                let opened = started.said.during(opening).await.unwrap_or_else(|_| Err(late()));
                match opened {
                    Ok(connection) => {
                        started.said.forward();
                        self.server.set(|status| status.too_long = Some(started.too_long));
                        let connection = Arc::new(connection);
                        Ok(Running { connection, hearing, process: Some(started.process) })
                    }
                    Err(why) => {
                        // Its own last words tell more than that its pipe was closed.
                        stdio::end(name, started.process).await;
                        let words = started.said.last_words(LOOK).await;
                        Err(words.map_or(why.clone(), |words| format!("{why}; it said: {words}")))
                    }
                }
            }
        }
    }

    /// Lists its tools, within bounds.
    async fn list(&self, connection: &Connection) -> Result<(), String> {
        let mut too_long = self.server.status().too_long;
        too_long.iter_mut().for_each(watch::Receiver::mark_unchanged);
        let mut shelf = Shelf::of(&self.server.config);
        // One that says of no tools may have some all the same, or not know the question.
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

    /// Watches it until it ends.
    async fn attend(&self, mut running: Running) -> (Running, Over) {
        let server = &*self.server;
        let mut look = interval(LOOK);
        let mut listed = Instant::now();
        let mut is_changed = false;
        loop {
            let over = tokio::select! {
                () = server.stopping.cancelled() => Some(Over::Stopped),
                () = server.again.notified() => Some(Over::Again),
                status = ended(running.process.as_mut()) => Some(Over::Failed(format!("it ended ({status})"))),
                () = server.suspected.notified() => {
                    let pong = timeout(PONG, running.connection.ping()).await;
                    let silent = || Over::Failed(format!("it did not answer within {} s", PONG.as_secs()));
                    match pong {
                        // One that knows no ping answers too.
                        Ok(Ok(()) | Err(ServiceError::McpError(_))) => None,
                        Ok(Err(error)) => Some(Over::Failed(words_of(&error))),
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
                    is_closed.then(|| Over::Failed("it closed the connection".to_owned()))
                }
            };
            if let Some(over) = over {
                return (running, over);
            }
        }
    }

    /// Lists its tools again, unless it is to end meanwhile.
    async fn list_again(&self, connection: &Connection) -> Option<Over> {
        tokio::select! {
            listed = self.list(connection) => listed.err().map(Over::Failed),
            () = self.server.stopping.cancelled() => Some(Over::Stopped),
            () = self.server.again.notified() => Some(Over::Again),
        }
    }

    async fn end(&self, running: Running) {
        match Arc::try_unwrap(running.connection) {
            Ok(connection) => connection.close().await,
            // A call that still holds it breaks.
            Err(held) => held.stop(),
        }
        if let Some(process) = running.process {
            stdio::end(&self.server.config.name, process).await;
        }
    }
}

/// Reads the pages of its list of tools.
async fn fill(shelf: &mut Shelf, connection: &Connection) -> Result<(), String> {
    let mut cursor = None;
    // One that leads back to where it was seen would lead round and round.
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
    // There is more, and nobody knows how much.
    shelf.beyond = shelf.beyond.max(1);
    Ok(())
}

/// How a program ended; never, for what is no program.
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
