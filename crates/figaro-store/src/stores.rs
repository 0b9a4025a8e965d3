//! The stores of the bots of a process, at one place.

use std::collections::HashMap;
use std::fmt;
use std::io::Write;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::task::spawn_blocking;

use super::commits::Commits;
use super::engine::{self, BotOwner, Connections, EngineError, LEASE_WAIT, Ownership};
use super::fault::StoreFault;
use super::format::{self, OPEN};
use super::inventory::Inventory;
use super::marks::Marks;
use super::meters::StoreMeters;
use super::pack_rules::PackRules;
use super::space::Space;
use super::store::{Store, StoreInner};
use super::transfer::TransferError;
use super::verify;
use super::writer::Writer;
use crate::Result;
use figaro_base::ids::BotId;
use figaro_config::StoreUrl;

/// Maximum size of a store that is verified when opened, in bytes; verifying takes about 2 ms per megabyte. Otherwise an
/// engine notices a damaged page late, perhaps after it has returned wrong records.
const VERIFIED_BYTES: u64 = 256 * 1024 * 1024;

/// Opens stores of bots. Bots whose data is in one folder share its files and one thread that writes; bots in a database
/// share connections, and each has a lease of its own. Cheap to clone.
#[derive(Clone)]
pub struct Stores(Arc<StoresInner>);

struct StoresInner {
    url: StoreUrl,
    connections: Connections,
    meters: StoreMeters,
    /// Files that are open for at least one bot. Locked while they are being opened.
    files: Mutex<Weak<Commits>>,
    /// Stores in files that are open, by bot: a bot has one at a time.
    open: Mutex<HashMap<BotId, Weak<StoreInner>>>,
    pack_rules: PackRules,
}

impl Stores {
    /// Names the stores of bots at a place. Opens nothing yet.
    #[must_use]
    pub fn new(url: &StoreUrl) -> Self {
        Self::reached_at(url, String::new(), StoreMeters::default())
    }

    /// Like [`Self::new`], for a process whose HTTP gateway others reach at this address, and which counts in these metrics.
    #[must_use]
    pub fn reached_at(url: &StoreUrl, address: String, meters: StoreMeters) -> Self {
        let (url, connections) = (url.clone(), Connections::new(address, meters.clone()));
        Self(Arc::new(StoresInner {
            url,
            connections,
            meters,
            files: Mutex::default(),
            open: Mutex::default(),
            pack_rules: PackRules::default(),
        }))
    }

    /// Opens the store of a bot, creating it if needed. Waits as long as `wait` while another process has the bot in a
    /// database.
    ///
    /// # Errors
    /// If another process has the store open, it is no store or a damaged one, durable commits are lost, another version
    /// of Figaro wrote it, or its place cannot be read and written.
    pub async fn open(&self, bot: BotId, wait: Duration) -> Result<Store> {
        let (inner, place) = (Arc::clone(&self.0), self.0.url.place());
        let is_open = self.0.open.lock().get(&bot).is_some_and(|store| store.strong_count() > 0);
        if is_open && self.0.url.folder().is_some() {
            return Err(StoreFault::from(EngineError::InUse).into_error(&place, OPEN));
        }
        let opened = spawn_blocking(move || inner.commits(bot, wait)).await;
        let commits =
            opened.map_err(|error| StoreFault::Panic(error.to_string()).into_error(&place, OPEN))??;
        let writer = Writer::new(commits, Space::of(bot));
        let store = Store::over(writer, place, bot, self.0.pack_rules.clone());
        self.0.open.lock().insert(bot, Arc::downgrade(&store.shared));
        Ok(store)
    }

    /// Reads which processes have these bots. In a folder nobody else can have one.
    ///
    /// # Errors
    /// Of the database.
    pub async fn ownership(&self, bots: &[BotId]) -> Result<Ownership<BotId>> {
        let inner = Arc::clone(&self.0);
        let keys = bots.iter().map(|bot| Space::of(*bot).prefix().to_vec()).collect();
        let read = move || inner.connections.ownership(&inner.url, keys);
        let found = self.aside("tell who has the bots", read).await?;
        let named = |(key, owner): (Vec<u8>, BotOwner)| Some((Space::bot_of(&key)?, owner));
        let owners = found.owners.into_iter().filter_map(named).collect();
        Ok(Ownership { processes: found.processes, owners })
    }

    /// Counts this process among those that take bots, until it ends.
    ///
    /// # Errors
    /// Of the database.
    pub async fn join(&self) -> Result<()> {
        let inner = Arc::clone(&self.0);
        self.aside("join the others", move || inner.connections.join(&inner.url)).await
    }

    /// Tells the other processes that this one takes no more bots, as it is about to end.
    ///
    /// # Errors
    /// Of the database.
    pub async fn take_no_more(&self) -> Result<()> {
        let inner = Arc::clone(&self.0);
        self.aside("take no more bots", move || inner.connections.takes_no_more()).await
    }

    /// Returns `true` if a bot has the files open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.files.lock().strong_count() > 0
    }

    /// Writes all records of the open files as lines of an export, while their bots go on. What they have written so far is
    /// in it. Returns the writer, too. Ends early once `stop` returns `true`.
    ///
    /// # Errors
    /// If no bot has the files open, they cannot be read, the writer fails, or it ends early.
    pub async fn export_beside<W: Write + Send + 'static>(
        &self,
        mut to: W,
        stop: impl Fn() -> bool + Send + 'static,
    ) -> Result<(Inventory, W), TransferError> {
        let open = self.0.files.lock().upgrade();
        let commits =
            open.ok_or_else(|| TransferError::Refused("no bot has the store open now".to_owned()))?;
        let (url, place) = (self.0.url.clone(), self.0.url.place());
        let failed = |fault: StoreFault| TransferError::from(fault.into_error(&place, "be read"));
        commits.settle().await.map_err(failed)?;
        let written = move || Ok((commits.state.export_beside(&url, &mut to, &stop)?, to));
        let written = spawn_blocking(written).await;
        written.unwrap_or_else(|error| Err(failed(StoreFault::Panic(error.to_string()))))
    }

    async fn aside<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce() -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T> {
        let place = self.0.url.place();
        let done = spawn_blocking(work).await;
        done.map_err(|error| StoreFault::Panic(error.to_string()).into_error(&place, operation))?
            .map_err(|error| StoreFault::from(error).into_error(&place, operation))
    }
}

impl StoresInner {
    /// Returns what commits the changes of a bot.
    fn commits(&self, bot: BotId, wait: Duration) -> Result<Arc<Commits>> {
        if self.url.folder().is_none() {
            return self.start(bot, wait).map(Arc::new);
        }
        let mut files = self.files.lock();
        if let Some(open) = files.upgrade() {
            // Files that could not be written are opened anew once every bot has closed them.
            return match open.state.is_broken() {
                false => Ok(open),
                true => Err(StoreFault::from(EngineError::InUse).into_error(&self.url.place(), OPEN)),
            };
        }
        let started = Arc::new(self.start(bot, wait)?);
        *files = Arc::downgrade(&started);
        Ok(started)
    }

    /// Opens the engine and creates what is missing in it.
    fn start(&self, bot: BotId, wait: Duration) -> Result<Commits> {
        let (url, place) = (&self.url, self.url.place());
        let failed = |error: EngineError| StoreFault::from(error).into_error(&place, OPEN);
        let mut engine =
            engine::open_for(url, Space::of(bot).prefix(), &self.connections, wait).map_err(failed)?;
        if engine.disk_bytes().map_err(failed)? <= VERIFIED_BYTES {
            verify::verify(&mut *engine).map_err(failed)?;
        }
        format::prepare(&mut *engine, url, bot)?;
        let marks = Marks::of(&*engine).map_err(failed)?;
        Commits::start(engine, marks, self.meters.clone())
            .map_err(|error| failed(EngineError::failed(&error)))
    }
}

impl Store {
    /// Opens the store at this place for this bot, creating it if needed.
    ///
    /// # Errors
    /// If another process has the store open, it is no store or a damaged one, durable commits are lost, another version
    /// of Figaro wrote it, or its place cannot be read and written.
    pub async fn open(url: &StoreUrl, bot: BotId) -> Result<Self> {
        Stores::new(url).open(bot, LEASE_WAIT).await
    }
}

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stores").field("place", &self.0.url.place()).finish_non_exhaustive()
    }
}
