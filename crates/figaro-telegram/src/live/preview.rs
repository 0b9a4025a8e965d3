//! The preview of one turn: the text and status that have not been shown yet, and the wait for more. [`super::Live`] writes it; it is sent by
//! [`mod@super::draft`] and [`mod@super::group`].

use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::state::PreviewState;
use crate::error::ApiError;
use figaro_base::ids::{MessageId, RunId};
use figaro_domain::chat::Place;

/// The preview of one turn. The listener writes to it, one task sends it.
#[derive(Debug)]
pub(super) struct Preview {
    pub(super) run: RunId,
    pub(super) place: Place,
    /// The message the turn answers, where it is known.
    pub(super) message: Option<MessageId>,
    pub(super) language: Option<String>,
    pub(super) incoming: Mutex<Incoming>,
    pub(super) changed: Notify,
    /// Held during a call whose effect fades (a draft, "typing"): it should not arrive after the answer.
    pub(super) transient_call: tokio::sync::Mutex<()>,
    /// Held during a call that sends or edits a message: the answer must know of that message and come after it.
    pub(super) message_call: tokio::sync::Mutex<()>,
}

/// What the turn has given since the preview was last brought up to date.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    /// The number of the pass in progress.
    pub(super) pass: u64,
    /// Its text since then.
    pub(super) text: String,
    /// Since when it has had text.
    pub(super) since: Option<Instant>,
    pub(super) status: Option<String>,
    pub(super) ended: bool,
}

/// The outcome of one call for the preview.
pub(super) enum Update {
    /// Telegram has taken it.
    Shown,
    /// Not now; Telegram asked to wait at least so long (zero if it named no wait). This slows the preview alone, not the
    /// answer.
    Later(Duration),
    /// Telegram does not take it, or it cannot be known; the same is not tried again.
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

    /// Moves the new text and status into the state. `false` once the turn has ended.
    pub(super) fn update(&self, state: &mut PreviewState) -> bool {
        let mut incoming = self.incoming.lock();
        state.push(incoming.pass, &std::mem::take(&mut incoming.text), incoming.status.clone());
        !incoming.ended
    }

    /// Waits for a change since the last wait, at most until then.
    pub(super) async fn changed_by(&self, deadline: Option<Instant>) {
        match deadline {
            Some(deadline) => drop(timeout_at(deadline, self.changed.notified()).await),
            None => self.changed.notified().await,
        }
    }

    /// Waits for the first words of a pass or for the end, at most until then.
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

    /// Waits until then, or for the end if that comes first.
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
