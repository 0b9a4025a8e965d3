//! A queue per conversation: one turn at a time, what arrives meanwhile waits in order. Queues run side by side up to a
//! bound. Everything that waits here is stored as well, questions in the inbox, leased tasks among the tasks, answers in
//! the outbox, so nothing is lost with the process.

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

use self::admission::{Admission, Refusal, Slot};
pub use self::job::{Job, Posted};
use super::control::{CancelReason, Control};
use super::question::{Question, belongs, continues, replace};
use figaro_base::ids::{RequestId, RunId, UserId};
use figaro_base::shutdown::TaskTracker;
use figaro_domain::conversation::Conversation;
use figaro_domain::message::Inbound;

/// So many turns run at the same time. Most of them wait for a model; each holds its request and up to two connections, of which
/// a process usually may have 1,024.
const MAX_RUNNING: usize = 256;
/// So many of them are one person's: with many topics they would else hold them all.
const MAX_RUNNING_OF_PERSON: usize = 4;
/// How long a message that shows a sign of more waits for it.
const JOIN_WAIT: Duration = Duration::from_millis(400);

/// Does the jobs of the queues.
#[async_trait]
pub trait Runner: Debug + Send + Sync {
    /// Does one job to its end and returns what is to be done right after it. It does not fail: what goes wrong is
    /// told to the chat.
    async fn run(&self, job: Job, control: Control) -> Option<Job>;
}

/// The queues of all conversations. Cheap to clone; clones share the queues.
#[derive(Debug, Clone)]
pub struct Mailboxes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    runner: Arc<dyn Runner>,
    background: TaskTracker,
    permits: Semaphore,
    admission: Admission,
    /// What each person's turns run within, while one of them waits or runs.
    people: Mutex<HashMap<UserId, Weak<Semaphore>>>,
    queues: Mutex<HashMap<Conversation, Queue>>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Posted>,
    /// The job that was taken, from then until it is done.
    current: Option<Current>,
    arrived: Arc<Notify>,
}

#[derive(Debug)]
struct Current {
    job: Job,
    control: Control,
    /// The places of all that it holds, until it begins.
    slots: Vec<Slot>,
    has_begun: bool,
}

impl Queue {
    /// The question that a message arriving now may be a further part of.
    fn open_question(&self) -> Option<&Question> {
        match self.waiting.back() {
            Some(posted) => posted.job.question(),
            None => self.current.as_ref().filter(|current| current.control.is_open())?.job.question(),
        }
    }
}

impl Mailboxes {
    /// Without queues yet. `runner` runs the jobs; `background` tracks what is spawned for them.
    #[must_use]
    pub fn new(runner: Arc<dyn Runner>, background: TaskTracker) -> Self {
        let (permits, queues) = (Semaphore::new(MAX_RUNNING), Mutex::default());
        Self(Arc::new(Inner {
            runner,
            background,
            permits,
            admission: Admission::default(),
            people: Mutex::default(),
            queues,
        }))
    }

    /// A place for one more message, command or press of this person, or of somebody unknown; in this conversation, unless that is
    /// new.
    ///
    /// # Errors
    /// When too much waits already.
    pub fn admit(
        &self,
        user: Option<&UserId>,
        conversation: impl Into<Option<Conversation>>,
    ) -> Result<Slot, Refusal> {
        self.0.admission.admit(user, conversation)
    }

    /// A place for what was accepted before a restart; it is never refused.
    #[must_use]
    pub fn readmit(&self, user: &UserId, conversation: Conversation) -> Slot {
        self.0.admission.readmit(user, conversation)
    }

    /// Puts a job at the end of its queue.
    pub fn post(&self, conversation: Conversation, posted: impl Into<Posted>) {
        let posted = posted.into();
        let mut queues = self.0.queues.lock();
        let is_new = !queues.contains_key(&conversation);
        let queue = queues.entry(conversation).or_default();
        // The turn begins again, and takes the part in from where it waits.
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

    /// Whether a message that nobody addressed to the bot is a further part of a question to it: the other photos of
    /// an album, the rest of a split text.
    #[must_use]
    pub fn continues(&self, part: &Inbound) -> bool {
        let queues = self.0.queues.lock();
        let open = queues.get(&part.place.conversation()).and_then(Queue::open_question);
        open.is_some_and(|question| continues(question, part))
    }

    /// Ends the turn of a conversation, also one that is about to begin, and gives its control; `None` if there is none.
    #[must_use]
    pub fn stop(&self, conversation: Conversation) -> Option<Control> {
        let queues = self.0.queues.lock();
        let current = queues.get(&conversation)?.current.as_ref()?;
        current.control.stop().then(|| current.control.clone())
    }

    /// Takes the question of a request out of the queue where it waits; `false` if it has begun, or does not wait there.
    pub fn withdraw(&self, conversation: Conversation, request: RequestId) -> bool {
        let mut queues = self.0.queues.lock();
        let Some(queue) = queues.get_mut(&conversation) else { return false };
        let in_hand =
            queue.current.take_if(|current| !current.has_begun && current.job.is_for(request)).is_some();
        let before = queue.waiting.len();
        queue.waiting.retain(|posted| !posted.job.is_for(request));
        in_hand || queue.waiting.len() < before
    }

    /// Takes in an edit: a question that has not begun gets the new text, a turn that has neither shown words nor
    /// acted begins again with it, and anything later stays as it is.
    pub fn edit(&self, edited: &Inbound) {
        let mut queues = self.0.queues.lock();
        let Some(queue) = queues.get_mut(&edited.place.conversation()) else {
            return;
        };
        for question in queue.waiting.iter_mut().filter_map(|posted| posted.job.question_mut()) {
            if replace(question, edited) {
                return;
            }
        }
        let Some(current) = queue.current.as_mut().filter(|current| current.control.is_open()) else {
            return;
        };
        if let Some(question) = current.job.question_mut()
            && replace(question, edited)
        {
            current.control.end(CancelReason::Again(question.clone()));
        }
    }

    /// Ends all running turns for a shutdown; the next start goes on with them.
    pub fn abandon(&self) {
        let queues = self.0.queues.lock();
        let current = queues.values().filter_map(|queue| queue.current.as_ref());
        current.for_each(|current| current.control.end(CancelReason::Shutdown));
    }

    /// Whether a turn of this id waits in a queue or runs there.
    #[must_use]
    pub(crate) fn holds(&self, run: RunId) -> bool {
        // In any queue: the chat may have got another id meanwhile.
        self.0.queues.lock().values().any(|queue| {
            let current = queue.current.as_ref().map(|current| &current.job);
            current
                .into_iter()
                .chain(queue.waiting.iter().map(|posted| &posted.job))
                .any(|job| job.is_of(run))
        })
    }

    /// The conversations in which a job has begun and is not done.
    #[must_use]
    pub fn running(&self) -> Vec<Conversation> {
        let has_begun = |queue: &Queue| queue.current.as_ref().is_some_and(|current| current.has_begun);
        let queues = self.0.queues.lock();
        queues.iter().filter(|(_, queue)| has_begun(queue)).map(|(conversation, _)| *conversation).collect()
    }

    /// How many questions and tasks wait in all queues; answers that wait are in the outbox.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let is_counted = |job: &Job| !matches!(job, Job::Deliver(_));
        let in_hand =
            |queue: &Queue| queue.current.as_ref().is_some_and(|now| !now.has_begun && is_counted(&now.job));
        let behind = |queue: &Queue| queue.waiting.iter().filter(|posted| is_counted(&posted.job)).count();
        self.0.queues.lock().values().map(|queue| behind(queue) + usize::from(in_hand(queue))).sum()
    }
}

impl Inner {
    /// Does a queue's jobs until none is left, then removes the queue.
    async fn serve(&self, conversation: Conversation) {
        while self.take(conversation) {
            self.join(conversation).await;
            // Whoever has many turns running waits here, and keeps nobody from the permits of all.
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

    /// Takes the next job in hand; `false` removes the queue.
    fn take(&self, conversation: Conversation) -> bool {
        let mut queues = self.queues.lock();
        let Some(queue) = queues.get_mut(&conversation) else {
            return false;
        };
        let Some(Posted { job, slot }) = queue.waiting.pop_front() else {
            queues.remove(&conversation);
            return false;
        };
        let control = control_of(&job);
        queue.current = Some(Current { job, control, slots: slot.into_iter().collect(), has_begun: false });
        true
    }

    /// A share of the turns that the person who asked for the job in hand may have running; `None` where nobody asked.
    async fn share(&self, conversation: Conversation) -> Option<OwnedSemaphorePermit> {
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

    /// Takes the following messages in as long as they belong to the question and come in time.
    async fn join(&self, conversation: Conversation) {
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

    /// The job in hand, with whatever part of its question has come in since it was taken.
    fn begin(&self, conversation: Conversation) -> Option<(Job, Control)> {
        let mut queues = self.queues.lock();
        let queue = queues.get_mut(&conversation)?;
        let current = queue.current.as_mut()?;
        if let Job::Ask(question) = &mut current.job {
            current.slots.extend(absorb(question, &mut queue.waiting));
        }
        current.slots.clear();
        current.has_begun = true;
        // Whatever changed the question before it began is in it now.
        if let CancelReason::Again(_) = current.control.reason() {
            current.control = Control::default();
        }
        Some((current.job.clone(), current.control.clone()))
    }

    /// Puts the job that follows at once into the hand, or empties it.
    fn follow(&self, conversation: Conversation, next: Option<Job>) {
        if let Some(queue) = self.queues.lock().get_mut(&conversation) {
            queue.current = next.map(|job| {
                let control = control_of(&job);
                Current { job, control, slots: Vec::new(), has_begun: true }
            });
        }
    }
}

/// The control of a job that is taken in hand. A turn that a restart interrupted may have acted already.
fn control_of(job: &Job) -> Control {
    let control = Control::default();
    if let Job::Resume(..) | Job::GoOn(_) = job {
        control.commit();
    }
    control
}

/// Moves the parts of a question that wait right behind it into it, and gives their places.
fn absorb(question: &mut Question, waiting: &mut VecDeque<Posted>) -> Vec<Slot> {
    let mut slots = Vec::new();
    while let Some(Posted { job: Job::Ask(next), slot }) =
        waiting.pop_front_if(|posted| matches!(&posted.job, Job::Ask(next) if belongs(question, next)))
    {
        question.parts.extend(next.parts);
        slots.extend(slot);
    }
    slots
}

#[cfg(test)]
mod tests;
