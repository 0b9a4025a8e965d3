//! Cancellation of a turn, and the check that the turn makes before it shows or does anything. The queues hold one
//! clone of the handle, the turn another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::question::Question;

/// Time limit for a stop to wait until the stopped turn is over.
const STOP_WAIT: Duration = Duration::from_secs(5);

/// Handle to end a turn. The turn asks it before it shows or does anything. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Control {
    /// Cancelled when the turn must end.
    pub cancel: CancellationToken,
    phase: Arc<Mutex<ControlPhase>>,
    /// Cancelled when the turn is over.
    over: CancellationToken,
    /// `true` if the reply of the turn says that it was stopped.
    told: Arc<AtomicBool>,
}

/// Progress of a turn, as far as ending it is concerned.
#[derive(Debug, Default)]
enum ControlPhase {
    /// Nothing was shown or done; the turn can begin again.
    #[default]
    Open,
    /// Text was shown or a call was made.
    Committed,
    /// The turn waits for a person and only its question is still being sent. A stop treats it as a waiting turn.
    Parked,
    /// The turn was told to end, for the given reason.
    Ended(CancelReason),
}

/// Reason why a turn was told to end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CancelReason {
    Stopped,
    /// The bot shuts down; the next start continues the turn.
    Shutdown,
    /// The question was edited, or another part of it arrived, before anything was shown or done. The turn begins again
    /// with this question.
    Again(Question),
}

impl Control {
    /// Returns the control of a child. The child ends with the turn or alone; what it shows or does counts for the
    /// turn.
    pub(super) fn child(&self) -> Self {
        Self { cancel: self.cancel.child_token(), ..self.clone() }
    }

    /// Returns the reason of the cancellation; [`CancelReason::Shutdown`] if the turn was not told to end.
    #[must_use]
    pub(crate) fn reason(&self) -> CancelReason {
        match &*self.phase.lock() {
            ControlPhase::Ended(reason) => reason.clone(),
            ControlPhase::Open | ControlPhase::Committed | ControlPhase::Parked => CancelReason::Shutdown,
        }
    }

    /// Returns `true` if the turn was told to end.
    pub(super) fn is_ended(&self) -> bool {
        matches!(*self.phase.lock(), ControlPhase::Ended(_))
    }

    /// Marks that the turn is about to show or do something. Returns `false` if it was told to end and must do neither.
    pub(crate) fn commit(&self) -> bool {
        let mut phase = self.phase.lock();
        match *phase {
            ControlPhase::Open => *phase = ControlPhase::Committed,
            ControlPhase::Committed | ControlPhase::Parked => {}
            ControlPhase::Ended(_) => return false,
        }
        true
    }

    /// Marks that the turn is stored as waiting for a person. Returns `false` if it was told to end before.
    pub(super) fn park(&self) -> bool {
        let mut phase = self.phase.lock();
        let may_wait = !matches!(*phase, ControlPhase::Ended(_));
        if may_wait {
            *phase = ControlPhase::Parked;
        }
        may_wait
    }

    /// Stops the turn at the request of a person. Returns `false` if the turn waits for a person: such a turn is not
    /// ended here.
    pub fn stop(&self) -> bool {
        self.end(CancelReason::Stopped);
        !matches!(*self.phase.lock(), ControlPhase::Parked)
    }

    /// Sets whether the reply of the turn says that it was stopped.
    pub(super) fn tell_of_stop(&self, told: bool) {
        self.told.store(told, Ordering::Release);
    }

    pub(super) fn finish(&self) {
        self.over.cancel();
    }

    /// Returns `true` if the reply of a stopped turn says so itself. Waits until the turn is over; returns `false` if
    /// that takes too long.
    pub async fn has_told_of_stop(&self) -> bool {
        let is_over = tokio::time::timeout(STOP_WAIT, self.over.cancelled()).await.is_ok();
        is_over && self.told.load(Ordering::Acquire)
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(*self.phase.lock(), ControlPhase::Open | ControlPhase::Ended(CancelReason::Again(_)))
    }

    /// Ends the turn for this reason. Only an open turn can begin again. A later reason replaces an earlier one that
    /// asks the turn to begin again.
    pub(super) fn end(&self, reason: CancelReason) {
        let mut phase = self.phase.lock();
        let counts = match (&*phase, &reason) {
            (ControlPhase::Open | ControlPhase::Ended(CancelReason::Again(_)), _) => true,
            (ControlPhase::Committed, reason) => !matches!(reason, CancelReason::Again(_)),
            (ControlPhase::Parked, reason) => *reason == CancelReason::Shutdown,
            (ControlPhase::Ended(_), _) => false,
        };
        if counts {
            *phase = ControlPhase::Ended(reason);
            self.cancel.cancel();
        }
    }
}
