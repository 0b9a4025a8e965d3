//! The one thread that writes. Operations wait in a queue; each is committed by itself, and one durable point serves all of a
//! group that wait for one. What nobody waits for is durable a moment later, or with the next that somebody waits for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};

use super::changes::Changes;
use super::fault::Fault;
use super::snapshot::Snapshot;
use super::space::Space;
use super::tables::Tables;
use crate::store::engine::{Engine, EngineError, words_of};

/// How long what nobody waits for stays without a durable point, so that a crash loses at most this much of it. Under load
/// it never takes so long: the next that somebody waits for comes sooner.
const LINGER: Duration = Duration::from_millis(20);
/// The most operations of a group: those who wait for its durable point wait for all of them.
const GROUP: usize = 256;

/// Why nothing can be written any more; `None` while it can.
pub(super) type Failure = watch::Sender<Option<String>>;

/// Takes note of the first reason.
pub(super) fn fail(failure: &Failure, reason: &str) {
    failure.send_if_modified(|failed| {
        let is_first = failed.is_none();
        failed.get_or_insert_with(|| reason.to_owned());
        is_first
    });
}

/// Whether the caller of an operation waits for a durable point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durable {
    Now,
    Soon,
}

/// The thread and its queue. When it is dropped, all that waits is written and made durable first.
pub(super) struct Writer {
    jobs: Option<Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub(super) fn start(engine: Arc<dyn Engine>, space: Space, failure: Failure) -> std::io::Result<Self> {
        let (jobs, waiting) = mpsc::channel();
        let mut group = Group { engine, space, failure, broken: None, since: None };
        let thread = thread::Builder::new().name("store".to_owned()).spawn(move || group.serve(&waiting))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Reads and writes with no other writer in between, and all that is written at once. Also where nobody waits for it
    /// any more, it is done.
    pub(super) async fn change<T, F>(&self, durable: Durable, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce(&Tables<'_>, &mut Changes<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let (reply, outcome) = oneshot::channel();
        let job = Change { work: Some(work), done: None, durable, reply };
        let gone = || Fault::from(EngineError::last(&"the thread that writes has stopped"));
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        jobs.send(Box::new(job)).map_err(|_job| gone())?;
        answer(outcome).await.map_err(|_closed| gone())?
    }
}

#[cfg(not(test))]
async fn answer<T>(outcome: oneshot::Receiver<T>) -> Result<T, oneshot::error::RecvError> {
    outcome.await
}

/// A clock that a test has stopped jumps ahead as soon as all tasks wait, unless one of them waits for a blocking thread.
#[cfg(test)]
async fn answer<T: Send + 'static>(outcome: oneshot::Receiver<T>) -> Result<T, oneshot::error::RecvError> {
    tokio::task::spawn_blocking(move || outcome.blocking_recv()).await.unwrap()
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // Its panics are caught, so there is nothing to learn.
            let _ended = thread.join();
        }
    }
}

/// An operation in the queue.
trait Job: Send {
    /// Does its work and commits it, if there is anything to commit and nothing forbids it. Gives whether it committed
    /// anything.
    fn run(&mut self, engine: &dyn Engine, space: &Space, forbidden: Option<&EngineError>) -> bool;
    /// Says that it was not done.
    fn refuse(&mut self, fault: Fault);
    /// How it went so far; `None` before.
    fn fault(&self) -> Option<&Fault>;
    /// Whether it is answered after a durable point alone.
    fn waits(&self) -> bool;
    /// Answers the caller.
    fn answer(self: Box<Self>);
}

struct Change<T, F> {
    work: Option<F>,
    done: Option<Result<T, Fault>>,
    durable: Durable,
    reply: oneshot::Sender<Result<T, Fault>>,
}

impl<T, F> Job for Change<T, F>
where
    T: Send,
    F: FnOnce(&Tables<'_>, &mut Changes<'_>) -> Result<T, Fault> + Send,
{
    fn run(&mut self, engine: &dyn Engine, space: &Space, forbidden: Option<&EngineError>) -> bool {
        let Some(work) = self.work.take() else { return false };
        // Engines answer some kinds of damage with a panic, and one bad operation must not end all others.
        let done = catch_unwind(AssertUnwindSafe(|| perform(engine, space, forbidden, work)));
        let done = done.unwrap_or_else(|panic| Err(Fault::Panic(words_of(&*panic))));
        let committed = done.as_ref().map_or(true, |done| done.committed);
        self.done = Some(done.and_then(|done| done.outcome));
        committed
    }

    fn refuse(&mut self, fault: Fault) {
        self.done = Some(Err(fault));
    }

    fn fault(&self) -> Option<&Fault> {
        self.done.as_ref()?.as_ref().err()
    }

    fn waits(&self) -> bool {
        self.durable == Durable::Now && matches!(self.done, Some(Ok(_)))
    }

    fn answer(self: Box<Self>) {
        if let Some(done) = self.done {
            // Nobody may wait for it any more.
            let _nobody = self.reply.send(done);
        }
    }
}

/// How an operation went.
pub(super) struct Done<T> {
    pub(super) outcome: Result<T, Fault>,
    /// Whether it changed the store.
    committed: bool,
}

/// Runs the work of an operation on the store as it is, and commits what it writes. Records that it found unreadable are set
/// aside also if it fails.
///
/// # Errors
/// Of the engine, and what forbids a commit; then nothing is written.
pub(super) fn perform<T>(
    engine: &dyn Engine,
    space: &Space,
    forbidden: Option<&EngineError>,
    work: impl FnOnce(&Tables<'_>, &mut Changes<'_>) -> Result<T, Fault>,
) -> Result<Done<T>, Fault> {
    let snapshot = Snapshot::of(engine, space)?;
    let mut changes = Changes::new(space);
    let outcome = work(&Tables::of(&snapshot), &mut changes);
    let mut batch = match &outcome {
        Ok(_) => changes.into_batch(),
        Err(_) => Changes::new(space).into_batch(),
    };
    snapshot.quarantine(&mut batch);
    let revision = snapshot.revision();
    // An engine may keep commits away while somebody looks.
    drop(snapshot);
    if !batch.is_empty() {
        forbidden.cloned().map_or(Ok(()), Err)?;
        engine.commit(revision, &batch)?;
    }
    Ok(Done { outcome, committed: !batch.is_empty() })
}

/// What the thread knows.
struct Group {
    engine: Arc<dyn Engine>,
    space: Space,
    failure: Failure,
    /// Why a durable point failed. Nothing is durable from then on: after a failed fsync the system may drop what it could
    /// not write and report the next fsync as a success.
    broken: Option<String>,
    /// When the first commit was made that is not durable yet.
    since: Option<Instant>,
}

impl Group {
    /// Serves the queue until nobody can add to it any more.
    fn serve(&mut self, waiting: &Receiver<Box<dyn Job>>) {
        loop {
            let first = match self.since {
                None => waiting.recv().map_err(|_closed| RecvTimeoutError::Disconnected),
                Some(since) => waiting.recv_timeout(LINGER.saturating_sub(since.elapsed())),
            };
            match first {
                Ok(first) => self.serve_group(first, waiting),
                Err(RecvTimeoutError::Timeout) => self.sync(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.sync();
    }

    fn serve_group(&mut self, first: Box<dyn Job>, waiting: &Receiver<Box<dyn Job>>) {
        let mut durable = Vec::new();
        for mut job in std::iter::once(first).chain(waiting.try_iter()).take(GROUP) {
            self.run(&mut *job);
            match job.waits() {
                true => durable.push(job),
                false => job.answer(),
            }
        }
        if durable.is_empty() {
            return;
        }
        self.sync();
        for mut job in durable {
            if let Some(reason) = &self.broken {
                job.refuse(EngineError::last(reason).into());
            }
            job.answer();
        }
    }

    fn run(&mut self, job: &mut dyn Job) {
        let broken = self.broken.as_ref();
        let forbidden = broken
            .map(|reason| EngineError::last(&format!("an earlier write failed, restart to go on: {reason}")));
        if job.run(&*self.engine, &self.space, forbidden.as_ref()) {
            self.since.get_or_insert_with(Instant::now);
        }
        if let Some(fault) = job.fault().filter(|fault| fault.is_final()) {
            fail(&self.failure, &fault.to_string());
        }
    }

    /// Makes durable what is not.
    fn sync(&mut self) {
        if self.since.take().is_none() || self.broken.is_some() {
            return;
        }
        let done = catch_unwind(AssertUnwindSafe(|| self.engine.sync()));
        let done = done.map_err(|panic| words_of(&*panic));
        self.broken = done.and_then(|done| done.map_err(|error| error.to_string())).err();
        if let Some(reason) = &self.broken {
            fail(&self.failure, reason);
        }
    }
}
