//! What is removed together, and whether it can be put back.

use serde::{Deserialize, Serialize};

use super::book::Book;
use super::kept::{MAX_RECORDS, Record};
use figaro_base::ids::{ChatId, RecordId, TaskId};

/// What is to be removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Removal {
    /// The chat whose records they are.
    pub chat: ChatId,
    /// The records that are to go.
    pub records: Vec<RecordId>,
    /// Tasks that remind of them beside those that are noted with them.
    pub tasks: Vec<TaskId>,
    /// The keys of the kinds that there are.
    pub keys: Vec<KindKeys>,
}

/// By which fields records of a kind are told apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindKeys {
    /// The name of the pack.
    pub(crate) pack: String,
    /// The name of the kind.
    pub(crate) kind: String,
    /// The names of the fields.
    pub(crate) keys: Vec<String>,
}

/// What was removed, with all that it takes to put it back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Removed {
    /// The records that went, as they were.
    pub records: Vec<Record>,
    /// The tasks that were cancelled with them.
    pub tasks: Vec<TaskId>,
    /// The keys of their kinds.
    pub keys: Vec<KindKeys>,
}

/// What became of records that were to be put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restored {
    /// All records are there again, with what reminded of them.
    Done,
    /// Another record has taken the place of one; nothing is back.
    Taken,
    /// One belongs to a record that is gone; nothing is back.
    Orphan,
    /// The chat has [`MAX_RECORDS`]; nothing is back.
    Full,
}

impl Removal {
    /// The removal of these records of a book.
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

/// Whether removed records can be put back beside those that the chat has now.
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
