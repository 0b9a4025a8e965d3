//! What the parts of the running server share: the state behind its lock, the signal of its changes, and the clock.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::state::TelegramState;
use crate::Runtime;

/// A handle on it; clones are the same.
#[derive(Clone)]
pub(super) struct SharedTelegram(Arc<TelegramInner>);

struct TelegramInner {
    state: Mutex<TelegramState>,
    changed: watch::Sender<()>,
    runtime: Runtime,
}

impl SharedTelegram {
    pub(super) fn new(state: TelegramState, runtime: &Runtime) -> Self {
        let (state, changed, runtime) = (Mutex::new(state), watch::Sender::new(()), runtime.clone());
        Self(Arc::new(TelegramInner { state, changed, runtime }))
    }

    /// Looks at the state.
    pub(super) fn look<T>(&self, look: impl FnOnce(&TelegramState) -> T) -> T {
        look(&self.0.state.lock())
    }

    /// Changes the state and wakes who waits for changes.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut TelegramState) -> T) -> T {
        let result = change(&mut self.0.state.lock());
        self.0.changed.send_replace(());
        result
    }

    /// Tells of every change from now on.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.0.changed.subscribe()
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.0.runtime.now()
    }

    /// Resolves once the server is to stop.
    pub(super) async fn stopping(&self) {
        self.0.runtime.stopping().await;
    }
}
