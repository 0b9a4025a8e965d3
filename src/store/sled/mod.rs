//! The store on one machine: a folder kept by sled, for the composition root. A tree per concern (`tables`), keys in
//! order (`key`), every write of an operation at once (`changes`), durable points shared by all who wait (`durable`).
//!
//! Above them are the `records`: how they are found and written. On top is a file for each port of the store, which makes
//! each of its operations one read or one change of [`SledStore`].

mod changes;
mod conversation;
mod durable;
mod fault;
mod files;
mod inbox;
mod key;
mod notes;
mod open;
mod outbox;
mod parked;
mod private;
mod records;
mod room;
mod settings;
mod table;
mod tables;
mod tasks;
mod usage;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio::sync::{Notify, watch};
use tokio::task::spawn_blocking;

use self::changes::Changes;
use self::durable::{Files, GroupCommit};
use self::fault::Fault;
use self::records::upgrade;
use self::tables::Tables;
use super::{Result, Store, StoreError, StoreHealth};
use crate::clock::Clock;
use crate::ids::BotId;

/// A store in a folder of its own, locked for this process. Cheap to clone; closed when the last clone is dropped.
#[derive(Clone)]
pub struct SledStore(Arc<Shared>);

struct Shared {
    path: PathBuf,
    bot: BotId,
    tables: Tables,
    /// Held by an operation that writes, from its first read to its commit.
    writing: Mutex<()>,
    durable: GroupCommit,
    /// Why it can no longer write.
    failed: watch::Sender<Option<String>>,
    task_news: Arc<Notify>,
}

impl SledStore {
    /// Opens the store in this folder, or makes it. The inbox is this bot's own; all else is the same for every bot.
    ///
    /// # Errors
    /// If another process has it, if it is no store or a damaged one, if a newer Figaro wrote it, if the folder cannot
    /// be read and written.
    pub async fn open(path: &Path, bot: BotId) -> Result<Self> {
        let folder = path.to_owned();
        let opened = spawn_blocking(move || {
            let db = open::open(&folder)?;
            let parts = Tables::open(&db).map_err(Fault::from).and_then(|tables| {
                let files = Files::open(db, &folder)?;
                let mut changes = Changes::default();
                upgrade::move_strangers(&tables, &mut changes, Clock::system().now())?;
                changes.commit()?;
                Ok((tables, files))
            });
            let (tables, files) = parts.map_err(|fault| fault.into_error(&folder, open::OPEN))?;
            private::mend(&folder);
            let durable = GroupCommit::new(move || files.sync().map_err(|fault| fault.reason()));
            Ok(Self(Arc::new(Shared {
                path: folder,
                bot,
                tables,
                writing: Mutex::new(()),
                durable,
                failed: watch::Sender::new(None),
                task_news: Arc::default(),
            })))
        });
        // sled answers some kinds of damage with a panic.
        opened.await.unwrap_or_else(|error| {
            Err(StoreError::Unreadable { path: path.to_owned(), reason: error.to_string() })
        })
    }

    /// Tries whether the disk of the store in this folder takes what a store that has just been opened writes.
    ///
    /// # Errors
    /// Why it does not, in the system's words.
    pub async fn has_room(path: &Path) -> Result<(), String> {
        let folder = path.to_owned();
        let found = spawn_blocking(move || room::find(&folder).map_err(|error| error.to_string()));
        found.await.unwrap_or_else(|error| Err(error.to_string()))
    }

    fn bot(&self) -> BotId {
        self.0.bot
    }

    /// Wakes whoever waits for tasks to have changed.
    fn tell_of_tasks(&self) {
        self.0.task_news.notify_one();
    }

    /// Reads, on a thread that may block.
    async fn read<T, F>(&self, operation: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Tables) -> Result<T, Fault> + Send + 'static,
    {
        let shared = Arc::clone(&self.0);
        let done = spawn_blocking(move || {
            work(&shared.tables).map_err(|fault| {
                if fault.is_final() {
                    shared.fail(&fault.reason());
                }
                fault.into_error(&shared.path, operation)
            })
        });
        done.await.unwrap_or_else(|error| Err(StoreError::Failed { operation, reason: error.to_string() }))
    }

    /// Reads and writes with no other writer in between, and all that is written at once.
    async fn change<T, F>(&self, operation: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Tables, &mut Changes) -> Result<T, Fault> + Send + 'static,
    {
        let shared = Arc::clone(&self.0);
        self.read(operation, move |tables| {
            let _alone = shared.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let mut changes = Changes::default();
            let outcome = work(tables, &mut changes)?;
            changes.commit()?;
            Ok(outcome)
        })
        .await
    }

    /// The same, durable when it returns.
    async fn change_durably<T, F>(&self, operation: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Tables, &mut Changes) -> Result<T, Fault> + Send + 'static,
    {
        let outcome = self.change(operation, work).await?;
        self.durable(operation).await?;
        Ok(outcome)
    }

    async fn durable(&self, operation: &'static str) -> Result<()> {
        self.0.durable.point().await.map_err(|reason| {
            self.0.fail(&reason);
            StoreError::Failed { operation, reason }
        })
    }
}

impl Shared {
    /// Takes note of the first reason.
    fn fail(&self, reason: &str) {
        self.failed.send_if_modified(|failed| {
            let is_first = failed.is_none();
            failed.get_or_insert_with(|| reason.to_owned());
            is_first
        });
    }
}

#[async_trait]
impl Store for SledStore {
    async fn failed(&self) -> String {
        let mut failed = self.0.failed.subscribe();
        let reason = failed.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
        reason.unwrap_or_default()
    }

    async fn health(&self) -> Result<StoreHealth> {
        let path = self.0.path.clone();
        self.read("measure its folder", move |tables| {
            let unreadable = tables.quarantine.len() + tables.unreadable.tree().len();
            let unreadable = u64::try_from(unreadable).unwrap_or(u64::MAX);
            Ok(StoreHealth { bytes: files::size(&path)?, unreadable })
        })
        .await
    }

    async fn flush(&self) -> Result<()> {
        self.durable("write to its disk").await
    }
}

impl fmt::Debug for SledStore {
    /// Without what is stored: sled would print all of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SledStore").field("path", &self.0.path).finish_non_exhaustive()
    }
}
