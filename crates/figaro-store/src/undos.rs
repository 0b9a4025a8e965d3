//! Actions of turns that can be undone.

use chrono::{DateTime, Utc};

use super::key;
use super::records::{audit, undos};
use crate::{Result, UndoStore};
use figaro_base::ids::RunId;
use figaro_domain::undo::{MadeIn, TurnUndo, UndoAuthor, Undoable, Undone};

impl UndoStore {
    /// Adds a call to the actions of its turn. Durable a moment later, or with the next durable call, such as the one
    /// that records the result of the call.
    pub fn keep(&self, made: MadeIn, call: Undoable) -> Result<()> {
        self.0.change("keep what can be taken back", move |tables, changes| {
            let key = key::id(made.run);
            let known = tables.undos.find(&key)?;
            let mut undo = known.unwrap_or_else(|| TurnUndo::new(&made));
            undo.add(call, made.at);
            changes.put(&tables.undos, key, &undo)
        })
    }

    /// Returns the actions of a turn that can be undone or were undone; `None` if there are none, or no longer.
    pub fn find(&self, run: RunId) -> Result<Option<TurnUndo>> {
        self.0.read("read what can be taken back", move |tables| tables.undos.find(&key::id(run)))
    }

    /// Assigns the undo of a turn to this person, durably and with its audit entries. From then on nobody else can undo
    /// it. `None`, without a write, if somebody took it before or it is too late.
    pub async fn take(&self, run: RunId, taken: UndoAuthor) -> Result<Option<TurnUndo>> {
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

    /// Records, durably, the outcome of the undone call at this place. Once all outcomes are known, calls that did not
    /// reach Telegram can be undone again.
    pub async fn note_undone(&self, run: RunId, at: usize, outcome: Undone) -> Result<()> {
        self.0
            .change_durably("note what was taken back", move |tables, changes| {
                // The record may have been erased meanwhile.
                let Some(mut undo) = tables.undos.find(&key::id(run))? else { return Ok(()) };
                undo.note(at, outcome);
                changes.put(&tables.undos, key::id(run), &undo.settled())
            })
            .await
    }

    /// Deletes actions that can no longer be undone at this time. Returns the number of their turns.
    pub fn expire(&self, now: DateTime<Utc>) -> Result<usize> {
        self.0.change("forget what can be taken back no more", move |tables, changes| {
            undos::remove_where(tables, changes, |undo| !undo.is_in_time(now))
        })
    }
}
