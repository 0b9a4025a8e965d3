//! How operations write. Each sees the changes of all before it and makes its own at once, in memory ([`Buffer`]). One thread
//! brings what has gathered to the engine, in one durable commit for all who wait for one. What nobody waits for gets there a
//! moment later, or with the next that somebody waits for.

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
use super::fault::Fault;
use super::key;
use super::marks::{MARK, Marks};
use super::snapshot::Snapshot;
use super::space::Space;
use super::tables::{MESSAGES, META, Tables};
use crate::engine::{Batch, Engine, EngineError, Keys, words_of};

/// How long what nobody waits for stays in memory alone, so that a crash loses at most this much of it.
const LINGER: Duration = Duration::from_millis(5);
/// More waiting bytes than these are not kept in memory any longer.
const WAITING_BYTES: usize = 4 * 1024 * 1024;

/// Whether the caller of an operation waits until it is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durable {
    Now,
    Soon,
}

/// The store as operations see it, and the thread that brings changes to the engine. When it is dropped, all that waits is
/// made durable first.
pub(super) struct Writer {
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

struct State {
    engine: Box<dyn Engine>,
    space: Space,
    /// The engine keeps nothing on a disk: each operation commits its changes itself, and no thread does it later.
    is_in_memory: bool,
    /// Held by an operation that writes, from its first read to its change.
    writing: Mutex<()>,
    buffer: RwLock<Buffer>,
    asked: Mutex<Asked>,
    /// Told when `asked` has changed, so that the thread looks at it.
    wake: Condvar,
    progress: watch::Sender<Progress>,
    /// Who wants to know what is written.
    watches: Mutex<Vec<Weak<Written>>>,
    /// Waits run on blocking threads, for tests with a stopped clock.
    holds_time: AtomicBool,
}

/// Keys of sessions in which messages were written.
type Written = Mutex<BTreeSet<Vec<u8>>>;

/// Notes in which sessions messages are written, until it is dropped.
pub(super) struct Watch(Arc<Written>);

impl Watch {
    /// The sessions so far, by their keys.
    pub(super) fn written(&self) -> BTreeSet<Vec<u8>> {
        self.0.lock().clone()
    }
}

/// The fault of an operation whose work was not called, which does not happen.
fn unworked() -> Fault {
    Fault::Panic("an operation was not made".to_owned())
}

/// What the thread is to do.
#[derive(Default)]
struct Asked {
    /// The last operation that somebody waits for.
    until: u64,
    /// Since when something has waited.
    since: Option<Instant>,
    stop: bool,
}

/// What the thread has done.
#[derive(Default)]
struct Progress {
    /// The last operation that is durable.
    durable: u64,
    /// Why a commit failed. Nothing is durable from then on: after a failed fsync the system may drop what it could not write
    /// and report the next fsync as a success.
    broken: Option<String>,
}

/// The work of an operation that writes.
type Work<'a> = dyn FnMut(&Tables<'_>, &mut Changes<'_>) -> Result<(), Fault> + 'a;

/// How an operation went.
struct Done {
    outcome: Result<(), Fault>,
    /// The number up to which commits must be durable for it to be.
    number: u64,
}

impl Writer {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub(super) fn start(engine: Box<dyn Engine>, space: Space, marks: Marks) -> std::io::Result<Self> {
        let state = Arc::new(State::new(engine, space, false));
        let flushing = Arc::clone(&state);
        let thread = thread::Builder::new().name("store".to_owned()).spawn(move || flushing.serve(marks))?;
        Ok(Self { state, thread: Some(thread) })
    }

    /// Writes to an engine that keeps nothing on a disk. It needs no thread.
    pub(super) fn in_memory(engine: Box<dyn Engine>, space: Space) -> Self {
        Self { state: Arc::new(State::new(engine, space, true)), thread: None }
    }

    /// The engine below.
    pub(super) fn engine(&self) -> &dyn Engine {
        &*self.state.engine
    }

    /// Looks at the store as it is.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Snapshot<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
        let (mut work, mut found) = (Some(work), None);
        self.look(&mut |snapshot| {
            found = work.take().map(|work| work(snapshot)).transpose()?;
            Ok(())
        })?;
        found.ok_or_else(unworked)
    }

    /// [`Self::read`], compiled once for all that is read.
    fn look(&self, work: &mut dyn FnMut(&Snapshot<'_>) -> Result<(), Fault>) -> Result<(), Fault> {
        // Engines answer some kinds of damage with a panic.
        let read = catch_unwind(AssertUnwindSafe(|| work(&self.state.snapshot()?)));
        read.unwrap_or_else(|panic| Err(Fault::Panic(words_of(&*panic))))
    }

    /// Reads and writes with no other writer in between, and all that is written at once. It is done when the future is
    /// polled first; whoever does not wait for the end takes nothing back.
    pub(super) async fn change<T, F>(&self, durable: Durable, work: F) -> Result<T, Fault>
    where
        F: FnOnce(&Tables<'_>, &mut Changes<'_>) -> Result<T, Fault>,
    {
        let (number, outcome) = {
            let (mut work, mut outcome) = (Some(work), None);
            let number = self.perform(durable, &mut |tables, changes| {
                outcome = work.take().map(|work| work(tables, changes)).transpose()?;
                Ok(())
            })?;
            (number, outcome)
        };
        if durable == Durable::Now {
            self.durable(number).await?;
        }
        outcome.ok_or_else(unworked)
    }

    /// [`Self::change`] before it is durable, compiled once for all operations. Gives the number of the operation.
    fn perform(&self, durable: Durable, work: &mut Work<'_>) -> Result<u64, Fault> {
        // One bad operation must not end all others.
        let done = catch_unwind(AssertUnwindSafe(|| self.state.perform(work)));
        let done = done.unwrap_or_else(|panic| Err(Fault::Panic(words_of(&*panic))))?;
        // Also an operation that failed may have set records aside.
        self.state.ask(done.number, durable);
        done.outcome?;
        Ok(done.number)
    }

    /// Notes from now on in which sessions messages are written.
    pub(super) fn watch(&self) -> Watch {
        let noted = Arc::default();
        self.state.watches.lock().push(Arc::downgrade(&noted));
        Watch(noted)
    }

    /// Waits until all that was changed so far is durable, without a commit of its own: it comes with the next one that
    /// somebody waits for, or a moment later.
    pub(super) async fn settle(&self) -> Result<(), Fault> {
        let number = self.state.buffer.read().number();
        self.durable(number).await
    }

    async fn durable(&self, number: u64) -> Result<(), Fault> {
        match self.wait(number).await {
            None => Ok(()),
            Some(reason) => Err(EngineError::failed(&reason).into()),
        }
    }

    /// Waits until nothing can be written any more, and says why.
    pub(super) async fn failed(&self) -> String {
        self.wait(u64::MAX).await.unwrap_or_default()
    }

    /// Waits on blocking threads from now on. A clock that a test has stopped jumps ahead as soon as all tasks wait, unless one
    /// of them waits for a blocking thread.
    pub(super) fn hold_paused_time(&self) {
        self.state.holds_time.store(true, Ordering::Relaxed);
    }

    /// Waits until this operation is durable. Gives why it will never be.
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
            // Its panics are caught, so there is nothing to learn.
            let _ended = thread.join();
        }
    }
}

impl State {
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

    fn snapshot(&self) -> Result<Snapshot<'_>, Fault> {
        // The buffer first: what has left it is in the engine then.
        let buffer = self.buffer.read();
        Snapshot::of(&*self.engine, buffer, &self.space)
    }

    /// Runs the work of an operation on the store as it is, and makes its changes. Records that it found unreadable are set
    /// aside also if it fails.
    fn perform(&self, work: &mut Work<'_>) -> Result<Done, Fault> {
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
            return Ok(Done { outcome, number: before });
        }
        if let Some(reason) = &self.progress.borrow().broken {
            let reason = format!("an earlier write failed, restart to go on: {reason}");
            return Err(EngineError::failed(&reason).into());
        }
        self.note(&batch);
        if self.is_in_memory {
            self.engine.write(&batch)?;
            return Ok(Done { outcome, number: before });
        }
        let number = self.buffer.write().add(batch);
        Ok(Done { outcome, number })
    }

    /// Tells who watches in which sessions messages are about to be written.
    fn note(&self, batch: &Batch) {
        let mut watches = self.watches.lock();
        let all = self.space.range(&Keys::beginning_with([]));
        watches.retain(|watch| watch.strong_count() > 0);
        for noted in watches.iter().filter_map(Weak::upgrade) {
            let written = batch.range(MESSAGES, &all).map(|(key, _)| self.space.inner(key.to_vec()));
            noted.lock().extend(written.filter_map(|key| Some(key::session_of_message(&key)?.to_vec())));
        }
    }

    /// Has the thread make an operation durable.
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

    /// Serves until it is told to stop.
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

    /// Commits what waits, with its count. Gives the number of the last operation in it.
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

    /// Brings all that waits to the engine.
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
