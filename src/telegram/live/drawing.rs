//! One turn's picture: what it has come to, and the wait for more. Filled by [`super::Live`], drawn by
//! [`mod@super::draft`] and [`mod@super::group`].

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::sketch::Sketch;
use crate::domain::chat::Place;
use crate::ids::{MessageId, RunId};
use crate::telegram::error::ApiError;

/// One turn's picture.
#[derive(Debug)]
pub(super) struct Drawing {
    pub(super) run: RunId,
    pub(super) place: Place,
    /// The message the turn answers.
    pub(super) message: MessageId,
    pub(super) language: Option<String>,
    pub(super) state: Mutex<State>,
    pub(super) changed: Notify,
    /// Held while a call is under way whose effect fades: a draft or "typing" should not come behind the answer.
    pub(super) brush: tokio::sync::Mutex<()>,
    /// Held while a call is under way whose effect stays: the answer must know of it and come behind it.
    pub(super) pen: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// The number of the pass in progress.
    pub(super) pass: u64,
    /// Its text since the last look.
    pub(super) heard: String,
    /// Since when it has had text.
    pub(super) since: Option<Instant>,
    pub(super) status: Option<String>,
    pub(super) ended: bool,
}

/// What came of drawing once. A push-back slows the drawing alone, not the answer.
pub(super) enum Stroke {
    Drawn,
    NotNow(Duration),
    Refused,
}

impl Drawing {
    pub(super) fn new(run: RunId, place: Place, message: MessageId, language: Option<String>) -> Self {
        let (state, changed, brush, pen) = Default::default();
        Self { run, place, message, language, state, changed, brush, pen }
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.state));
        self.changed.notify_one();
    }

    pub(super) fn end(&self) {
        self.change(|state| state.ended = true);
    }

    pub(super) fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&lock(&self.state))
    }

    pub(super) fn has_ended(&self) -> bool {
        self.look(|state| state.ended)
    }

    /// Brings a sketch up to date; `false` once the turn has ended.
    pub(super) fn update(&self, sketch: &mut Sketch) -> bool {
        let mut state = lock(&self.state);
        sketch.hear(state.pass, &std::mem::take(&mut state.heard), state.status.clone());
        !state.ended
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
            while !self.look(|state| state.ended || state.since.is_some()) {
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

impl Stroke {
    pub(super) fn of(result: Result<Value, ApiError>) -> Self {
        let Err(error) = result else { return Self::Drawn };
        tracing::debug!(%error, "what is in progress could not be drawn");
        match error {
            ApiError::RetryAfter(wait) => Self::NotNow(wait),
            ApiError::Refused(_) | ApiError::Migrated(_) => Self::Refused,
            ApiError::Unauthorized | ApiError::Conflict | ApiError::Unreachable(_) | ApiError::Unclear(_) => {
                Self::NotNow(Duration::ZERO)
            }
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
