//! [`UndoStore`].

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::records::{audit, undos};
use super::{KvStore, key};
use crate::{Result, UndoStore};
use figaro_base::ids::RunId;
use figaro_domain::undo::{MadeIn, Taken, TurnUndo, Undoable, Undone};

#[async_trait]
impl UndoStore for KvStore {
    async fn keep_undo(&self, made: MadeIn, call: Undoable) -> Result<()> {
        self.change("keep what can be taken back", move |tables, changes| {
            let key = key::id(made.run);
            let known = tables.undos.find(&key)?;
            let mut undo = known.unwrap_or_else(|| TurnUndo::new(&made));
            undo.add(call, made.at);
            changes.put(&tables.undos, key, &undo)
        })
        .await
    }

    async fn undo(&self, run: RunId) -> Result<Option<TurnUndo>> {
        self.read("read what can be taken back", move |tables| tables.undos.find(&key::id(run))).await
    }

    async fn take_undo(&self, run: RunId, taken: Taken) -> Result<Option<TurnUndo>> {
        self.change_durably("have something taken back", move |tables, changes| {
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

    async fn note_undone(&self, run: RunId, at: usize, outcome: Undone) -> Result<()> {
        self.change_durably("note what was taken back", move |tables, changes| {
            // It may have been erased meanwhile.
            let Some(mut undo) = tables.undos.find(&key::id(run))? else { return Ok(()) };
            undo.note(at, outcome);
            changes.put(&tables.undos, key::id(run), &undo.settled())
        })
        .await
    }

    async fn expire_undos(&self, now: DateTime<Utc>) -> Result<usize> {
        self.change("forget what can be taken back no more", move |tables, changes| {
            undos::remove_where(tables, changes, |undo| !undo.is_in_time(now))
        })
        .await
    }
}
