//! The store over an engine. What each table holds (`tables`), keys in order (`key`), every write of an operation at once
//! (`changes`), one thread that writes (`writer`), and what an operation reads (`snapshot`).
//!
//! Above them are the `records`: how they are found and written. On top is a file for each port of the store, which makes
//! each of its operations one read or one change of [`KvStore`].

mod changes;
mod conversation;
mod fault;
mod format;
mod inbox;
mod key;
mod notes;
mod outbox;
mod parked;
mod records;
mod settings;
mod snapshot;
mod space;
mod table;
mod tables;
mod tasks;
mod usage;
mod writer;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::{Notify, watch};
use tokio::task::spawn_blocking;

use self::changes::Changes;
use self::fault::Fault;
use self::format::OPEN;
use self::records::upgrade;
use self::snapshot::{Snapshot, Unreadable};
use self::space::Space;
use self::tables::Tables;
use self::writer::{Durable, Failure, Writer, fail};
use super::engine::{self, Engine, words_of};
use super::{Result, Store, StoreError, StoreHealth};
use crate::clock::Clock;
use crate::config::StoreUrl;
use crate::ids::BotId;

/// A store of one bot, locked for this process. Cheap to clone; closed when the last clone is dropped.
#[derive(Clone)]
pub struct KvStore(Arc<Shared>);

struct Shared {
    place: String,
    bot: BotId,
    space: Space,
    /// Dropped before the engine that it writes to.
    writer: Writer,
    engine: Arc<dyn Engine>,
    /// Why it can no longer write.
    failed: Failure,
    task_news: Arc<Notify>,
}

impl KvStore {
    /// Opens the store at this place, or makes it, for this bot.
    ///
    /// # Errors
    /// If another process has it, if it is no store or a damaged one, if a newer Figaro wrote it, if its place cannot be
    /// read and written.
    pub async fn open(url: &StoreUrl, bot: BotId) -> Result<Self> {
        let at = url.clone();
        let place = url.folder.display().to_string();
        let failed = |error: tokio::task::JoinError| StoreError::Failed {
            operation: OPEN,
            reason: format!("{place}: {error}"),
        };
        spawn_blocking(move || Self::open_now(&at, bot)).await.map_err(failed)?
    }

    fn open_now(url: &StoreUrl, bot: BotId) -> Result<Self> {
        let place = url.folder.display().to_string();
        let failed = |fault: Fault| fault.into_error(&place, OPEN);
        let mut engine = engine::open(url).map_err(|error| failed(error.into()))?;
        let space = format::prepare(&mut *engine, &url.folder, bot)?;
        let engine: Arc<dyn Engine> = Arc::from(engine);
        writer::perform(&*engine, &space, None, |tables, changes| {
            upgrade::move_strangers(tables, changes, Clock::system().now())
        })
        .and_then(|done| done.outcome)
        .map_err(failed)?;
        let failure = watch::Sender::new(None);
        let writer = Writer::start(Arc::clone(&engine), space.clone(), failure.clone());
        let writer = writer.map_err(|error| failed(engine::EngineError::passing(&error).into()))?;
        let task_news = Arc::default();
        Ok(Self(Arc::new(Shared { place, bot, space, writer, engine, failed: failure, task_news })))
    }

    fn bot(&self) -> BotId {
        self.0.bot
    }

    /// Wakes whoever waits for tasks to have changed.
    fn tell_of_tasks(&self) {
        self.0.task_news.notify_one();
    }

    /// Reads the store as it is. It takes no other thread: what is asked for often is in memory, and the rest is a page or two
    /// of a local file.
    async fn read<T, F>(&self, operation: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Tables<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let (outcome, unreadable) = self.read_now(work);
        if !unreadable.is_empty() {
            self.change(operation, move |tables, _| tables.snapshot.set_aside_again(unreadable)).await?;
        }
        outcome.map_err(|fault| self.error(fault, operation))
    }

    fn read_now<T>(
        &self,
        work: impl FnOnce(&Tables<'_>) -> Result<T, Fault>,
    ) -> (Result<T, Fault>, Unreadable) {
        let shared = &*self.0;
        let read = || {
            let snapshot = Snapshot::of(&*shared.engine, &shared.space)?;
            let outcome = work(&Tables::of(&snapshot));
            Ok((outcome, snapshot.into_unreadable()))
        };
        // Engines answer some kinds of damage with a panic.
        let read = catch_unwind(AssertUnwindSafe(read));
        let read = read.unwrap_or_else(|panic| Err(Fault::Panic(words_of(&*panic))));
        read.unwrap_or_else(|fault| (Err(fault), Unreadable::default()))
    }

    /// Reads and writes with no other writer in between, and all that is written at once.
    async fn change<T, F>(&self, operation: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Tables<'_>, &mut Changes<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let done = self.0.writer.change(Durable::Soon, work).await;
        done.map_err(|fault| self.error(fault, operation))
    }

    /// The same, durable when it returns.
    async fn change_durably<T, F>(&self, operation: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Tables<'_>, &mut Changes<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let done = self.0.writer.change(Durable::Now, work).await;
        done.map_err(|fault| self.error(fault, operation))
    }

    fn error(&self, fault: Fault, operation: &'static str) -> StoreError {
        if fault.is_final() {
            fail(&self.0.failed, &fault.to_string());
        }
        fault.into_error(&self.0.place, operation)
    }
}

#[async_trait]
impl Store for KvStore {
    async fn failed(&self) -> String {
        let mut failed = self.0.failed.subscribe();
        let reason = failed.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
        reason.unwrap_or_default()
    }

    async fn health(&self) -> Result<StoreHealth> {
        let engine = Arc::clone(&self.0.engine);
        self.read("measure itself", move |tables| {
            let unreadable = tables.snapshot.quarantined()? + tables.unreadable.keys_of(&[])?.count();
            let unreadable = u64::try_from(unreadable).unwrap_or(u64::MAX);
            Ok(StoreHealth { bytes: engine.disk_bytes()?, unreadable })
        })
        .await
    }

    async fn flush(&self) -> Result<()> {
        self.change_durably("write to its disk", |_, _| Ok(())).await
    }
}

impl fmt::Debug for KvStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KvStore").field("place", &self.0.place).finish_non_exhaustive()
    }
}
