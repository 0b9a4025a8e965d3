//! Writes of operations. Each operation sees the changes of all before it and makes its own at once, in memory
//! ([`Buffer`]). One thread moves the collected changes to the engine, in one durable commit for all waiting callers.
//! Changes nobody waits for follow a moment later, or with the next commit.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, RwLock};
use tokio::sync::watch;

use super::buffer::Buffer;
use super::changes::Changes;
use super::fault::StoreFault;
use super::key;
use super::marks::{MARK, Marks};
use super::snapshot::Snapshot;
use super::space::Space;
use super::tables::{MESSAGES, META, Tables};
use crate::engine::{Batch, Engine, EngineError, Keys, words_of};

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

/// The store as operations see it, and the thread that commits changes to the engine. Dropping it first makes all waiting
/// changes durable.
pub(super) struct Writer {
    state: Arc<WriterState>,
    thread: Option<JoinHandle<()>>,
}

struct WriterState {
    engine: Box<dyn Engine>,
    space: Space,
    /// `true` for an engine without a disk: each operation commits its changes itself, without the thread.
    is_in_memory: bool,
    /// Held by a writing operation from its first read to its change.
    writing: Mutex<()>,
    buffer: RwLock<Buffer>,
    asked: Mutex<WriterRequest>,
    /// Signalled when `asked` has changed, to wake the thread.
    wake: Condvar,
    progress: watch::Sender<Progress>,
    /// Watchers of sessions with new messages.
    watches: Mutex<Vec<Weak<WrittenSessions>>>,
    /// `true` if waits run on blocking threads, for tests with a stopped clock.
    holds_time: AtomicBool,
}

/// Keys of sessions in which messages were written.
type WrittenSessions = Mutex<BTreeSet<Vec<u8>>>;

/// Records the sessions in which messages are written, until it is dropped.
pub(super) struct WriteWatch(Arc<WrittenSessions>);

impl WriteWatch {
    /// Returns the keys of these sessions so far.
    pub(super) fn written(&self) -> BTreeSet<Vec<u8>> {
        self.0.lock().clone()
    }
}

/// Fault of an operation whose work was never called; this does not happen.
fn unworked() -> StoreFault {
    StoreFault::Panic("an operation was not made".to_owned())
}

#[derive(Default)]
struct WriterRequest {
    /// Last operation that a caller waits for.
    until: u64,
    /// Time since which a change has been waiting.
    since: Option<Instant>,
    stop: bool,
}

/// Progress of the thread.
#[derive(Default)]
struct Progress {
    durable: u64,
    /// Reason of a failed commit. Nothing is durable from then on: after a failed fsync the system may drop unwritten
    /// data and report the next fsync as a success.
    broken: Option<String>,
}

type Work<'a> = dyn FnMut(&Tables<'_>, &mut Changes<'_>) -> Result<(), StoreFault> + 'a;

struct OperationResult {
    outcome: Result<(), StoreFault>,
    /// Number of the last operation that must be committed for this one to be durable.
    number: u64,
}

impl Writer {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub(super) fn start(engine: Box<dyn Engine>, space: Space, marks: Marks) -> std::io::Result<Self> {
        let state = Arc::new(WriterState::new(engine, space, false));
        let flushing = Arc::clone(&state);
        let thread = thread::Builder::new().name("store".to_owned()).spawn(move || flushing.serve(marks))?;
        Ok(Self { state, thread: Some(thread) })
    }

    /// Creates a writer for an engine without a disk. It needs no thread.
    pub(super) fn in_memory(engine: Box<dyn Engine>, space: Space) -> Self {
        Self { state: Arc::new(WriterState::new(engine, space, true)), thread: None }
    }

    pub(super) fn engine(&self) -> &dyn Engine {
        &*self.state.engine
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
        let read = catch_unwind(AssertUnwindSafe(|| work(&self.state.snapshot()?)));
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
        self.durable(number).await?;
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
        let done = catch_unwind(AssertUnwindSafe(|| self.state.perform(work)));
        let done = done.unwrap_or_else(|panic| Err(StoreFault::Panic(words_of(&*panic))))?;
        // A failed operation may have set records aside, too.
        self.state.ask(done.number, durable);
        done.outcome?;
        Ok(done.number)
    }

    /// Starts recording the sessions in which messages are written.
    pub(super) fn watch(&self) -> WriteWatch {
        let noted = Arc::default();
        self.state.watches.lock().push(Arc::downgrade(&noted));
        WriteWatch(noted)
    }

    /// Waits until all changes so far are durable, without a commit of its own: with the next requested commit, or a
    /// moment later.
    pub(super) async fn settle(&self) -> Result<(), StoreFault> {
        let number = self.state.buffer.read().number();
        self.durable(number).await
    }

    async fn durable(&self, number: u64) -> Result<(), StoreFault> {
        match self.wait(number).await {
            None => Ok(()),
            Some(reason) => Err(EngineError::failed(&reason).into()),
        }
    }

    /// Waits until nothing can be written any more, and returns the reason.
    pub(super) async fn failed(&self) -> String {
        self.wait(u64::MAX).await.unwrap_or_default()
    }

    /// Makes waits run on blocking threads from now on. A clock stopped by a test jumps ahead as soon as all tasks wait,
    /// unless one of them waits for a blocking thread.
    pub(super) fn hold_paused_time(&self) {
        self.state.holds_time.store(true, Ordering::Relaxed);
    }

    /// Waits until this operation is durable. Returns the reason if it never will be.
    async fn wait(&self, number: u64) -> Option<String> {
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

impl Drop for Writer {
    fn drop(&mut self) {
        self.state.asked.lock().stop = true;
        self.state.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            // Its panics are caught, so the result says nothing.
            let _ended = thread.join();
        }
    }
}

impl WriterState {
    fn new(engine: Box<dyn Engine>, space: Space, is_in_memory: bool) -> Self {
        Self {
            engine,
            space,
            is_in_memory,
            writing: Mutex::default(),
            buffer: RwLock::default(),
            asked: Mutex::default(),
            wake: Condvar::new(),
            progress: watch::Sender::default(),
            watches: Mutex::default(),
            holds_time: AtomicBool::new(cfg!(test)),
        }
    }

    fn snapshot(&self) -> Result<Snapshot<'_>, StoreFault> {
        // The buffer first: changes that have left it are then in the engine.
        let buffer = self.buffer.read();
        Snapshot::of(&*self.engine, buffer, &self.space)
    }

    /// Runs the work of an operation on the current store and makes its changes. Unreadable records that it found are set
    /// aside even if it fails.
    fn perform(&self, work: &mut Work<'_>) -> Result<OperationResult, StoreFault> {
        let _alone = self.writing.lock();
        let snapshot = self.snapshot()?;
        let mut changes = Changes::new(&self.space);
        let outcome = work(&Tables::of(&snapshot), &mut changes);
        let mut batch = match &outcome {
            Ok(_) => changes.into_batch(),
            Err(_) => Changes::new(&self.space).into_batch(),
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
        self.note(&batch);
        if self.is_in_memory {
            self.engine.write(&batch)?;
            return Ok(OperationResult { outcome, number: before });
        }
        let number = self.buffer.write().add(batch);
        Ok(OperationResult { outcome, number })
    }

    /// Tells the watchers in which sessions messages are about to be written.
    fn note(&self, batch: &Batch) {
        let mut watches = self.watches.lock();
        let all = self.space.range(&Keys::beginning_with([]));
        watches.retain(|watch| watch.strong_count() > 0);
        for noted in watches.iter().filter_map(Weak::upgrade) {
            let written = batch.range(MESSAGES, &all).map(|(key, _)| self.space.inner(key.to_vec()));
            noted.lock().extend(written.filter_map(|key| Some(key::session_of_message(&key)?.to_vec())));
        }
    }

    /// Asks the thread to make an operation durable.
    fn ask(&self, number: u64, durable: Durable) {
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

    fn is_broken(&self) -> bool {
        self.progress.borrow().broken.is_some()
    }

    /// Commits the waiting changes with their count. Returns the number of the last operation in them.
    fn commit(&self, marks: &mut Marks) -> Result<u64, String> {
        let mark = marks.next();
        let counted = serde_json::to_vec(&mark).map_err(|error| error.to_string())?;
        let mut buffer = self.buffer.write();
        buffer.add_to_commit(META, MARK, counted);
        let (batch, number) = buffer.begin_flush();
        drop(buffer);
        if !batch.is_empty() {
            let done = catch_unwind(AssertUnwindSafe(|| self.engine.write(&batch)));
            done.map_err(|panic| words_of(&*panic))?.map_err(|error| error.to_string())?;
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
