//! Waiting turns in the copy of the store, and the removal of their buttons when they no longer wait.

use parking_lot::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use figaro_base::ids::{MessageId, RunId, UserId};
use figaro_domain::approval::Ruled;
use figaro_domain::conversation::EntryKey;
use figaro_domain::turn::ParkedTurn;

/// Maximum number of questions that were closed before their messages were known.
const MAX_EARLY: usize = 100;

/// A waiting turn, in the copy of the store.
#[derive(Debug, Clone)]
pub(super) struct WaitingTurn {
    pub(super) parked: ParkedTurn,
    /// Messages that show its question, in order.
    pub(super) shown: Vec<MessageId>,
    /// Key of the stored message that holds their ids; `None` if the turn was parked since the start.
    pub(super) stored: Option<EntryKey>,
    /// Person who closed it elsewhere than with its buttons, if somebody did.
    pub(super) closed_by: Option<ClosedBy>,
}

/// Person who closed a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedBy {
    /// Name of the person.
    pub name: String,
    /// Ruling on the call; `None` if they gave the question up without an answer.
    pub ruled: Option<Ruled>,
}

impl ClosedBy {
    pub(super) fn stopping(name: &str) -> Self {
        Self { name: name.to_owned(), ruled: None }
    }
}

impl WaitingTurn {
    pub(super) const fn run(&self) -> RunId {
        self.parked.turn.id
    }

    /// Returns the first line of its question. The further lines of an approval say who asks and how to answer.
    pub(super) fn first_line(&self) -> &str {
        self.parked.question.text.lines().next().unwrap_or_default()
    }

    /// Returns `true` if it waits for approval of a call that somebody other than this person asked for.
    pub(super) fn is_approval_of_others(&self, user: &UserId) -> bool {
        let approval = self.parked.question.approval.as_ref();
        approval.is_some_and(|approval| approval.requester.user != *user)
    }

    /// Returns `true` if the messages that show its question are known or stored.
    pub(super) const fn is_shown(&self) -> bool {
        self.stored.is_some() || !self.shown.is_empty()
    }
}

/// Closed questions whose buttons must be removed.
#[derive(Debug)]
pub(super) struct Closing {
    closed: UnboundedSender<WaitingTurn>,
    closing: tokio::sync::Mutex<UnboundedReceiver<WaitingTurn>>,
    /// Questions whose message Telegram has not confirmed yet; a command may close them before.
    early: Mutex<Vec<WaitingTurn>>,
}

impl Default for Closing {
    fn default() -> Self {
        let (closed, closing) = unbounded_channel();
        Self { closed, closing: tokio::sync::Mutex::new(closing), early: Mutex::default() }
    }
}

impl Closing {
    /// Queues the removal of a question's buttons, as soon as its message is known.
    pub(super) fn close(&self, one: WaitingTurn) {
        let question = &one.parked.question;
        if question.options.is_empty() && question.approval.is_none() {
            return;
        }
        if one.is_shown() {
            // The receiver lives as long as `self`.
            drop(self.closed.send(one));
            return;
        }
        let mut early = self.early.lock();
        if early.len() >= MAX_EARLY {
            early.remove(0);
        }
        early.push(one);
    }

    /// Adds a message that shows a part of a question that was closed before.
    pub(super) fn shown(&self, run: RunId, message: MessageId) {
        let early = self.early.lock();
        // The last part has the buttons; it is not known yet which one that is.
        if let Some(one) = early.iter().find(|one| one.run() == run) {
            drop(self.closed.send(WaitingTurn { shown: vec![message], ..one.clone() }));
        }
    }

    /// Waits for the next closed question whose message is known.
    pub(super) async fn next(&self) -> Option<WaitingTurn> {
        self.closing.lock().await.recv().await
    }
}
