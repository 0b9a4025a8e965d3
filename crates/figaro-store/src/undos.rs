//! What turns did that can be taken back.

use chrono::{DateTime, Utc};

use super::key;
use super::records::{audit, undos};
use crate::{Result, UndoStore};
use figaro_base::ids::RunId;
use figaro_domain::undo::{MadeIn, Taken, TurnUndo, Undoable, Undone};

impl UndoStore {
    /// Adds a call that was made to what its turn did. It is durable a moment later, or with the next durable call, such as that
    /// which records the result of the call.
    pub async fn keep(&self, made: MadeIn, call: Undoable) -> Result<()> {
        self.0
            .change("keep what can be taken back", move |tables, changes| {
                let key = key::id(made.run);
                let known = tables.undos.find(&key)?;
                let mut undo = known.unwrap_or_else(|| TurnUndo::new(&made));
                undo.add(call, made.at);
                changes.put(&tables.undos, key, &undo)
            })
            .await
    }

    /// What a turn did that can be taken back, or was; `None` where there is nothing, or not any more.
    pub async fn find(&self, run: RunId) -> Result<Option<TurnUndo>> {
        self.0.read("read what can be taken back", move |tables| tables.undos.find(&key::id(run))).await
    }

    /// Has it taken back by somebody, durably and with its entries in the audit log: from then on that is done by whoever this
    /// was, or never. `None`, and nothing is written, if somebody has taken it before or it is too late.
    pub async fn take(&self, run: RunId, taken: Taken) -> Result<Option<TurnUndo>> {
        self.0
            .change_durably("have something taken back", move |tables, changes| {
                let Some(mut undo) = tables.undos.find(&key::id(run))? else { return Ok(None) };
                let audited = undo.audited(&taken);
                if !undo.take(taken) {
                    return Ok(None);
                }
                changes.put(&tables.undos, key::id(run), &undo)?;
                audit::append(tables, changes, audited)?;
                Ok(Some(undo))
            })
            .await
    }

    /// Notes durably what became of the call at this place. Once that is known of all, those that did not reach Telegram can be
    /// taken back anew.
    pub async fn note_undone(&self, run: RunId, at: usize, outcome: Undone) -> Result<()> {
        self.0
            .change_durably("note what was taken back", move |tables, changes| {
                // It may have been erased meanwhile.
                let Some(mut undo) = tables.undos.find(&key::id(run))? else { return Ok(()) };
                undo.note(at, outcome);
                changes.put(&tables.undos, key::id(run), &undo.settled())
            })
            .await
    }

    /// Forgets what can be taken back no more at this time. Returns how many turns it was of.
    pub async fn expire(&self, now: DateTime<Utc>) -> Result<usize> {
        self.0
            .change("forget what can be taken back no more", move |tables, changes| {
                undos::remove_where(tables, changes, |undo| !undo.is_in_time(now))
            })
            .await
    }
}
