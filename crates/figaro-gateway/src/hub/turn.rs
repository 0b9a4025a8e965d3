//! One turn that can be followed.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use tokio::time::Instant;

use super::super::caller::{Account, Bytes, Room};
use super::super::handover::{Handover, Mark};
use figaro_agent::delivery::{OutsideEvent, TurnClosing, TurnEnding, TurnEvent, TurnEventKind};
use figaro_agent::turn::control::Control;
use figaro_agent::turn::queue::Mailboxes;
use figaro_agent::turn::requested::{Left, Requested};
use figaro_base::ids::{RequestId, RunId};
use figaro_domain::conversation::Conversation;
use figaro_provider::Item;

/// So long after its end a turn may tell what is remembered of it to those who follow it; whoever comes later hears it too.
const TEACHES: Duration = Duration::from_secs(10);

/// A question that is on its way.
#[derive(Debug)]
pub(crate) struct Asked {
    /// What was asked for beside it.
    pub(crate) requested: Arc<Requested>,
    /// Where it is answered.
    pub(crate) conversation: Conversation,
    /// The session that it belongs to, as its caller calls it.
    pub(crate) session: Option<String>,
    /// It is read for what is to be remembered of whoever asks.
    pub(crate) teaches: bool,
    /// Whoever may follow it, in words that no other has.
    pub(crate) identity: String,
    /// Who asks, as what they have used is counted.
    pub(crate) account: Arc<Account>,
    /// Its place among their questions.
    pub(crate) room: Room,
    /// What its body takes.
    pub(crate) bytes: Bytes,
    /// The calls of its session whose results it brings.
    pub(crate) resumes: Option<Mark>,
    /// Where it waits.
    pub(crate) mailboxes: Mailboxes,
}

/// A turn and all that it has told.
#[derive(Debug)]
pub(crate) struct Turn {
    id: RequestId,
    agent: Option<String>,
    session: Option<String>,
    client: Option<String>,
    left: Arc<Left>,
    conversation: Conversation,
    identity: String,
    account: Arc<Account>,
    resumes: Option<Mark>,
    log: Mutex<Log>,
    news: watch::Sender<()>,
}

#[derive(Debug)]
struct Log {
    told: Vec<Arc<OutsideEvent>>,
    /// What is to be remembered of it is still to be told.
    teaches: bool,
    followers: usize,
    state: State,
    held: Option<Held>,
    /// What it has left to its caller.
    handover: Option<Handover>,
    /// Why it has no end of its own.
    cut: Option<Cut>,
    /// Nothing of it is kept once it is over.
    is_forgotten: bool,
}

/// What a turn holds until it is over.
#[derive(Debug)]
struct Held {
    _room: Room,
    _bytes: Bytes,
    mailboxes: Mailboxes,
}

/// Why a turn that is over has no end of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// What was said was erased.
    Erased,
    /// Somebody stopped it before it began.
    Stopped,
    /// It brings results of calls that its session does not wait for.
    Foreign,
}

#[derive(Debug)]
enum State {
    /// It has not begun.
    Waiting,
    Running(Control),
    Over(Instant),
}

impl Turn {
    pub(super) fn new(asked: Asked) -> Self {
        let Asked {
            requested,
            conversation,
            session,
            teaches,
            identity,
            account,
            room,
            bytes,
            resumes,
            mailboxes,
        } = asked;
        let log = Log {
            told: Vec::new(),
            teaches,
            followers: 0,
            state: State::Waiting,
            held: Some(Held { _room: room, _bytes: bytes, mailboxes }),
            handover: None,
            cut: None,
            is_forgotten: false,
        };
        // The messages of a request may be long: they are not kept as long as the turn can be followed.
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
            account,
            resumes,
            log: Mutex::new(log),
            news: watch::Sender::default(),
        }
    }

    /// The id of the turn, by which callers follow and stop it.
    #[must_use]
    pub(crate) const fn id(&self) -> RequestId {
        self.id
    }

    /// The agent that was asked for.
    #[must_use]
    pub(crate) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// The session that it belongs to, as its caller calls it.
    #[must_use]
    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// The kind of client that asks.
    pub(super) fn client(&self) -> Option<&str> {
        self.client.as_deref()
    }

    /// What it has left to whoever asks, once it is over.
    #[must_use]
    pub(crate) fn handover(&self) -> Option<Handover> {
        self.log().handover.clone()
    }

    /// Why it has no end of its own; `None` where it has one, or is not over.
    #[must_use]
    pub(crate) fn cut(&self) -> Option<Cut> {
        self.log().cut
    }

    /// The calls of its session whose results it brings.
    pub(super) const fn resumes(&self) -> Option<&Mark> {
        self.resumes.as_ref()
    }

    /// It ends without having done anything.
    pub(super) fn cut_off(&self, cut: Cut) {
        self.log().cut = Some(cut);
    }

    /// Nothing of it is to be found any more. What it has told is gone at once, also for those who follow it; one that still
    /// runs tells the rest to them alone.
    pub(super) fn forget(&self) {
        let mut log = self.log();
        log.is_forgotten = true;
        if let State::Over(_) = log.state {
            log.told = Vec::new();
            log.handover = None;
            log.cut = Some(Cut::Erased);
        }
    }

    pub(super) fn is_forgotten(&self) -> bool {
        self.log().is_forgotten
    }

    /// Tells its calls from those of others in what it has left; gives what it is to be gone on with from.
    pub(super) fn hand_over(&self) -> Option<(Handover, Vec<Item>)> {
        let handed = self.left.take()?;
        let handover = Handover::of(self.run()?, &handed);
        self.log().handover = Some(handover.clone());
        Some((handover, handed.items))
    }

    /// The id of it in the store, once it has told something.
    fn run(&self) -> Option<RunId> {
        self.log().told.iter().find_map(|told| match &**told {
            OutsideEvent::Event(event) => Some(event.run),
            OutsideEvent::Words(_) | OutsideEvent::Declined(_) => None,
        })
    }

    pub(super) const fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// What it has come to, once it has told that.
    #[must_use]
    pub(crate) fn closing(&self) -> Option<TurnClosing> {
        self.log().told.iter().rev().find_map(|told| match &**told {
            OutsideEvent::Event(TurnEvent { kind: TurnEventKind::Closed(closing), .. }) => {
                Some((**closing).clone())
            }
            OutsideEvent::Event(_) | OutsideEvent::Words(_) | OutsideEvent::Declined(_) => None,
        })
    }

    /// Whether nothing more comes.
    #[must_use]
    pub(crate) fn is_over(&self) -> bool {
        self.ended_at().is_some()
    }

    /// Where it is answered.
    #[must_use]
    pub(crate) const fn conversation(&self) -> Conversation {
        self.conversation
    }

    pub(super) fn identity(&self) -> &str {
        &self.identity
    }

    /// Whether this one may follow it.
    #[must_use]
    pub(crate) fn is_of(&self, identity: &str) -> bool {
        self.identity == identity
    }

    /// Begins; `false` if nobody waits for it any more.
    pub(super) fn begin(&self, control: &Control) -> bool {
        let mut log = self.log();
        match log.state {
            State::Waiting => log.state = State::Running(control.clone()),
            State::Running(_) | State::Over(_) => return false,
        }
        true
    }

    pub(super) fn tell(&self, told: OutsideEvent) {
        let has_taught = match &told {
            OutsideEvent::Event(TurnEvent { kind: TurnEventKind::MemoryUpdated { .. }, .. }) => true,
            // Of a turn without an answer nothing may ever be read.
            OutsideEvent::Event(TurnEvent { kind: TurnEventKind::Closed(closing), .. }) => {
                closing.ending != TurnEnding::Answered
            }
            OutsideEvent::Event(_) | OutsideEvent::Words(_) => false,
            OutsideEvent::Declined(_) => true,
        };
        let mut log = self.log();
        log.teaches &= !has_taught;
        // One that is over and was forgotten keeps nothing.
        if !(log.is_forgotten && matches!(log.state, State::Over(_))) {
            log.told.push(Arc::new(told));
        }
        drop(log);
        self.news.send_replace(());
    }

    /// Until when it may still tell what is remembered of it, once it is over; `None` if it has told.
    pub(super) fn teaches_until(&self) -> Option<Instant> {
        let is_over = self.ended_at()?;
        let log = self.log();
        (log.teaches && log.cut.is_none()).then(|| is_over + TEACHES)
    }

    /// Nothing more comes of it.
    pub(crate) fn end(&self) {
        let mut log = self.log();
        log.state = State::Over(Instant::now());
        drop(log.held.take());
        drop(log);
        self.news.send_replace(());
    }

    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.log().state, State::Waiting)
    }

    pub(super) fn ended_at(&self) -> Option<Instant> {
        match self.log().state {
            State::Over(at) => Some(at),
            State::Waiting | State::Running(_) => None,
        }
    }

    pub(super) fn join(&self) -> watch::Receiver<()> {
        self.log().followers += 1;
        self.news.subscribe()
    }

    /// One follower less. Without any, a turn is stopped: nobody hears its answer.
    pub(super) fn leave(&self) {
        let mut log = self.log();
        log.followers = log.followers.saturating_sub(1);
        if log.followers == 0 {
            drop(log);
            self.stop();
        }
    }

    /// Stops it, whoever follows it. One that waits is over at once, and leaves its queue.
    pub(crate) fn stop(&self) {
        let mut log = self.log();
        match &log.state {
            State::Waiting => {}
            State::Running(control) => {
                control.stop();
                return;
            }
            State::Over(_) => return,
        }
        log.state = State::Over(Instant::now());
        log.cut = Some(Cut::Stopped);
        let mailboxes = log.held.as_ref().map(|held| held.mailboxes.clone());
        drop(log);
        self.news.send_replace(());
        // Where it was just taken in hand, its place is given back there.
        if mailboxes.is_some_and(|mailboxes| mailboxes.withdraw(self.conversation, self.id)) {
            self.end();
        }
    }

    /// Ends it if it has not begun.
    pub(super) fn end_waiting(&self) {
        let mut log = self.log();
        if matches!(log.state, State::Waiting) {
            log.state = State::Over(Instant::now());
            drop(log.held.take());
            drop(log);
            self.news.send_replace(());
        }
    }

    /// What it has told at this place, if it has told so much; and whether nothing more comes.
    pub(super) fn at(&self, at: usize) -> (Option<Arc<OutsideEvent>>, bool) {
        let log = self.log();
        (log.told.get(at).cloned(), matches!(log.state, State::Over(_)))
    }

    /// A lock whose holder panicked still guards a whole log: every change is one assignment.
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock()
    }
}
