//! Saving a record, and removing some of its fields. The store does each in one write.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::kept::{Filled, MAX_RECORDS, Record, ValueOrigin};
use super::read::FieldValues;
use super::value::FieldValue;
use figaro_base::ids::{ChatId, RecordId};

/// Data to be saved.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordDraft {
    /// Chat of the record.
    pub chat: ChatId,
    /// Name of the pack.
    pub pack: String,
    /// Name of the kind.
    pub kind: String,
    /// Record to be changed; if `None`, the one with the same keys, or else a new one.
    pub record: Option<RecordId>,
    /// New values of its fields. Other fields stay as they are.
    pub values: FieldValues,
    /// Time of the reading, UTC; `None` for records that stand for things.
    pub at: Option<DateTime<Utc>>,
    /// Names of the key fields.
    pub keys: Vec<String>,
    /// Names of the required fields, including the keys.
    pub required: Vec<String>,
    /// Origin of the values.
    pub origin: ValueOrigin,
    /// Current time, UTC.
    pub now: DateTime<Utc>,
}

/// Result of saving a draft.
#[derive(Debug, Clone, PartialEq)]
pub enum SaveResult {
    /// A new record was created.
    New(Record),
    /// An existing record was changed.
    Changed(Record),
    /// An existing record already has these values.
    Same(Record),
    /// These required fields are missing; nothing is saved.
    Missing(Vec<String>),
    /// No record has the id; nothing is saved.
    Unknown,
    /// Another record has these keys; nothing is saved.
    Taken(RecordId),
    /// The chat already has [`MAX_RECORDS`]; nothing is saved.
    Full,
}

/// Returns the result of saving a draft beside the existing records of the chat.
#[must_use]
pub fn saving(kept: &[Record], draft: &RecordDraft) -> SaveResult {
    let new = Record {
        id: RecordId::new(),
        chat: draft.chat,
        pack: draft.pack.clone(),
        kind: draft.kind.clone(),
        fields: BTreeMap::new(),
        at: draft.at,
        stated_by: Some(draft.origin.user.clone()),
        reminders: Vec::new(),
        created_at: draft.now,
        updated_at: draft.now,
    };
    let before = match draft.record {
        Some(id) => {
            let is_it = |record: &&Record| record.id == id && record.is_of(&draft.pack, &draft.kind);
            let Some(found) = kept.iter().find(is_it) else { return SaveResult::Unknown };
            Some(found)
        }
        None => {
            let asked = filled(new.clone(), draft);
            kept.iter().find(|record| asked.is_same_as(record, &draft.keys))
        }
    };
    let is_new = before.is_none();
    if is_new && kept.len() >= MAX_RECORDS {
        return SaveResult::Full;
    }
    let known = before.cloned();
    let base = match known.clone() {
        Some(record) => Record { at: draft.at.or(record.at), ..record },
        None => new,
    };
    let record = filled(base, draft);
    let missing = draft.required.iter().filter(|field| !record.fields.contains_key(*field));
    let missing: Vec<String> = missing.cloned().collect();
    if !missing.is_empty() {
        return SaveResult::Missing(missing);
    }
    let is_other = |other: &&Record| other.id != record.id && record.is_same_as(other, &draft.keys);
    if let Some(other) = kept.iter().find(is_other) {
        return SaveResult::Taken(other.id);
    }
    match known {
        None => SaveResult::New(record),
        Some(known) if says_the_same(&known, &record) => SaveResult::Same(known),
        Some(_) => SaveResult::Changed(Record { updated_at: draft.now, ..record }),
    }
}

/// Applies the values of a draft to the record. An unchanged value keeps its origin.
fn filled(mut record: Record, draft: &RecordDraft) -> Record {
    for (name, value) in &draft.values {
        match value {
            None => drop(record.fields.remove(name)),
            Some(value) if record.value(name) == Some(value) => {}
            Some(value) => {
                let is_essential = draft.required.contains(name);
                let earlier = earlier(record.fields.get(name), value, &draft.origin);
                let filled =
                    Filled { value: value.clone(), origin: draft.origin.clone(), earlier, is_essential };
                record.fields.insert(name.clone(), filled);
            }
        }
    }
    record
}

/// Returns further origins of a new value. A new list or text often repeats the old one; other values are entirely new.
fn earlier(before: Option<&Filled>, value: &FieldValue, origin: &ValueOrigin) -> Vec<ValueOrigin> {
    let Some(before) = before.filter(|_| matches!(value, FieldValue::List(_) | FieldValue::Text(_))) else {
        return Vec::new();
    };
    before.origins().filter(|known| *known != origin).cloned().collect()
}

fn says_the_same(one: &Record, other: &Record) -> bool {
    let values = |record: &Record| -> Vec<_> {
        record.fields.iter().map(|(name, filled)| (name.clone(), filled.value.clone())).collect()
    };
    one.at == other.at && values(one) == values(other)
}

/// Removes fields from the record. Returns `None` if the record makes no sense without them.
#[must_use]
pub fn without_fields(mut record: Record, goes: impl Fn(&Filled) -> bool) -> Option<Record> {
    if record.fields.values().any(|filled| filled.is_essential && goes(filled)) {
        return None;
    }
    record.fields.retain(|_, filled| !goes(filled));
    // A reading without a value is useless.
    let is_empty = record.fields.values().all(|filled| filled.is_essential);
    if record.at.is_some() && is_empty { None } else { Some(record) }
}
