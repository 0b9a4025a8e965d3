//! Removal of records, and the check whether they can be restored.

use serde::{Deserialize, Serialize};

use super::book::Book;
use super::kept::{MAX_RECORDS, Record};
use figaro_base::ids::{ChatId, RecordId, TaskId};

/// Records to be removed, with their tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct Removal {
    /// Chat of the records.
    pub chat: ChatId,
    /// Records to be removed.
    pub records: Vec<RecordId>,
    /// Tasks that remind of the records, in addition to those noted in them.
    pub tasks: Vec<TaskId>,
    /// Keys of the kinds of the records.
    pub keys: Vec<KindKeys>,
}

/// Key fields of a kind, which identify its records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindKeys {
    pub(crate) pack: String,
    pub(crate) kind: String,
    pub(crate) keys: Vec<String>,
}

/// Removed records, with everything needed to restore them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Removed {
    /// Removed records, unchanged.
    pub records: Vec<Record>,
    /// Tasks cancelled with the records.
    pub tasks: Vec<TaskId>,
    /// Keys of the kinds of the records.
    pub keys: Vec<KindKeys>,
}

/// Result of restoring records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restored {
    /// All records are restored, with their reminders.
    Done,
    /// Another record has replaced one of them; nothing is restored.
    Taken,
    /// One refers to a record that no longer exists; nothing is restored.
    Orphan,
    /// The chat would exceed [`MAX_RECORDS`]; nothing is restored.
    Full,
}

impl Removal {
    /// Creates the removal of these records of a book.
    #[must_use]
    pub fn of(book: &Book, chat: ChatId, records: Vec<RecordId>, tasks: Vec<TaskId>) -> Self {
        let mut keys: Vec<KindKeys> = Vec::new();
        for record in records.iter().filter_map(|id| book.record(*id)) {
            let Some((pack, kind)) = book.kind_of(record) else { continue };
            let of_kind = KindKeys {
                pack: pack.name.clone(),
                kind: kind.name.clone(),
                keys: kind.keys().map(|key| key.name.clone()).collect(),
            };
            if !keys.contains(&of_kind) {
                keys.push(of_kind);
            }
        }
        Self { chat, records, tasks, keys }
    }
}

impl Removed {
    fn keys_of(&self, record: &Record) -> &[String] {
        let found = self.keys.iter().find(|of_kind| record.is_of(&of_kind.pack, &of_kind.kind));
        found.map(|of_kind| of_kind.keys.as_slice()).unwrap_or_default()
    }
}

/// Checks whether removed records can be restored beside the current records of the chat.
#[must_use]
pub fn restoring(kept: &[Record], removed: &Removed) -> Restored {
    let is_there = |id: RecordId| kept.iter().chain(&removed.records).any(|record| record.id == id);
    let is_taken = |record: &Record| {
        let keys = removed.keys_of(record);
        kept.iter().any(|other| other.id == record.id || (!keys.is_empty() && record.is_same_as(other, keys)))
    };
    if removed.records.iter().any(is_taken) {
        Restored::Taken
    } else if !removed.records.iter().flat_map(Record::refers_to).all(is_there) {
        Restored::Orphan
    } else if kept.len() + removed.records.len() > MAX_RECORDS {
        Restored::Full
    } else {
        Restored::Done
    }
}
