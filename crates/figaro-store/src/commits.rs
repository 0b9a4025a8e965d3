//! Changes of operations, collected for all bots of a store. One thread moves them to the engine, in one durable commit for
//! all waiting callers. Used by [`Writer`](super::writer::Writer).

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, RwLock};
use tokio::sync::watch;

use super::buffer::Buffer;
use super::changes::Changes;
use super::fault::StoreFault;
use super::inventory::Inventory;
use super::key;
use super::marks::{MARK, Marks};
use super::meters::StoreMeters;
use super::snapshot::Snapshot;
use super::space::Space;
use super::tables::{MESSAGES, META, Tables};
use super::transfer::{StoreSource, TransferError, write_all};
use crate::engine::{Batch, Engine, EngineError, Keys, words_of};
use figaro_config::StoreUrl;

/// Maximum time that a change nobody waits for stays in memory alone; a crash loses at most this much.
const LINGER: Duration = Duration::from_millis(5);
/// Bytes of waiting changes above which a commit starts at once.
const WAITING_BYTES: usize = 4 * 1024 * 1024;

/// Durability that the caller of an operation waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durable {
    Now,
    Soon,
}

/// The changes of a store and the thread that commits them. Dropping it first makes all waiting changes durable.
pub(super) struct Commits {
    pub(super) state: Arc<CommitState>,
    thread: Option<JoinHandle<()>>,
}

pub(super) struct CommitState {
    pub(super) engine: Box<dyn Engine>,
    meters: Option<StoreMeters>,
    /// `true` for an engine without a disk: each operation commits its changes itself, without the thread.
    is_in_memory: bool,
    /// Held by a writing operation from its first read to its change.
    writing: Mutex<()>,
    pub(super) buffer: RwLock<Buffer>,
    asked: Mutex<CommitRequest>,
    /// Signalled when `asked` has changed, to wake the thread.
    wake: Condvar,
    pub(super) progress: watch::Sender<Progress>,
    /// Watchers of sessions of a bot with new messages.
    pub(super) watches: Mutex<Vec<(Space, Weak<WrittenSessions>)>>,
    /// Number of rewrites of the files that have begun.
    rewrites: AtomicU64,
    /// Number of the last one that has succeeded; held during one, and during an export.
    rewritten: Mutex<u64>,
    /// `true` if waits run on blocking threads, for tests with a stopped clock.
    pub(super) holds_time: AtomicBool,
}

/// Keys of sessions in which messages were written.
pub(super) type WrittenSessions = Mutex<BTreeSet<Vec<u8>>>;

#[derive(Default)]
struct CommitRequest {
    /// Last operation that a caller waits for.
    until: u64,
    /// Time since which a change has been waiting.
    since: Option<Instant>,
    stop: bool,
}

/// Progress of the thread.
#[derive(Debug, Default)]
pub(super) struct Progress {
    durable: u64,
    /// Reason of a failed commit. Nothing is durable from then on: after a failed fsync the system may drop unwritten
    /// data and report the next fsync as a success.
    broken: Option<String>,
}

pub(super) type Work<'a> = dyn FnMut(&Tables<'_>, &mut Changes<'_>) -> Result<(), StoreFault> + 'a;

pub(super) struct OperationResult {
    pub(super) outcome: Result<(), StoreFault>,
    /// Number of the last operation that must be committed for this one to be durable.
    pub(super) number: u64,
}

impl Commits {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub(super) fn start(engine: Box<dyn Engine>, marks: Marks, meters: StoreMeters) -> std::io::Result<Self> {
        let state = Arc::new(CommitState::new(engine, Some(meters)));
        let flushing = Arc::clone(&state);
        let thread = thread::Builder::new().name("store".to_owned()).spawn(move || flushing.serve(marks))?;
        Ok(Self { state, thread: Some(thread) })
    }

    /// Makes one for an engine without a disk. It needs no thread.
    pub(super) fn in_memory(engine: Box<dyn Engine>) -> Self {
        Self { state: Arc::new(CommitState::new(engine, None)), thread: None }
    }

    /// Waits until all changes so far are durable, without a commit of its own: with the next requested commit, or a
    /// moment later.
    pub(super) async fn settle(&self) -> Result<(), StoreFault> {
        let number = self.state.buffer.read().number();
        self.durable(number).await
    }

    /// Waits until this operation is durable.
    pub(super) async fn durable(&self, number: u64) -> Result<(), StoreFault> {
        match self.wait(number).await {
            None => Ok(()),
            Some(reason) => Err(EngineError::failed(&reason).into()),
        }
    }

    /// Waits until this operation is durable. Returns the reason if it never will be.
    pub(super) async fn wait(&self, number: u64) -> Option<String> {
        let mut progress = self.state.progress.subscribe();
        let ended = async move {
            let is_over = |progress: &Progress| progress.durable >= number || progress.broken.is_some();
            let ended = progress.wait_for(is_over).await.ok()?;
            if ended.durable >= number { None } else { ended.broken.clone() }
        };
        if !self.state.holds_time.load(Ordering::Relaxed) {
            return ended.await;
        }
        let runtime = tokio::runtime::Handle::current();
        tokio::task::spawn_blocking(move || runtime.block_on(ended)).await.ok()?
    }
}

impl Drop for Commits {
    fn drop(&mut self) {
        self.state.asked.lock().stop = true;
        self.state.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            // Its panics are caught, so the result says nothing.
            let _ended = thread.join();
        }
    }
}

impl CommitState {
    /// Makes the state. `meters` count commits; `None` for an engine without a disk, which needs none.
    fn new(engine: Box<dyn Engine>, meters: Option<StoreMeters>) -> Self {
        Self {
            engine,
            is_in_memory: meters.is_none(),
            meters,
            writing: Mutex::default(),
            buffer: RwLock::default(),
            asked: Mutex::default(),
            wake: Condvar::new(),
            progress: watch::Sender::default(),
            watches: Mutex::default(),
            rewrites: AtomicU64::new(0),
            rewritten: Mutex::default(),
            holds_time: AtomicBool::new(cfg!(test)),
        }
    }

    /// Takes a snapshot of a bot's part of the store.
    pub(super) fn snapshot<'a>(&'a self, space: &'a Space) -> Result<Snapshot<'a>, StoreFault> {
        // The buffer first: changes that have left it are then in the engine.
        let buffer = self.buffer.read();
        Snapshot::of(&*self.engine, buffer, space)
    }

    /// Runs the work of an operation on the current store and makes its changes. Unreadable records that it found are set
    /// aside even if it fails.
    pub(super) fn perform(&self, space: &Space, work: &mut Work<'_>) -> Result<OperationResult, StoreFault> {
        let _alone = self.writing.lock();
        let snapshot = self.snapshot(space)?;
        let mut changes = Changes::new(space);
        let outcome = work(&Tables::of(&snapshot), &mut changes);
        let mut batch = match &outcome {
            Ok(_) => changes.into_batch(),
            Err(_) => Changes::new(space).into_batch(),
        };
        snapshot.quarantine(&mut batch);
        let before = snapshot.number();
        drop(snapshot);
        if batch.is_empty() {
            return Ok(OperationResult { outcome, number: before });
        }
        if let Some(reason) = &self.progress.borrow().broken {
            let reason = format!("an earlier write failed, restart to go on: {reason}");
            return Err(EngineError::failed(&reason).into());
        }
        self.note(space, &batch);
        if self.is_in_memory {
            self.engine.write(&batch)?;
            return Ok(OperationResult { outcome, number: before });
        }
        let number = self.buffer.write().add(batch);
        Ok(OperationResult { outcome, number })
    }

    /// Rewrites the files, unless a rewrite that began after the call has done it.
    pub(super) fn rewrite(&self, tables: &[&'static str]) -> Result<(), EngineError> {
        let asked = self.rewrites.load(Ordering::Acquire);
        let mut last = self.rewritten.lock();
        if *last > asked {
            return Ok(());
        }
        let number = self.rewrites.fetch_add(1, Ordering::AcqRel) + 1;
        self.engine.rewrite(tables)?;
        *last = number;
        Ok(())
    }

    /// Writes all durable records as an export, while others write. Ends early once `stop` returns `true`, or nothing can be
    /// written any more. Blocking.
    pub(super) fn export_beside(
        &self,
        url: &StoreUrl,
        to: &mut impl Write,
        stop: &dyn Fn() -> bool,
    ) -> Result<Inventory, TransferError> {
        // One at a time, and no rewrite meanwhile: what is erased would stay in the copy that an engine makes for it.
        let _alone = self.rewritten.lock();
        let source = StoreSource::beside(&*self.engine, url)?;
        write_all(&source, UntilStopped { to, stop: &|| stop() || self.is_broken() })
    }

    /// Tells the watchers in which sessions messages are about to be written.
    fn note(&self, space: &Space, batch: &Batch) {
        let mut watches = self.watches.lock();
        let all = space.range(&Keys::beginning_with([]));
        watches.retain(|(_, watch)| watch.strong_count() > 0);
        let own = watches.iter().filter(|(of, _)| of == space);
        for noted in own.filter_map(|(_, watch)| watch.upgrade()) {
            let written = batch.range(MESSAGES, &all).map(|(key, _)| space.inner(key.to_vec()));
            noted.lock().extend(written.filter_map(|key| Some(key::session_of_message(&key)?.to_vec())));
        }
    }

    /// Asks the thread to make an operation durable.
    pub(super) fn ask(&self, number: u64, durable: Durable) {
        if self.progress.borrow().durable >= number {
            return;
        }
        let is_much = self.buffer.read().waiting_bytes() > WAITING_BYTES;
        let mut asked = self.asked.lock();
        let is_first = asked.since.is_none();
        asked.since.get_or_insert_with(Instant::now);
        if durable == Durable::Now || is_much {
            asked.until = asked.until.max(number);
        } else if !is_first {
            return;
        }
        drop(asked);
        self.wake.notify_one();
    }

    /// Runs the thread until it is told to stop.
    fn serve(&self, mut marks: Marks) {
        loop {
            let mut asked = self.asked.lock();
            loop {
                let is_wanted = asked.until > self.progress.borrow().durable && !self.is_broken();
                let waiting = asked.since.map(|since| LINGER.saturating_sub(since.elapsed()));
                let rest = waiting.into_iter().chain(marks.rest()).min();
                if asked.stop || is_wanted || rest == Some(Duration::ZERO) {
                    break;
                }
                match rest {
                    Some(rest) => drop(self.wake.wait_for(&mut asked, rest)),
                    None => self.wake.wait(&mut asked),
                }
            }
            asked.since = None;
            let stop = asked.stop;
            drop(asked);
            self.flush(&mut marks);
            if stop || marks.rest() == Some(Duration::ZERO) {
                marks.keep(&*self.engine);
            }
            if stop {
                return;
            }
        }
    }

    /// Returns `true` once nothing can be written any more.
    pub(super) fn is_broken(&self) -> bool {
        self.progress.borrow().broken.is_some()
    }

    /// Commits the waiting changes with their count. Returns the number of the last operation in them.
    fn commit(&self, marks: &mut Marks) -> Result<u64, String> {
        let mark = marks.next();
        let counted = serde_json::to_vec(&mark).map_err(|error| error.to_string())?;
        let mut buffer = self.buffer.write();
        if self.engine.counts_commits() {
            buffer.add_to_commit(META, MARK, counted);
        }
        let (batch, number) = buffer.begin_flush();
        drop(buffer);
        if !batch.is_empty() {
            let began = Instant::now();
            let done = catch_unwind(AssertUnwindSafe(|| self.engine.write(&batch)));
            done.map_err(|panic| words_of(&*panic))?.map_err(|error| error.to_string())?;
            self.meters.iter().for_each(|meters| meters.committed(began.elapsed()));
            marks.is_durable(mark);
        }
        Ok(number)
    }

    /// Moves all waiting changes to the engine.
    fn flush(&self, marks: &mut Marks) {
        if self.is_broken() {
            return;
        }
        match self.commit(marks) {
            Ok(number) => {
                self.buffer.write().end_flush();
                self.progress.send_modify(|progress| progress.durable = number);
            }
            Err(reason) => self.progress.send_modify(|progress| progress.broken = Some(reason)),
        }
    }
}

/// Writer that fails once it is to stop.
struct UntilStopped<'a, W> {
    to: &'a mut W,
    stop: &'a dyn Fn() -> bool,
}

impl<W: Write> Write for UntilStopped<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match (self.stop)() {
            true => Err(io::Error::other("the bot stops, or its store has failed")),
            false => self.to.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
