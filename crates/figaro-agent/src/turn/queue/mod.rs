//! One queue per conversation: one turn runs at a time, and later messages wait in order. Queues run in parallel up to
//! a limit. Everything in a queue is also stored (questions in the inbox, leased tasks in the task store, answers in
//! the outbox), so nothing is lost when the process ends.

pub mod admission;
mod job;

use std::collections::{HashMap, VecDeque};
use std::fmt::Debug;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use self::admission::{Admission, AdmissionRefusal, WaitingSlot};
pub use self::job::{Job, QueuedJob};
use super::control::{CancelReason, Control};
use super::question::{Question, belongs, continues, replace};
use figaro_base::ids::{RequestId, RunId, UpdateId, UserId};
use figaro_base::shutdown::TaskTracker;
use figaro_domain::conversation::ConversationId;
use figaro_domain::message::Inbound;
use figaro_domain::origin::Origin;

/// Maximum number of turns that run at the same time. Most of them wait for a model. Each holds its request and up to
/// two connections; a process usually may have 1,024.
const MAX_RUNNING: usize = 256;
/// Maximum number of running turns of one person. Otherwise a person with many topics could take all of them.
const MAX_RUNNING_OF_PERSON: usize = 4;
/// Wait for further parts after a message that indicates more.
const JOIN_WAIT: Duration = Duration::from_millis(400);

/// Runs the jobs of the queues.
#[async_trait]
pub trait Runner: Debug + Send + Sync {
    /// Runs one job to its end and returns the job to run right after it. Errors are reported to the chat.
    async fn run(&self, job: Job, control: Control) -> Option<Job>;
}

/// The queues of all conversations. Cheap to clone; clones share the queues.
#[derive(Debug, Clone)]
pub struct Mailboxes(Arc<QueuesInner>);

#[derive(Debug)]
struct QueuesInner {
    runner: Arc<dyn Runner>,
    background: TaskTracker,
    permits: Semaphore,
    admission: Admission,
    /// Semaphore for the turns of each person; kept while one of them waits or runs.
    people: Mutex<HashMap<UserId, Weak<Semaphore>>>,
    queues: Mutex<HashMap<ConversationId, Queue>>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<QueuedJob>,
    /// The job that was taken from the queue, until it is done.
    current: Option<Current>,
    arrived: Arc<Notify>,
}

#[derive(Debug)]
struct Current {
    job: Job,
    control: Control,
    /// Slots of all its parts, until it begins.
    slots: Vec<WaitingSlot>,
    has_begun: bool,
}

impl Queue {
    /// Returns the question that a message arriving now may belong to.
    fn open_question(&self) -> Option<&Question> {
        match self.waiting.back() {
            Some(posted) => posted.job.question(),
            None => self.current.as_ref().filter(|current| current.control.is_open())?.job.question(),
        }
    }
}

impl Mailboxes {
    /// Creates it without queues. `runner` runs the jobs; `background` tracks the spawned tasks.
    #[must_use]
    pub fn new(runner: Arc<dyn Runner>, background: TaskTracker) -> Self {
        let (permits, queues) = (Semaphore::new(MAX_RUNNING), Mutex::default());
        Self(Arc::new(QueuesInner {
            runner,
            background,
            permits,
            admission: Admission::default(),
            people: Mutex::default(),
            queues,
        }))
    }

    /// Reserves a slot for one more message, command or button press. `user` is `None` for an unknown person,
    /// `conversation` for a new conversation.
    ///
    /// # Errors
    /// If too much is waiting already.
    pub fn admit(
        &self,
        user: Option<&UserId>,
        conversation: impl Into<Option<ConversationId>>,
    ) -> Result<WaitingSlot, AdmissionRefusal> {
        self.0.admission.admit(user, conversation)
    }

    /// Reserves a slot for a message that was accepted before a restart. Never refuses.
    #[must_use]
    pub fn readmit(&self, user: &UserId, conversation: ConversationId) -> WaitingSlot {
        self.0.admission.readmit(user, conversation)
    }

    /// Puts a job at the end of its queue.
    pub fn post(&self, conversation: ConversationId, posted: impl Into<QueuedJob>) {
        let posted = posted.into();
        let mut queues = self.0.queues.lock();
        let is_new = !queues.contains_key(&conversation);
        let queue = queues.entry(conversation).or_default();
        // The turn begins again, and takes the new part from the queue.
        if let (Some(current), true, Job::Ask(next)) = (&queue.current, queue.waiting.is_empty(), &posted.job)
            && let Job::Ask(question) = &current.job
            && current.control.is_open()
            && belongs(question, next)
        {
            current.control.end(CancelReason::Again(question.clone()));
        }
        queue.waiting.push_back(posted);
        queue.arrived.notify_one();
        drop(queues);
        if is_new {
            let inner = Arc::clone(&self.0);
            self.0.background.spawn("queue", async move { inner.serve(conversation).await });
        }
    }

    /// Returns `true` if a message that is not addressed to the bot belongs to an open question: further photos of an
    /// album, or the rest of a split text.
    #[must_use]
    pub fn continues(&self, part: &Inbound) -> bool {
        let queues = self.0.queues.lock();
        let open = queues.get(&part.place.conversation()).and_then(Queue::open_question);
        open.is_some_and(|question| continues(question, part))
    }

    /// Ends the turn of a conversation, even if it has not begun yet. Returns its control; `None` if there is none or
    /// it waits for a person.
    #[must_use]
    pub fn stop(&self, conversation: ConversationId) -> Option<Control> {
        let queues = self.0.queues.lock();
        let current = queues.get(&conversation)?.current.as_ref()?;
        current.control.stop().then(|| current.control.clone())
    }

    /// Removes the question of a request from the queue. Returns `false` if the question has begun or is not there.
    pub fn withdraw(&self, conversation: ConversationId, request: RequestId) -> bool {
        let mut queues = self.0.queues.lock();
        let Some(queue) = queues.get_mut(&conversation) else { return false };
        let in_hand =
            queue.current.take_if(|current| !current.has_begun && current.job.is_for(request)).is_some();
        let before = queue.waiting.len();
        queue.waiting.retain(|posted| !posted.job.is_for(request));
        in_hand || queue.waiting.len() < before
    }

    /// Applies an edit. A question that has not begun gets the new text; a turn that has neither shown text nor acted
    /// begins again with it. Returns `false` for anything later, which stays unchanged.
    pub fn edit(&self, edited: &Inbound) -> bool {
        let mut queues = self.0.queues.lock();
        let Some(queue) = queues.get_mut(&edited.place.conversation()) else {
            return false;
        };
        let mut waiting = queue.waiting.iter_mut().filter_map(|posted| posted.job.question_mut());
        if waiting.any(|question| replace(question, edited)) {
            return true;
        }
        let Some(current) = queue.current.as_mut().filter(|current| current.control.is_open()) else {
            return false;
        };
        let Some(question) = current.job.question_mut() else { return false };
        let is_replaced = replace(question, edited);
        if is_replaced {
            current.control.end(CancelReason::Again(question.clone()));
        }
        is_replaced
    }

    /// Removes waiting requests to answer an earlier edit of this message, and returns their updates.
    #[must_use]
    pub fn withdraw_edits(&self, edited: &Inbound) -> Vec<UpdateId> {
        let mut queues = self.0.queues.lock();
        let Some(queue) = queues.get_mut(&edited.place.conversation()) else { return Vec::new() };
        let mut updates = Vec::new();
        queue.waiting.retain(|posted| {
            let earlier = posted.job.edited().filter(|one| one.message() == edited.origin.message());
            updates.extend(earlier.and_then(Origin::update));
            earlier.is_none()
        });
        updates
    }

    /// Ends all running turns for a shutdown. The next start continues them.
    pub fn abandon(&self) {
        let queues = self.0.queues.lock();
        let current = queues.values().filter_map(|queue| queue.current.as_ref());
        current.for_each(|current| current.control.end(CancelReason::Shutdown));
    }

    /// Returns `true` if this turn waits or runs in any queue.
    #[must_use]
    pub(crate) fn holds(&self, run: RunId) -> bool {
        // All queues are searched: the id of the chat may have changed meanwhile.
        self.0.queues.lock().values().any(|queue| {
            let current = queue.current.as_ref().map(|current| &current.job);
            current
                .into_iter()
                .chain(queue.waiting.iter().map(|posted| &posted.job))
                .any(|job| job.is_of(run))
        })
    }

    /// Returns the conversations with a job that has begun and is not done.
    #[must_use]
    pub fn running(&self) -> Vec<ConversationId> {
        let has_begun = |queue: &Queue| queue.current.as_ref().is_some_and(|current| current.has_begun);
        let queues = self.0.queues.lock();
        queues.iter().filter(|(_, queue)| has_begun(queue)).map(|(conversation, _)| *conversation).collect()
    }

    /// Returns the number of waiting questions and tasks in all queues. Answers are not counted; they wait in the
    /// outbox.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let is_counted = |job: &Job| !matches!(job, Job::Deliver(_) | Job::Show(_));
        let in_hand =
            |queue: &Queue| queue.current.as_ref().is_some_and(|now| !now.has_begun && is_counted(&now.job));
        let behind = |queue: &Queue| queue.waiting.iter().filter(|posted| is_counted(&posted.job)).count();
        self.0.queues.lock().values().map(|queue| behind(queue) + usize::from(in_hand(queue))).sum()
    }
}

impl QueuesInner {
    /// Runs the jobs of a queue until none is left, then removes the queue.
    async fn serve(&self, conversation: ConversationId) {
        while self.take(conversation) {
            self.join(conversation).await;
            // A person with many running turns waits here, before taking one of the shared permits.
            let _share = self.share(conversation).await;
            let Ok(_permit) = self.permits.acquire().await else {
                return;
            };
            if self.background.is_stopping() {
                return;
            }
            while let Some((job, control)) = self.begin(conversation) {
                let over = control.clone();
                let running = AssertUnwindSafe(self.runner.run(job, control)).catch_unwind();
                let next = running.await.unwrap_or_else(|_panic| {
                    tracing::error!(chat = %conversation.chat, "a turn panicked outside its own care");
                    None
                });
                over.finish();
                self.follow(conversation, next);
            }
        }
    }

    /// Makes the next job the current one. If there is none, removes the queue and returns `false`.
    fn take(&self, conversation: ConversationId) -> bool {
        let mut queues = self.queues.lock();
        let Some(queue) = queues.get_mut(&conversation) else {
            return false;
        };
        let Some(QueuedJob { job, slot }) = queue.waiting.pop_front() else {
            queues.remove(&conversation);
            return false;
        };
        let control = control_of(&job);
        queue.current = Some(Current { job, control, slots: slot.into_iter().collect(), has_begun: false });
        true
    }

    /// Waits for a permit from the person who asked for the current job; returns `None` if no known person asked for
    /// it.
    async fn share(&self, conversation: ConversationId) -> Option<OwnedSemaphorePermit> {
        let user = {
            let queues = self.queues.lock();
            let current = queues.get(&conversation)?.current.as_ref()?;
            current.slots.first()?.user()?.clone()
        };
        let turns = {
            let mut people = self.people.lock();
            people.retain(|_, turns| turns.strong_count() > 0);
            let known = people.get(&user).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let turns = Arc::new(Semaphore::new(MAX_RUNNING_OF_PERSON));
                people.insert(user, Arc::downgrade(&turns));
                turns
            })
        };
        turns.acquire_owned().await.ok()
    }

    /// Adds the following messages to the question, while they belong to it and arrive in time.
    async fn join(&self, conversation: ConversationId) {
        loop {
            let arrived = {
                let mut queues = self.queues.lock();
                let Some(queue) = queues.get_mut(&conversation) else {
                    return;
                };
                let Some(Current { job: Job::Ask(question), slots, .. }) = &mut queue.current else {
                    return;
                };
                slots.extend(absorb(question, &mut queue.waiting));
                if !queue.waiting.is_empty() || question.parts.iter().all(|part| part.joins.is_none()) {
                    return;
                }
                Arc::clone(&queue.arrived)
            };
            if tokio::time::timeout(JOIN_WAIT, arrived.notified()).await.is_err() {
                return;
            }
        }
    }

    /// Starts the current job, with the parts of its question that have arrived since it was taken.
    fn begin(&self, conversation: ConversationId) -> Option<(Job, Control)> {
        let mut queues = self.queues.lock();
        let queue = queues.get_mut(&conversation)?;
        let current = queue.current.as_mut()?;
        if let Job::Ask(question) = &mut current.job {
            current.slots.extend(absorb(question, &mut queue.waiting));
        }
        current.slots.clear();
        current.has_begun = true;
        // The question already includes every change from before it began.
        if let CancelReason::Again(_) = current.control.reason() {
            current.control = Control::default();
        }
        Some((current.job.clone(), current.control.clone()))
    }

    /// Sets the follow-up as the current job, or clears the current job.
    fn follow(&self, conversation: ConversationId, next: Option<Job>) {
        if let Some(queue) = self.queues.lock().get_mut(&conversation) {
            queue.current = next.map(|job| {
                let control = control_of(&job);
                Current { job, control, slots: Vec::new(), has_begun: true }
            });
        }
    }
}

/// Returns the control of a job. A turn that was interrupted or that waited may have acted already.
fn control_of(job: &Job) -> Control {
    let control = Control::default();
    if let Job::Resume(..) | Job::GoOn(_) = job {
        control.commit();
    }
    control
}

/// Moves the parts at the front of the queue that belong to the question into it. Returns their slots.
fn absorb(question: &mut Question, waiting: &mut VecDeque<QueuedJob>) -> Vec<WaitingSlot> {
    let mut slots = Vec::new();
    while let Some(QueuedJob { job: Job::Ask(next), slot }) =
        waiting.pop_front_if(|posted| matches!(&posted.job, Job::Ask(next) if belongs(question, next)))
    {
        question.parts.extend(next.parts);
        slots.extend(slot);
    }
    slots
}

#[cfg(test)]
mod tests;
