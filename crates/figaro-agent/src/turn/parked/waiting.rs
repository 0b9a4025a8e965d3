//! A turn that waits for a person, as the copy of what is stored has it, and what becomes of its buttons when it waits no more.

use parking_lot::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use figaro_base::ids::{MessageId, RunId, UserId};
use figaro_domain::conversation::EntryKey;
use figaro_domain::turn::ParkedTurn;

/// So many questions that were closed before it was known which message shows them are remembered.
const MAX_EARLY: usize = 100;

/// A turn that waits, in the copy of what is stored.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) parked: ParkedTurn,
    /// The messages that show its question.
    pub(super) shown: Vec<MessageId>,
    /// Where the stored message stands that says which these are; none where it was put away since the start.
    pub(super) stored: Option<EntryKey>,
    /// The name of whoever ended the waiting without an answer, once somebody has.
    pub(super) stopped_by: Option<String>,
}

impl Waiting {
    pub(super) const fn run(&self) -> RunId {
        self.parked.turn.id
    }

    /// The first line of its question: under it an approval has who asked and how to answer.
    pub(super) fn first_line(&self) -> &str {
        self.parked.question.text.lines().next().unwrap_or_default()
    }

    /// It waits for the approval of a call that somebody else than this person asked for.
    pub(super) fn is_approval_of_others(&self, user: &UserId) -> bool {
        let approval = self.parked.question.approval.as_ref();
        approval.is_some_and(|approval| approval.requester.user != *user)
    }

    /// Whether it is known, or stored, which messages show its question.
    pub(super) const fn is_shown(&self) -> bool {
        self.stored.is_some() || !self.shown.is_empty()
    }
}

/// Questions with buttons that do not wait any more.
#[derive(Debug)]
pub(super) struct Closing {
    closed: UnboundedSender<Waiting>,
    closing: tokio::sync::Mutex<UnboundedReceiver<Waiting>>,
    /// Those whose message Telegram has not confirmed: a command may come before that.
    early: Mutex<Vec<Waiting>>,
}

impl Default for Closing {
    fn default() -> Self {
        let (closed, closing) = unbounded_channel();
        Self { closed, closing: tokio::sync::Mutex::new(closing), early: Mutex::default() }
    }
}

impl Closing {
    /// Has the buttons of a question taken off, as soon as it is known where they stand.
    pub(super) fn close(&self, one: Waiting) {
        let question = &one.parked.question;
        if question.options.is_empty() && question.approval.is_none() {
            return;
        }
        if one.is_shown() {
            // The receiver lives as long as this.
            drop(self.closed.send(one));
            return;
        }
        let mut early = self.early.lock();
        if early.len() >= MAX_EARLY {
            early.remove(0);
        }
        early.push(one);
    }

    /// Learns which message shows a part of a question that was closed before.
    pub(super) fn shown(&self, run: RunId, message: MessageId) {
        let early = self.early.lock();
        // Of several parts the last has the buttons; it cannot be told yet which that is.
        if let Some(one) = early.iter().find(|one| one.run() == run) {
            drop(self.closed.send(Waiting { shown: vec![message], ..one.clone() }));
        }
    }

    /// The next one, for whoever takes its buttons off.
    pub(super) async fn next(&self) -> Option<Waiting> {
        self.closing.lock().await.recv().await
    }
}
