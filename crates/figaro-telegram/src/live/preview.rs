//! Preview of one turn: text and status that are not shown yet, and the wait for more. Written by [`super::Live`],
//! sent by [`mod@super::draft`] and [`mod@super::group`].

use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::state::PreviewState;
use crate::error::ApiError;
use figaro_base::ids::{MessageId, RunId};
use figaro_domain::chat::Place;

/// Preview of one turn. The listener writes to it; one task sends it.
#[derive(Debug)]
pub(super) struct Preview {
    pub(super) run: RunId,
    pub(super) place: Place,
    /// Message that the turn answers, if known.
    pub(super) message: Option<MessageId>,
    pub(super) language: Option<String>,
    pub(super) incoming: Mutex<Incoming>,
    pub(super) changed: Notify,
    /// Held during a call whose effect fades (a draft, "typing"), which should not arrive after the answer.
    pub(super) transient_call: tokio::sync::Mutex<()>,
    /// Held during a call that sends or edits a message: the answer must know that message and come after it.
    pub(super) message_call: tokio::sync::Mutex<()>,
}

/// Output of the turn since the last update of the preview.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    pub(super) pass: u64,
    /// New text of the current pass.
    pub(super) text: String,
    /// Time of the first text of the pass; `None` without text.
    pub(super) since: Option<Instant>,
    pub(super) status: Option<String>,
    pub(super) ended: bool,
}

/// Outcome of one call for the preview.
pub(super) enum Update {
    Shown,
    /// Not possible now; wait at least this long (zero if Telegram named no time). Slows only the preview, not the
    /// answer.
    Later(Duration),
    /// Refused, or the outcome is unknown; the same call is not repeated.
    Refused,
}

impl Preview {
    pub(super) fn new(
        run: RunId,
        place: Place,
        message: Option<MessageId>,
        language: Option<String>,
    ) -> Self {
        let (incoming, changed, transient_call, message_call) = Default::default();
        Self { run, place, message, language, incoming, changed, transient_call, message_call }
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Incoming)) {
        change(&mut self.incoming.lock());
        self.changed.notify_one();
    }

    pub(super) fn end(&self) {
        self.change(|incoming| incoming.ended = true);
    }

    pub(super) fn look<T>(&self, look: impl FnOnce(&Incoming) -> T) -> T {
        look(&self.incoming.lock())
    }

    pub(super) fn has_ended(&self) -> bool {
        self.look(|incoming| incoming.ended)
    }

    /// Moves the new text and status into the state. Returns `false` after the end of the turn.
    pub(super) fn update(&self, state: &mut PreviewState) -> bool {
        let mut incoming = self.incoming.lock();
        state.push(incoming.pass, &std::mem::take(&mut incoming.text), incoming.status.clone());
        !incoming.ended
    }

    /// Waits for a change since the last wait, at most until `deadline`.
    pub(super) async fn changed_by(&self, deadline: Option<Instant>) {
        match deadline {
            Some(deadline) => drop(timeout_at(deadline, self.changed.notified()).await),
            None => self.changed.notified().await,
        }
    }

    /// Waits for the first text of a pass or for the end, at most until `deadline`.
    pub(super) async fn words_by(&self, deadline: Instant) {
        let words = async {
            while !self.look(|incoming| incoming.ended || incoming.since.is_some()) {
                self.changed.notified().await;
            }
        };
        drop(timeout_at(deadline, words).await);
    }

    pub(super) async fn ended(&self) {
        while !self.has_ended() {
            self.changed.notified().await;
        }
    }

    /// Waits for the end of the turn, at most until `deadline`.
    pub(super) async fn ended_by(&self, deadline: Instant) {
        drop(timeout_at(deadline, self.ended()).await);
    }
}

impl Update {
    pub(super) fn of(result: Result<Value, ApiError>) -> Self {
        let Err(error) = result else { return Self::Shown };
        tracing::debug!(%error, "a preview could not be shown");
        match error {
            ApiError::RetryAfter(wait) => Self::Later(wait),
            ApiError::Refused(_) | ApiError::Migrated(_) => Self::Refused,
            ApiError::Unauthorized | ApiError::Conflict | ApiError::Unreachable(_) | ApiError::Unclear(_) => {
                Self::Later(Duration::ZERO)
            }
        }
    }
}
