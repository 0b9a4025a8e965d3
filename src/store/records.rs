//! The store of the records of chats.

use std::collections::BTreeMap;
use std::fmt::Debug;

use async_trait::async_trait;

use super::error::StoreError;
use crate::domain::record::{Draft, Record, Rules, Saved};
use crate::ids::{ChatId, RecordId, TaskId};

type Result<T> = std::result::Result<T, StoreError>;

/// The records that chats keep in the forms of their context packs.
#[async_trait]
pub trait RecordStore: Debug + Send + Sync {
    /// The records of a chat, the oldest first, also those of packs that it has not chosen now.
    async fn records(&self, chat: ChatId) -> Result<Vec<Record>>;
    /// Saves a record, durably: a new one, or over the one that it means. Gives what became of it.
    async fn save_record(&self, draft: &Draft) -> Result<Saved>;
    /// Removes records, durably, and gives them.
    async fn remove_records(&self, chat: ChatId, records: &[RecordId]) -> Result<Vec<Record>>;
    /// Puts removed records back, durably.
    async fn restore_records(&self, records: &[Record]) -> Result<()>;
    /// Notes, durably, that these tasks remind of a record.
    async fn add_reminders(&self, chat: ChatId, record: RecordId, tasks: &[TaskId]) -> Result<()>;
    /// By what rules of packs messages matter from now on, by the name of the pack: they hold in the chats that have chosen it.
    fn set_pack_rules(&self, rules: BTreeMap<String, Rules>);
}
