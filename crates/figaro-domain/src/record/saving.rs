//! What becomes of a record that is to be saved, and of one that loses some of its fields. The store does it in one write.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::kept::{Filled, MAX_RECORDS, Origin, Record};
use super::read::Values;
use super::value::FieldValue;
use figaro_base::ids::{ChatId, RecordId};

/// What is to be saved.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The chat.
    pub chat: ChatId,
    /// The name of the pack.
    pub pack: String,
    /// The name of the kind.
    pub kind: String,
    /// The record that is changed; without it the one with the same keys, else a new one.
    pub record: Option<RecordId>,
    /// What is to stand in its fields; others stay as they are.
    pub values: Values,
    /// When the reading was taken; `None` for records that stand for things.
    pub at: Option<DateTime<Utc>>,
    /// The fields by which records of the kind are told apart.
    pub keys: Vec<String>,
    /// The fields that none is without, the keys among them.
    pub required: Vec<String>,
    /// Where the values come from.
    pub origin: Origin,
    /// The current time.
    pub now: DateTime<Utc>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Saved {
    /// It is a new record.
    New(Record),
    /// A record that was there has changed.
    Changed(Record),
    /// A record that was there says this already.
    Same(Record),
    /// These fields are missing; nothing is saved.
    Missing(Vec<String>),
    /// There is no record with the id; nothing is saved.
    Unknown,
    /// Another record has these keys; nothing is saved.
    Taken(RecordId),
    /// The chat has [`MAX_RECORDS`]; nothing is saved.
    Full,
}

/// What becomes of a draft beside the records that the chat has.
#[must_use]
pub fn saving(kept: &[Record], draft: &Draft) -> Saved {
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
            let Some(found) = kept.iter().find(is_it) else { return Saved::Unknown };
            Some(found)
        }
        None => {
            let asked = filled(new.clone(), draft);
            kept.iter().find(|record| asked.is_same_as(record, &draft.keys))
        }
    };
    let is_new = before.is_none();
    if is_new && kept.len() >= MAX_RECORDS {
        return Saved::Full;
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
        return Saved::Missing(missing);
    }
    let is_other = |other: &&Record| other.id != record.id && record.is_same_as(other, &draft.keys);
    if let Some(other) = kept.iter().find(is_other) {
        return Saved::Taken(other.id);
    }
    match known {
        None => Saved::New(record),
        Some(known) if says_the_same(&known, &record) => Saved::Same(known),
        Some(_) => Saved::Changed(Record { updated_at: draft.now, ..record }),
    }
}

/// The record with the values of a draft. A value that stands there already keeps its origin.
fn filled(mut record: Record, draft: &Draft) -> Record {
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

/// Where parts of a new value may come from, beside its own origin. A list or a text is often changed by writing it anew with what
/// it had; other values are all new.
fn earlier(before: Option<&Filled>, value: &FieldValue, origin: &Origin) -> Vec<Origin> {
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

/// The record without the fields that go; `None` where it makes no sense without them.
#[must_use]
pub fn without_fields(mut record: Record, goes: impl Fn(&Filled) -> bool) -> Option<Record> {
    if record.fields.values().any(|filled| filled.is_essential && goes(filled)) {
        return None;
    }
    record.fields.retain(|_, filled| !goes(filled));
    // A reading without a number tells nothing.
    let is_empty = record.fields.values().all(|filled| filled.is_essential);
    if record.at.is_some() && is_empty { None } else { Some(record) }
}
