//! The store of the records of chats.

use std::collections::BTreeMap;
use std::fmt::Debug;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::error::StoreError;
use super::tasks::{TaskAdded, TaskLimits};
use figaro_base::ids::{ChatId, RecordId, RunId};
use figaro_domain::audit::AuditEvent;
use figaro_domain::record::{Draft, Forms, Record, Removal, Removed, Restored, Rules, Saved};
use figaro_domain::task::Task;
use figaro_domain::undo::MadeIn;
use figaro_domain::undo::Undone;

type Result<T> = std::result::Result<T, StoreError>;

/// What became of a record that was to be saved, and of the tasks that remind of it or of what names it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordSaved {
    /// What became of the record.
    pub saved: Saved,
    /// Tasks that remind of it as it is now: they were changed, or made in addition.
    pub moved: Vec<Task>,
    /// Tasks that have nothing to remind of any more and were cancelled.
    pub ended: Vec<Task>,
    /// Tasks that remind of it as it was: they say something else than it had offered, so nothing was done about them.
    pub left: Vec<Task>,
    /// So many times that are new have no reminder: there are as many tasks as there may be.
    pub without_room: usize,
}

/// By whom something is removed that can be undone for a day: the model, in a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct ByModel {
    /// The turn in which it is removed.
    pub made: MadeIn,
    /// What the removed record is called.
    pub name: String,
    /// What the audit log is told.
    pub event: AuditEvent,
}

/// The records that chats keep in the forms of their context packs.
#[async_trait]
pub trait RecordStore: Debug + Send + Sync {
    /// The records of a chat, the oldest first, also those of packs that it has not chosen now.
    async fn records(&self, chat: ChatId) -> Result<Vec<Record>>;
    /// Saves a record, durably: a new one, or over the one that it means. In the same write the reminders of what has changed
    /// follow it, by these forms and within these limits. Gives what became of all that.
    async fn save_record(&self, draft: &Draft, forms: &Forms, limits: TaskLimits) -> Result<RecordSaved>;
    /// Removes records and cancels what reminds of them, durably, and gives both. Done by the model, it is kept to be undone and
    /// told to the audit log, in the same write.
    async fn remove_records(
        &self,
        removal: &Removal,
        by: Option<ByModel>,
        now: DateTime<Utc>,
    ) -> Result<Removed>;
    /// Puts removed records back, durably, with what reminded of them; all or none.
    async fn restore_records(&self, chat: ChatId, removed: &Removed, now: DateTime<Utc>) -> Result<Restored>;
    /// Puts back what the call at this place of a turn has removed, and notes in the same write what became of it: asked for once
    /// more after a crash, it is done once. Nothing comes back where what can be undone was forgotten meanwhile.
    async fn undo_removal(&self, run: RunId, at: usize, now: DateTime<Utc>) -> Result<Undone>;
    /// Adds tasks that remind of a record, and notes them with it, durably: all, or none where one of them finds no room. Gives what
    /// became of each; none where the record is gone.
    async fn add_reminders(
        &self,
        record: RecordId,
        tasks: &[Task],
        limits: TaskLimits,
    ) -> Result<Vec<TaskAdded>>;
    /// By what rules of packs messages matter from now on, by the name of the pack: they hold in the chats that have chosen it.
    fn set_pack_rules(&self, rules: BTreeMap<String, Rules>);
}
