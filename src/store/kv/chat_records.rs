//! The records of chats, in the forms of their context packs.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::fault::Fault;
use super::tables::Tables;
use super::{KvStore, key};
use crate::domain::record::{Draft, Record, Rules, Saved, saving};
use crate::ids::{ChatId, RecordId, TaskId};
use crate::store::{RecordStore, Result};

#[async_trait]
impl RecordStore for KvStore {
    async fn records(&self, chat: ChatId) -> Result<Vec<Record>> {
        self.read("read the records", move |tables| oldest_first(tables, chat)).await
    }

    async fn save_record(&self, draft: &Draft) -> Result<Saved> {
        let draft = draft.clone();
        self.change_durably("save a record", move |tables, changes| {
            let saved = saving(&oldest_first(tables, draft.chat)?, &draft);
            if let Saved::New(record) | Saved::Changed(record) = &saved {
                changes.put(&tables.records, key::record(record.chat, record.id), record)?;
            }
            Ok(saved)
        })
        .await
    }

    async fn remove_records(&self, chat: ChatId, records: &[RecordId]) -> Result<Vec<Record>> {
        let ids = records.to_vec();
        self.change_durably("remove records", move |tables, changes| {
            let mut removed = Vec::new();
            for key in ids.into_iter().map(|id| key::record(chat, id)) {
                removed.extend(tables.records.get(&key)?);
                changes.remove(&tables.records, key);
            }
            Ok(removed)
        })
        .await
    }

    async fn restore_records(&self, records: &[Record]) -> Result<()> {
        let records = records.to_vec();
        self.change_durably("put records back", move |tables, changes| {
            records.iter().try_for_each(|record| {
                changes.put(&tables.records, key::record(record.chat, record.id), record)
            })
        })
        .await
    }

    async fn add_reminders(&self, chat: ChatId, record: RecordId, tasks: &[TaskId]) -> Result<()> {
        let tasks = tasks.to_vec();
        self.change_durably("note reminders of a record", move |tables, changes| {
            let key = key::record(chat, record);
            let Some(mut record) = tables.records.get(&key)? else { return Ok(()) };
            record.reminders.extend(
                tasks.iter().filter(|task| !record.reminders.contains(task)).copied().collect::<Vec<_>>(),
            );
            changes.put(&tables.records, key, &record)
        })
        .await
    }

    fn set_pack_rules(&self, rules: BTreeMap<String, Rules>) {
        self.0.pack_rules.set(rules);
    }
}

fn oldest_first(tables: &Tables<'_>, chat: ChatId) -> Result<Vec<Record>, Fault> {
    let mut records = tables.records.list(&key::chat(chat))?;
    records.sort_by_key(|record| (record.created_at, record.id));
    Ok(records)
}
