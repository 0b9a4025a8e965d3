//! One turn that can be followed.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use tokio::time::Instant;

use super::super::caller::{BodyPermit, QuestionPermit};
use super::super::handover::{CallIdPrefix, Handover};
use figaro_agent::delivery::{OutsideEvent, TurnClosing, TurnEnding, TurnEvent, TurnEventKind};
use figaro_agent::turn::control::Control;
use figaro_agent::turn::queue::Mailboxes;
use figaro_agent::turn::requested::{HandoverSlot, Requested};
use figaro_base::ids::{RequestId, RunId};
use figaro_domain::conversation::ConversationId;
use figaro_provider::Item;

/// Time after its end in which a turn may still report new memories to its followers, including later ones.
const TEACHES: Duration = Duration::from_secs(10);

/// Question that is on its way.
#[derive(Debug)]
pub(crate) struct PendingQuestion {
    pub(crate) requested: Arc<Requested>,
    pub(crate) conversation: ConversationId,
    /// Session, by the caller's name for it; `None` if stateless.
    pub(crate) session: Option<String>,
    /// `true` if the question is also read for memories of the caller.
    pub(crate) teaches: bool,
    /// Unique text of the caller who may follow the turn.
    pub(crate) identity: String,
    /// Permit among the caller's questions.
    pub(crate) room: QuestionPermit,
    /// Permit for the bytes of the body.
    pub(crate) bytes: BodyPermit,
    /// Prefix of the session's calls whose results the question brings.
    pub(crate) resumes: Option<CallIdPrefix>,
    /// Queues that the question waits in.
    pub(crate) mailboxes: Mailboxes,
}

/// Turn with all of its messages.
#[derive(Debug)]
pub(crate) struct HubTurn {
    id: RequestId,
    agent: Option<String>,
    session: Option<String>,
    client: Option<String>,
    left: Arc<HandoverSlot>,
    conversation: ConversationId,
    identity: String,
    resumes: Option<CallIdPrefix>,
    log: Mutex<Log>,
    news: watch::Sender<()>,
}

#[derive(Debug)]
struct Log {
    told: Vec<Arc<OutsideEvent>>,
    /// `true` if new memories are still to be reported.
    teaches: bool,
    followers: usize,
    state: TurnProgress,
    held: Option<TurnResources>,
    /// Hand-over to the caller, set at the end.
    handover: Option<Handover>,
    /// Reason of a turn that was cut off.
    cut: Option<TurnCutoff>,
    /// `true` if nothing of the turn is kept after its end.
    is_forgotten: bool,
}

/// Permits that a turn holds until it is over.
#[derive(Debug)]
struct TurnResources {
    _room: QuestionPermit,
    _bytes: BodyPermit,
    mailboxes: Mailboxes,
}

/// Reason why a turn was cut off, without an outcome of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnCutoff {
    /// The conversation was erased.
    Erased,
    /// A caller stopped the turn before it began.
    Stopped,
    /// The turn brings results that its session does not wait for.
    Foreign,
}

#[derive(Debug)]
enum TurnProgress {
    Waiting,
    Running(Control),
    Over(Instant),
}

impl HubTurn {
    pub(super) fn new(asked: PendingQuestion) -> Self {
        let PendingQuestion {
            requested,
            conversation,
            session,
            teaches,
            identity,
            room,
            bytes,
            resumes,
            mailboxes,
        } = asked;
        let log = Log {
            told: Vec::new(),
            teaches,
            followers: 0,
            state: TurnProgress::Waiting,
            held: Some(TurnResources { _room: room, _bytes: bytes, mailboxes }),
            handover: None,
            cut: None,
            is_forgotten: false,
        };
        // The messages of a request may be long, so they are dropped earlier than the turn.
        let (id, agent, left) = (requested.id, requested.agent.clone(), requested.left.clone());
        let client = requested.client.clone();
        Self {
            id,
            agent,
            session,
            client,
            left,
            conversation,
            identity,
            resumes,
            log: Mutex::new(log),
            news: watch::Sender::default(),
        }
    }

    /// Returns the id by which callers follow and stop the turn.
    #[must_use]
    pub(crate) const fn id(&self) -> RequestId {
        self.id
    }

    /// Returns the requested agent.
    #[must_use]
    pub(crate) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Returns the session, by the caller's name for it.
    #[must_use]
    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Returns the kind of client.
    pub(super) fn client(&self) -> Option<&str> {
        self.client.as_deref()
    }

    /// Returns the hand-over, once the turn is over.
    #[must_use]
    pub(crate) fn handover(&self) -> Option<Handover> {
        self.log().handover.clone()
    }

    /// Returns why the turn was cut off; `None` if it was not, or is not over.
    #[must_use]
    pub(crate) fn cut(&self) -> Option<TurnCutoff> {
        self.log().cut
    }

    /// Returns the prefix of the session's calls whose results the turn brings.
    pub(super) const fn resumes(&self) -> Option<&CallIdPrefix> {
        self.resumes.as_ref()
    }

    /// Marks the turn as cut off before it did anything.
    pub(super) fn cut_off(&self, cut: TurnCutoff) {
        self.log().cut = Some(cut);
    }

    /// Forgets the turn. Its messages are gone at once, even for its followers. A turn that still runs sends the rest
    /// to those followers only.
    pub(super) fn forget(&self) {
        let mut log = self.log();
        log.is_forgotten = true;
        if let TurnProgress::Over(_) = log.state {
            log.told = Vec::new();
            log.handover = None;
            log.cut = Some(TurnCutoff::Erased);
        }
    }

    pub(super) fn is_forgotten(&self) -> bool {
        self.log().is_forgotten
    }

    /// Stores the hand-over with prefixed call ids. Returns it with the items that the turn continues from.
    pub(super) fn hand_over(&self) -> Option<(Handover, Vec<Item>)> {
        let handed = self.left.take()?;
        let handover = Handover::of(self.run()?, &handed);
        self.log().handover = Some(handover.clone());
        Some((handover, handed.items))
    }

    /// Returns the id of the turn in the store, once the turn has sent an event.
    fn run(&self) -> Option<RunId> {
        self.log().told.iter().find_map(|told| match &**told {
            OutsideEvent::Event(event) => Some(event.run),
            OutsideEvent::Words(_) | OutsideEvent::Declined(_) => None,
        })
    }

    /// Returns the outcome, once the turn has reported it.
    #[must_use]
    pub(crate) fn closing(&self) -> Option<TurnClosing> {
        self.log().told.iter().rev().find_map(|told| match &**told {
            OutsideEvent::Event(TurnEvent { kind: TurnEventKind::Closed(closing), .. }) => {
                Some((**closing).clone())
            }
            OutsideEvent::Event(_) | OutsideEvent::Words(_) | OutsideEvent::Declined(_) => None,
        })
    }

    /// Returns `true` if the turn is over.
    #[must_use]
    pub(crate) fn is_over(&self) -> bool {
        self.ended_at().is_some()
    }

    /// Returns the conversation of the turn.
    #[must_use]
    pub(crate) const fn conversation(&self) -> ConversationId {
        self.conversation
    }

    pub(super) fn identity(&self) -> &str {
        &self.identity
    }

    /// Returns `true` if this caller may follow the turn.
    #[must_use]
    pub(crate) fn is_of(&self, identity: &str) -> bool {
        self.identity == identity
    }

    /// Begins the turn. Returns `false` if nobody waits for it any longer.
    pub(super) fn begin(&self, control: &Control) -> bool {
        let mut log = self.log();
        match log.state {
            TurnProgress::Waiting => log.state = TurnProgress::Running(control.clone()),
            TurnProgress::Running(_) | TurnProgress::Over(_) => return false,
        }
        true
    }

    pub(super) fn tell(&self, told: OutsideEvent) {
        let has_taught = match &told {
            OutsideEvent::Event(TurnEvent { kind: TurnEventKind::MemoryUpdated { .. }, .. }) => true,
            // A turn without an answer never yields memories.
            OutsideEvent::Event(TurnEvent { kind: TurnEventKind::Closed(closing), .. }) => {
                closing.ending != TurnEnding::Answered
            }
            OutsideEvent::Event(_) | OutsideEvent::Words(_) => false,
            OutsideEvent::Declined(_) => true,
        };
        let mut log = self.log();
        log.teaches &= !has_taught;
        // A turn that is over and was forgotten keeps nothing.
        if !(log.is_forgotten && matches!(log.state, TurnProgress::Over(_))) {
            log.told.push(Arc::new(told));
        }
        drop(log);
        self.news.send_replace(());
    }

    /// Returns the time until which a finished turn may report new memories; `None` once it has.
    pub(super) fn teaches_until(&self) -> Option<Instant> {
        let is_over = self.ended_at()?;
        let log = self.log();
        (log.teaches && log.cut.is_none()).then(|| is_over + TEACHES)
    }

    /// Marks the turn as over and releases its permits.
    pub(crate) fn end(&self) {
        let mut log = self.log();
        log.state = TurnProgress::Over(Instant::now());
        drop(log.held.take());
        drop(log);
        self.news.send_replace(());
    }

    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.log().state, TurnProgress::Waiting)
    }

    pub(super) fn ended_at(&self) -> Option<Instant> {
        match self.log().state {
            TurnProgress::Over(at) => Some(at),
            TurnProgress::Waiting | TurnProgress::Running(_) => None,
        }
    }

    pub(super) fn join(&self) -> watch::Receiver<()> {
        self.log().followers += 1;
        self.news.subscribe()
    }

    /// Removes a follower. The turn is stopped when the last one leaves, since nobody would see its answer.
    pub(super) fn leave(&self) {
        let mut log = self.log();
        log.followers = log.followers.saturating_sub(1);
        if log.followers == 0 {
            drop(log);
            self.stop();
        }
    }

    /// Stops the turn, even while others follow it. A waiting turn is over at once and leaves its queue.
    pub(crate) fn stop(&self) {
        let mut log = self.log();
        match &log.state {
            TurnProgress::Waiting => {}
            TurnProgress::Running(control) => {
                control.stop();
                return;
            }
            TurnProgress::Over(_) => return,
        }
        log.state = TurnProgress::Over(Instant::now());
        log.cut = Some(TurnCutoff::Stopped);
        let mailboxes = log.held.as_ref().map(|held| held.mailboxes.clone());
        drop(log);
        self.news.send_replace(());
        // If a worker has just taken the question, the permit is returned there.
        if mailboxes.is_some_and(|mailboxes| mailboxes.withdraw(self.conversation, self.id)) {
            self.end();
        }
    }

    /// Ends the turn if it has not begun.
    pub(super) fn end_waiting(&self) {
        let mut log = self.log();
        if matches!(log.state, TurnProgress::Waiting) {
            log.state = TurnProgress::Over(Instant::now());
            drop(log.held.take());
            drop(log);
            self.news.send_replace(());
        }
    }

    /// Returns the message at this position, if there is one. The flag is `true` if the turn is over.
    pub(super) fn at(&self, at: usize) -> (Option<Arc<OutsideEvent>>, bool) {
        let log = self.log();
        (log.told.get(at).cloned(), matches!(log.state, TurnProgress::Over(_)))
    }

    /// The lock is usable even after a panic: every change is a single assignment.
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock()
    }
}
