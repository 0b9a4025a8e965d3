//! The port for what turns did that can be taken back.

use std::fmt::Debug;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::error::StoreError;
use figaro_base::ids::RunId;
use figaro_domain::undo::{MadeIn, Taken, TurnUndo, Undoable, Undone};

type Result<T> = std::result::Result<T, StoreError>;

/// What turns did that can be taken back, for as long as it can be.
#[async_trait]
pub trait UndoStore: Debug + Send + Sync {
    /// Adds a call that was made to what its turn did. It is durable a moment later, or with the next durable call, such as that
    /// which records the result of the call.
    async fn keep_undo(&self, made: MadeIn, call: Undoable) -> Result<()>;
    /// What a turn did that can be taken back, or was; `None` where there is nothing, or not any more.
    async fn undo(&self, run: RunId) -> Result<Option<TurnUndo>>;
    /// Has it taken back by somebody, durably and with its entries in the audit log: from then on that is done by whoever this
    /// was, or never. `None`, and nothing is written, if somebody has taken it before or it is too late.
    async fn take_undo(&self, run: RunId, taken: Taken) -> Result<Option<TurnUndo>>;
    /// Notes durably what became of the call at this place. Once that is known of all, those that did not reach Telegram can be
    /// taken back anew.
    async fn note_undone(&self, run: RunId, at: usize, outcome: Undone) -> Result<()>;
    /// Forgets what can be taken back no more at this time. Returns how many turns it was of.
    async fn expire_undos(&self, now: DateTime<Utc>) -> Result<usize>;
}
