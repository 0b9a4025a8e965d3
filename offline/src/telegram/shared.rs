//! Data shared by the parts of the running server: the locked state, its change signal and the clock.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::state::TelegramState;
use crate::Runtime;

/// Handle of the shared data. Clones share it.
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

    /// Calls `look` with the locked state.
    pub(super) fn look<T>(&self, look: impl FnOnce(&TelegramState) -> T) -> T {
        look(&self.0.state.lock())
    }

    /// Changes the state and notifies the receivers of [`Self::changes`].
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut TelegramState) -> T) -> T {
        let result = change(&mut self.0.state.lock());
        self.0.changed.send_replace(());
        result
    }

    /// Returns a receiver that is notified of every change from now on.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.0.changed.subscribe()
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.0.runtime.now()
    }

    /// Resolves when the server must stop.
    pub(super) async fn stopping(&self) {
        self.0.runtime.stopping().await;
    }
}
