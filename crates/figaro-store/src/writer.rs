//! Writes of operations of one bot. Each operation sees the changes of all before it and makes its own at once, in memory
//! ([`Buffer`](super::buffer::Buffer)); [`Commits`] makes them durable.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::watch;

use super::changes::Changes;
use super::commits::{Commits, Durable, Progress, Work, WrittenSessions};
use super::fault::StoreFault;
use super::snapshot::Snapshot;
use super::space::Space;
use super::tables::Tables;
use crate::engine::{Engine, EngineError, words_of};

/// The part of a store that belongs to a bot, as its operations see it.
pub(super) struct Writer {
    commits: Arc<Commits>,
    space: Space,
}

/// Records the sessions in which messages are written, until it is dropped.
pub(super) struct WriteWatch(Arc<WrittenSessions>);

impl WriteWatch {
    /// Returns the keys of these sessions so far.
    pub(super) fn written(&self) -> BTreeSet<Vec<u8>> {
        self.0.lock().clone()
    }
}

/// Tells that something in a store changed, of any bot in it.
#[derive(Debug)]
pub struct StoreNews(watch::Receiver<Progress>);

impl StoreNews {
    /// Waits until something has changed since the last call. Never returns once the store is closed.
    pub async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Fault of an operation whose work was never called; this does not happen.
fn unworked() -> StoreFault {
    StoreFault::Panic("an operation was not made".to_owned())
}

impl Writer {
    pub(super) const fn new(commits: Arc<Commits>, space: Space) -> Self {
        Self { commits, space }
    }

    pub(super) fn engine(&self) -> &dyn Engine {
        &*self.commits.state.engine
    }

    /// Returns what tells of changes that are durable.
    pub(super) fn news(&self) -> StoreNews {
        StoreNews(self.commits.state.progress.subscribe())
    }

    /// Rewrites the files of the store. One rewrite serves all bots that asked for it before it began. Blocking.
    pub(super) fn rewrite(&self, tables: &[&'static str]) -> Result<(), EngineError> {
        self.commits.state.rewrite(tables)
    }

    /// Reads the current store.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Snapshot<'_>) -> Result<T, StoreFault>,
    ) -> Result<T, StoreFault> {
        let (mut work, mut found) = (Some(work), None);
        self.look(&mut |snapshot| {
            found = work.take().map(|work| work(snapshot)).transpose()?;
            Ok(())
        })?;
        found.ok_or_else(unworked)
    }

    /// Body of [`Self::read`], compiled once for all callers.
    fn look(&self, work: &mut dyn FnMut(&Snapshot<'_>) -> Result<(), StoreFault>) -> Result<(), StoreFault> {
        // Engines answer some kinds of damage with a panic.
        let read = catch_unwind(AssertUnwindSafe(|| work(&self.commits.state.snapshot(&self.space)?)));
        read.unwrap_or_else(|panic| Err(StoreFault::Panic(words_of(&*panic))))
    }

    /// Reads and writes atomically, with no other writer in between. Durable a moment later.
    pub(super) fn change<T, F>(&self, work: F) -> Result<T, StoreFault>
    where
        F: FnOnce(&Tables<'_>, &mut Changes<'_>) -> Result<T, StoreFault>,
    {
        Ok(self.make(Durable::Soon, work)?.0)
    }

    /// Like [`Self::change`], and durable on return. The change is made at the first poll of the future; dropping the
    /// future later does not take it back.
    pub(super) async fn change_durably<T, F>(&self, work: F) -> Result<T, StoreFault>
    where
        F: FnOnce(&Tables<'_>, &mut Changes<'_>) -> Result<T, StoreFault>,
    {
        let (done, number) = self.make(Durable::Now, work)?;
        self.commits.durable(number).await?;
        Ok(done)
    }

    /// Makes a change. Returns the result of its work and its number.
    fn make<T, F>(&self, durable: Durable, work: F) -> Result<(T, u64), StoreFault>
    where
        F: FnOnce(&Tables<'_>, &mut Changes<'_>) -> Result<T, StoreFault>,
    {
        let (mut work, mut outcome) = (Some(work), None);
        let number = self.perform(durable, &mut |tables, changes| {
            outcome = work.take().map(|work| work(tables, changes)).transpose()?;
            Ok(())
        })?;
        Ok((outcome.ok_or_else(unworked)?, number))
    }

    /// Body of [`Self::make`], compiled once for all callers. Returns the number of the
    /// operation.
    fn perform(&self, durable: Durable, work: &mut Work<'_>) -> Result<u64, StoreFault> {
        // A panic of one operation must not end all others.
        let done = catch_unwind(AssertUnwindSafe(|| self.commits.state.perform(&self.space, work)));
        let done = done.unwrap_or_else(|panic| Err(StoreFault::Panic(words_of(&*panic))))?;
        // A failed operation may have set records aside, too.
        self.commits.state.ask(done.number, durable);
        done.outcome?;
        Ok(done.number)
    }

    /// Starts recording the sessions in which messages are written.
    pub(super) fn watch(&self) -> WriteWatch {
        let noted = Arc::default();
        self.commits.state.watches.lock().push((self.space.clone(), Arc::downgrade(&noted)));
        WriteWatch(noted)
    }

    /// Waits as [`Commits::settle`] does.
    pub(super) async fn settle(&self) -> Result<(), StoreFault> {
        self.commits.settle().await
    }

    /// Waits until nothing can be written any more, and returns the reason.
    pub(super) async fn failed(&self) -> String {
        let tenure = self.engine().tenure();
        tokio::select! {
            reason = self.commits.wait(u64::MAX) => reason.unwrap_or_default(),
            () = tenure.ended() => "another process may have the bot: this one did not reach the database in time".to_owned(),
        }
    }

    /// Makes waits run on blocking threads from now on. A clock stopped by a test jumps ahead as soon as all tasks wait,
    /// unless one of them waits for a blocking thread.
    pub(super) fn hold_paused_time(&self) {
        self.commits.state.holds_time.store(true, Ordering::Relaxed);
    }
}
