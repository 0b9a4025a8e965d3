//! Stored records.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::value::FieldValue;
use figaro_base::ids::{ChatId, RecordId, RunId, TaskId, UserId};

/// Maximum number of records of a chat. Each reading of a history counts.
pub const MAX_RECORDS: usize = 3000;

/// A record of a chat, in a form of one of its packs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Unique id, never reused.
    pub id: RecordId,
    /// Chat of the record.
    pub chat: ChatId,
    /// Name of its pack.
    pub pack: String,
    /// Name of its kind.
    pub kind: String,
    /// Values of its fields, by field name.
    pub fields: BTreeMap<String, Filled>,
    /// Time of the reading, UTC; `None` for a record that stands for a thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<DateTime<Utc>>,
    /// Person who first stated it; `None` for records of an earlier version, and if nothing of what they said is left in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_by: Option<UserId>,
    /// Tasks that remind of the record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reminders: Vec<TaskId>,
    /// Creation time, UTC.
    pub created_at: DateTime<Utc>,
    /// Time of the last change, UTC.
    pub updated_at: DateTime<Utc>,
}

/// Value of a field, with its origin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Filled {
    /// Current value.
    pub value: FieldValue,
    /// Origin of the value; if several messages contributed, the last one.
    pub origin: ValueOrigin,
    /// Other possible origins of parts of the value, oldest first. A new list or text often contains the old one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<ValueOrigin>,
    /// `true` if the record makes no sense without the value. The record is then removed with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_essential: bool,
}

/// Origin of a value. The value is forgotten with the question of the turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueOrigin {
    /// Turn whose question the value was taken from.
    pub turn: RunId,
    /// Person who asked that question.
    pub user: UserId,
}

impl Filled {
    /// Returns all possible origins of the value.
    pub fn origins(&self) -> impl Iterator<Item = &ValueOrigin> {
        self.earlier.iter().chain([&self.origin])
    }
}

impl Record {
    /// Returns the turns that the record's values may come from.
    #[must_use]
    pub fn turns(&self) -> BTreeSet<RunId> {
        self.fields.values().flat_map(Filled::origins).map(|one| one.turn).collect()
    }

    /// Returns the value of a field.
    #[must_use]
    pub fn value(&self, field: &str) -> Option<&FieldValue> {
        self.fields.get(field).map(|filled| &filled.value)
    }

    /// Returns `true` if the record belongs to a person: they first stated it or, if that is unknown, all its essential
    /// values come from them.
    #[must_use]
    pub fn is_stated_by(&self, user: &UserId) -> bool {
        if let Some(first) = &self.stated_by {
            return first == user;
        }
        let mut essential = self.fields.values().filter(|filled| filled.is_essential).peekable();
        let is_theirs = |filled: &Filled| filled.origins().any(|origin| origin.user == *user);
        essential.peek().is_some() && essential.all(is_theirs)
    }

    /// Returns `true` if the record is of this kind of this pack.
    #[must_use]
    pub(crate) fn is_of(&self, pack: &str, kind: &str) -> bool {
        self.pack == pack && self.kind == kind
    }

    /// Returns the records that it refers to.
    pub fn refers_to(&self) -> impl Iterator<Item = RecordId> {
        self.fields.values().filter_map(|filled| match filled.value {
            FieldValue::Ref(record) => Some(record),
            _ => None,
        })
    }

    /// Returns `true` if both records stand for the same thing: same kind, same keys and, for readings, same time.
    #[must_use]
    pub(crate) fn is_same_as(&self, other: &Self, keys: &[String]) -> bool {
        self.at == other.at && self.has_keys_of(other, keys)
    }

    /// Returns `true` if both records have the same kind and keys, as all readings of a history do.
    #[must_use]
    pub(crate) fn has_keys_of(&self, other: &Self, keys: &[String]) -> bool {
        let is_same = |key: &String| match (self.value(key), other.value(key)) {
            (Some(FieldValue::Text(one)), Some(FieldValue::Text(two))) => plain(one) == plain(two),
            (one, two) => one == two,
        };
        self.is_of(&other.pack, &other.kind) && keys.iter().all(is_same)
    }
}

/// Normalizes a text for comparison: lower case, single spaces.
pub(super) fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
