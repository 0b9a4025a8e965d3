//! How a turn is told to end, and what it has to ask before it shows or does anything. The queues hold one half, the turn
//! the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::question::Question;

/// What a stop waits for the words of the turn that it ends.
const STOP_WAIT: Duration = Duration::from_secs(5);

/// How a turn is told to end, and what it has to ask before it shows or does anything. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Control {
    /// Cancelled when the turn is to end.
    pub cancel: CancellationToken,
    phase: Arc<Mutex<Phase>>,
    /// Cancelled when the turn is over.
    over: CancellationToken,
    /// The words of the turn say that it was stopped.
    told: Arc<AtomicBool>,
}

/// How far a turn has come.
#[derive(Debug, Default)]
enum Phase {
    /// Nothing was shown or done: it can begin again.
    #[default]
    Open,
    /// Words were shown or a call was made.
    Committed,
    /// It waits for a person and only its question is still being sent: it is stopped as a turn that waits.
    Parked,
    /// The turn was told to end, for this reason.
    Ended(CancelReason),
}

/// Why a turn was told to end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CancelReason {
    /// A person wants no more of it.
    Stopped,
    /// The bot shuts down; the next start goes on with the turn.
    Shutdown,
    /// The question was edited, or another part of it came, before anything was shown or done: the turn begins again
    /// with this question.
    Again(Question),
}

impl Control {
    /// The control of a child: it ends with the turn, or alone, and what it shows or does counts for the turn.
    pub(super) fn child(&self) -> Self {
        Self { cancel: self.cancel.child_token(), ..self.clone() }
    }

    /// Why the turn was cancelled; of one that was not, that the bot shuts down.
    #[must_use]
    pub(crate) fn reason(&self) -> CancelReason {
        match &*self.phase.lock() {
            Phase::Ended(reason) => reason.clone(),
            Phase::Open | Phase::Committed | Phase::Parked => CancelReason::Shutdown,
        }
    }

    /// Whether the turn was told to end.
    pub(super) fn is_ended(&self) -> bool {
        matches!(*self.phase.lock(), Phase::Ended(_))
    }

    /// The turn is about to show or do something; `false` if it has been told to end, and must do neither.
    pub(crate) fn commit(&self) -> bool {
        let mut phase = self.phase.lock();
        match *phase {
            Phase::Open => *phase = Phase::Committed,
            Phase::Committed | Phase::Parked => {}
            Phase::Ended(_) => return false,
        }
        true
    }

    /// The turn is stored as one that waits for a person; `false` if it has been told to end before.
    pub(super) fn park(&self) -> bool {
        let mut phase = self.phase.lock();
        let may_wait = !matches!(*phase, Phase::Ended(_));
        if may_wait {
            *phase = Phase::Parked;
        }
        may_wait
    }

    /// A person wants no more of the turn; `false` if it waits for a person, which this does not end.
    pub fn stop(&self) -> bool {
        self.end(CancelReason::Stopped);
        !matches!(*self.phase.lock(), Phase::Parked)
    }

    /// Whether the words of the turn say that it was stopped.
    pub(super) fn tell_of_stop(&self, told: bool) {
        self.told.store(told, Ordering::Release);
    }

    /// The turn is over.
    pub(super) fn finish(&self) {
        self.over.cancel();
    }

    /// Whether the words of a turn that was stopped say so themselves. Waits until it is over, but not long: then nobody
    /// knows, and they do not.
    pub async fn has_told_of_stop(&self) -> bool {
        let is_over = tokio::time::timeout(STOP_WAIT, self.over.cancelled()).await.is_ok();
        is_over && self.told.load(Ordering::Acquire)
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(*self.phase.lock(), Phase::Open | Phase::Ended(CancelReason::Again(_)))
    }

    /// Beginning again is for a turn that is still open; a later reason to do so, or to stop instead, counts.
    pub(super) fn end(&self, reason: CancelReason) {
        let mut phase = self.phase.lock();
        let counts = match (&*phase, &reason) {
            (Phase::Open | Phase::Ended(CancelReason::Again(_)), _) => true,
            (Phase::Committed, reason) => !matches!(reason, CancelReason::Again(_)),
            (Phase::Parked, reason) => *reason == CancelReason::Shutdown,
            (Phase::Ended(_), _) => false,
        };
        if counts {
            *phase = Phase::Ended(reason);
            self.cancel.cancel();
        }
    }
}
