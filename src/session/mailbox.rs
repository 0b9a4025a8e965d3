//! A lane per conversation: one turn at a time, what arrives meanwhile waits in order. Lanes run side by side up to a
//! bound. Everything that waits here is in the store's inbox as well, so nothing is lost with the process.

use std::collections::{HashMap, VecDeque};
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::domain::conversation::Conversation;
use crate::domain::delivery::PendingDelivery;
use crate::domain::message::{Inbound, Join};
use crate::domain::run::ActiveRun;
use crate::policy::access::Standing;
use crate::shutdown::Tasks;

/// So many turns run at the same time.
const MAX_RUNNING: usize = 64;
/// How long a message that shows a sign of more waits for it.
const JOIN_WAIT: Duration = Duration::from_millis(400);

/// Messages that make one question, and what their writer may do.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// At least one part.
    pub parts: Vec<Inbound>,
    /// What the writer may do.
    pub standing: Standing,
}

/// Something to be done in a lane.
#[derive(Debug, Clone)]
pub enum Job {
    /// Answer a question.
    Ask(Question),
    /// Go on with a turn that a restart interrupted.
    Resume(ActiveRun, Question),
    /// Deliver what a restart left undelivered.
    Deliver(PendingDelivery),
}

/// How a running turn is told to end, and what it tells about itself.
#[derive(Debug, Clone, Default)]
pub struct Control {
    /// Cancelled to end the turn.
    pub cancel: CancellationToken,
    /// Set once the turn has shown words or acted.
    pub committed: Arc<AtomicBool>,
    reason: Arc<Mutex<Option<CancelReason>>>,
}

/// Why a turn was told to end.
#[derive(Debug, Clone, PartialEq)]
pub enum CancelReason {
    /// A person wants no more of it.
    Stopped,
    /// The bot shuts down; the next start goes on with the turn.
    Shutdown,
    /// The question was edited, or another part of it came, before anything was shown or done: the turn begins again
    /// with this question.
    Again(Question),
}

impl Control {
    /// Why the turn was cancelled.
    #[must_use]
    pub fn reason(&self) -> CancelReason {
        lock(&self.reason).clone().unwrap_or(CancelReason::Shutdown)
    }

    fn end(&self, reason: CancelReason) {
        lock(&self.reason).get_or_insert(reason);
        self.cancel.cancel();
    }
}

/// Does the jobs of the lanes.
#[async_trait]
pub trait Runner: Debug + Send + Sync {
    /// Does one job to its end and returns what is to be done right after it. It does not fail: what goes wrong is
    /// told to the chat.
    async fn run(&self, job: Job, control: Control) -> Option<Job>;
}

/// All lanes. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Mailboxes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    runner: Arc<dyn Runner>,
    tasks: Tasks,
    permits: Semaphore,
    lanes: Mutex<HashMap<Conversation, Lane>>,
}

#[derive(Debug, Default)]
struct Lane {
    waiting: VecDeque<Job>,
    running: Option<Running>,
    arrived: Arc<Notify>,
}

#[derive(Debug)]
struct Running {
    question: Option<Question>,
    control: Control,
}

impl Running {
    /// The question, as long as nothing was shown or done for it.
    fn uncommitted(&self) -> Option<&Question> {
        self.question.as_ref().filter(|_| !self.control.committed.load(Ordering::Relaxed))
    }
}

impl Mailboxes {
    /// No lane yet.
    #[must_use]
    pub fn new(runner: Arc<dyn Runner>, tasks: Tasks) -> Self {
        let (permits, lanes) = (Semaphore::new(MAX_RUNNING), Mutex::default());
        Self(Arc::new(Inner { runner, tasks, permits, lanes }))
    }

    /// Puts a job at the end of its lane.
    pub fn post(&self, conversation: Conversation, job: Job) {
        let mut lanes = lock(&self.0.lanes);
        let is_new = !lanes.contains_key(&conversation);
        let lane = lanes.entry(conversation).or_default();
        if let Some((running, whole)) = lane.running.as_ref().and_then(|r| Some((r, late_part(r, &job)?))) {
            running.control.end(CancelReason::Again(whole));
            return;
        }
        lane.waiting.push_back(job);
        lane.arrived.notify_one();
        drop(lanes);
        if is_new {
            let inner = Arc::clone(&self.0);
            self.0.tasks.spawn("lane", async move { inner.serve(conversation).await });
        }
    }

    /// Ends the running turn of a conversation; `false` if none is running.
    #[must_use]
    pub fn stop(&self, conversation: Conversation) -> bool {
        let lanes = lock(&self.0.lanes);
        let running = lanes.get(&conversation).and_then(|lane| lane.running.as_ref());
        running.inspect(|running| running.control.end(CancelReason::Stopped)).is_some()
    }

    /// Takes in an edit: a waiting question gets the new text, a running turn that has neither shown words nor acted
    /// begins again with it, and anything later stays as it is.
    pub fn edit(&self, edited: &Inbound) {
        let mut lanes = lock(&self.0.lanes);
        let Some(lane) = lanes.get_mut(&edited.place.conversation()) else {
            return;
        };
        let waiting = lane.waiting.iter_mut().filter_map(|job| match job {
            Job::Ask(question) | Job::Resume(_, question) => Some(question),
            Job::Deliver(_) => None,
        });
        for part in waiting.flat_map(|question| question.parts.iter_mut()) {
            if part.message == edited.message {
                part.text.clone_from(&edited.text);
                return;
            }
        }
        let Some((running, question)) = lane.running.as_ref().and_then(|r| Some((r, r.uncommitted()?)))
        else {
            return;
        };
        let mut question = question.clone();
        if let Some(part) = question.parts.iter_mut().find(|part| part.message == edited.message) {
            part.text.clone_from(&edited.text);
            running.control.end(CancelReason::Again(question));
        }
    }

    /// Ends all running turns for a shutdown; the next start goes on with them.
    pub fn abandon(&self) {
        let lanes = lock(&self.0.lanes);
        lanes
            .values()
            .filter_map(|lane| lane.running.as_ref())
            .for_each(|r| r.control.end(CancelReason::Shutdown));
    }

    /// How many jobs wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        lock(&self.0.lanes).values().map(|lane| lane.waiting.len()).sum()
    }
}

impl Inner {
    /// Does a lane's jobs until none is left, then removes the lane.
    async fn serve(&self, conversation: Conversation) {
        while let Some(job) = self.next(conversation).await {
            let Ok(_permit) = self.permits.acquire().await else {
                return;
            };
            if self.tasks.is_stopping() {
                return;
            }
            let mut now = Some(job);
            while let Some(job) = now {
                let control = self.begin(conversation, &job);
                now = self.runner.run(job, control).await;
                self.free(conversation);
            }
        }
    }

    /// The next job, with all parts of its question; `None` removes the lane.
    async fn next(&self, conversation: Conversation) -> Option<Job> {
        let job = {
            let mut lanes = lock(&self.lanes);
            let lane = lanes.get_mut(&conversation)?;
            let Some(job) = lane.waiting.pop_front() else {
                lanes.remove(&conversation);
                return None;
            };
            job
        };
        match job {
            Job::Ask(question) if question.parts.iter().any(|part| part.joins.is_some()) => {
                Some(Job::Ask(self.join(conversation, question).await))
            }
            other => Some(other),
        }
    }

    /// Takes the following messages in as long as they belong to the question and come in time.
    async fn join(&self, conversation: Conversation, mut question: Question) -> Question {
        loop {
            let arrived = {
                let mut lanes = lock(&self.lanes);
                let Some(lane) = lanes.get_mut(&conversation) else {
                    return question;
                };
                match lane.waiting.pop_front() {
                    Some(Job::Ask(next)) if belongs(&question, &next) => {
                        question.parts.extend(next.parts);
                        continue;
                    }
                    Some(other) => {
                        lane.waiting.push_front(other);
                        return question;
                    }
                    None => Arc::clone(&lane.arrived),
                }
            };
            if tokio::time::timeout(JOIN_WAIT, arrived.notified()).await.is_err() {
                return question;
            }
        }
    }

    fn begin(&self, conversation: Conversation, job: &Job) -> Control {
        let control = Control::default();
        let question = match job {
            Job::Ask(question) | Job::Resume(_, question) => Some(question.clone()),
            Job::Deliver(_) => None,
        };
        if let Some(lane) = lock(&self.lanes).get_mut(&conversation) {
            lane.running = Some(Running { question, control: control.clone() });
        }
        control
    }

    fn free(&self, conversation: Conversation) {
        if let Some(lane) = lock(&self.lanes).get_mut(&conversation) {
            lane.running = None;
        }
    }
}

/// The whole question, when a job brings a forward right behind the comment that a running turn has just begun with:
/// clients send the comment first.
fn late_part(running: &Running, job: &Job) -> Option<Question> {
    let (Job::Ask(next), Some(question)) = (job, running.uncommitted()) else {
        return None;
    };
    let (last, first) = (question.parts.last()?, next.parts.first()?);
    let is_forward = first.joins == Some(Join::Forward) && last.joins.is_none();
    let is_prompt = (first.sent_at - last.sent_at).num_seconds() <= 1;
    (is_forward && is_prompt && last.speaker.user == first.speaker.user).then(|| Question {
        parts: question.parts.iter().chain(&next.parts).cloned().collect(),
        standing: question.standing,
    })
}

/// Whether a message is a further part of a question: of the same album, or by the same writer right after a part that
/// may have been split or forwarded.
fn belongs(question: &Question, next: &Question) -> bool {
    let (Some(last), Some(first)) = (question.parts.last(), next.parts.first()) else {
        return false;
    };
    if last.speaker.user != first.speaker.user {
        return false;
    }
    match (&last.joins, &first.joins) {
        (Some(Join::Album(one)), Some(Join::Album(other))) => one == other,
        (Some(Join::LongPaste | Join::Forward), _) => true,
        (Some(Join::Album(_)) | None, _) => false,
    }
}

/// A lock whose holder panicked still guards whole data here: every change is one assignment.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::domain::chat::{ChatKind, Place};
    use crate::domain::message::Speaker;
    use crate::ids::{ChatId, MessageId, UpdateId, UserId};

    /// Writes down what it is asked; a text that begins with `wait` takes until it is cancelled.
    #[derive(Debug, Default)]
    struct Scribe {
        seen: Mutex<Vec<String>>,
        changed: Notify,
    }

    #[async_trait]
    impl Runner for Scribe {
        async fn run(&self, job: Job, control: Control) -> Option<Job> {
            let (Job::Ask(question) | Job::Resume(_, question)) = job else {
                return None;
            };
            let text = question.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("+");
            let waits = text.starts_with("wait") && !text.contains('!');
            lock(&self.seen).push(text);
            self.changed.notify_waiters();
            if !waits {
                return None;
            }
            control.cancel.cancelled().await;
            match control.reason() {
                CancelReason::Again(question) => Some(Job::Ask(question)),
                CancelReason::Stopped | CancelReason::Shutdown => None,
            }
        }
    }

    impl Scribe {
        async fn saw(&self, wanted: &[&str]) {
            let waiting = async {
                loop {
                    let changed = self.changed.notified();
                    if lock(&self.seen).iter().eq(wanted) {
                        return;
                    }
                    changed.await;
                }
            };
            if tokio::time::timeout(Duration::from_secs(5), waiting).await.is_err() {
                panic!("saw {:?}, wanted {wanted:?}", lock(&self.seen));
            }
        }
    }

    fn part(message: i64, text: &str, joins: Option<Join>) -> Inbound {
        Inbound {
            update: UpdateId(message),
            message: MessageId(message),
            place: Place { chat: ChatId(1), kind: ChatKind::Private, title: None, topic: None },
            speaker: Speaker { user: UserId::telegram(1), name: "Ann".into(), username: None },
            language: None,
            sent_at: DateTime::UNIX_EPOCH,
            text: text.into(),
            attachments: Vec::new(),
            quotes: None,
            mentioned: false,
            reply_to_bot: false,
            joins,
            forwarded_from: None,
        }
    }

    fn start() -> (Arc<Scribe>, Mailboxes) {
        let scribe = Arc::new(Scribe::default());
        (Arc::clone(&scribe), Mailboxes::new(scribe, Tasks::new()))
    }

    fn say(boxes: &Mailboxes, part: Inbound) {
        let question = Question { parts: vec![part.clone()], standing: Standing::Member };
        boxes.post(part.place.conversation(), Job::Ask(question));
    }

    #[tokio::test]
    async fn what_arrives_during_a_turn_waits_in_order_and_stop_ends_only_the_turn() {
        let (scribe, boxes) = start();
        let lane = part(1, "", None).place.conversation();
        assert!(!boxes.stop(lane));
        for (id, text) in [(1, "wait"), (2, "two"), (3, "three")] {
            say(&boxes, part(id, text, None));
        }
        scribe.saw(&["wait"]).await;
        assert!(boxes.stop(lane));
        scribe.saw(&["wait", "two", "three"]).await;
    }

    #[tokio::test]
    async fn an_album_and_a_split_paste_are_one_question_each() {
        let (scribe, boxes) = start();
        let album = |id: &str| Some(Join::Album(id.to_owned()));
        say(&boxes, part(1, "a1", album("a")));
        say(&boxes, part(2, "a2", album("a")));
        say(&boxes, part(3, "b1", album("b")));
        say(&boxes, part(4, "long", Some(Join::LongPaste)));
        say(&boxes, part(5, "rest", None));
        say(&boxes, part(6, "other", None));
        scribe.saw(&["a1+a2", "b1", "long+rest", "other"]).await;
    }

    #[tokio::test]
    async fn an_edit_reaches_a_waiting_and_an_uncommitted_question_and_no_other() {
        let (scribe, boxes) = start();
        say(&boxes, part(1, "wait one", None));
        say(&boxes, part(2, "two", None));
        scribe.saw(&["wait one"]).await;
        boxes.edit(&part(2, "two!", None));
        boxes.edit(&part(1, "wait one!", None));
        scribe.saw(&["wait one", "wait one!", "two!"]).await;
        say(&boxes, part(3, "wait three", None));
        scribe.saw(&["wait one", "wait one!", "two!", "wait three"]).await;
        let lane = part(1, "", None).place.conversation();
        lock(&boxes.0.lanes)[&lane]
            .running
            .as_ref()
            .unwrap()
            .control
            .committed
            .store(true, Ordering::Relaxed);
        boxes.edit(&part(3, "wait three!", None));
        assert!(boxes.stop(lane));
        say(&boxes, part(4, "end", None));
        scribe.saw(&["wait one", "wait one!", "two!", "wait three", "end"]).await;
    }

    #[tokio::test]
    async fn a_forward_right_behind_its_comment_joins_it() {
        let (scribe, boxes) = start();
        say(&boxes, part(1, "wait comment", None));
        scribe.saw(&["wait comment"]).await;
        say(&boxes, part(2, "forward!", Some(Join::Forward)));
        scribe.saw(&["wait comment", "wait comment+forward!"]).await;
    }
}
