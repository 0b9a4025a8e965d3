//! A record as it is stored.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::value::FieldValue;
use figaro_base::ids::{ChatId, RecordId, RunId, TaskId, UserId};

/// The most records of a chat; each reading of a history is one.
pub const MAX_RECORDS: usize = 3000;

/// What a chat keeps in a form of one of its packs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The id of the record, unique for ever.
    pub id: RecordId,
    /// The chat that it belongs to.
    pub chat: ChatId,
    /// The name of its pack.
    pub pack: String,
    /// The name of its kind.
    pub kind: String,
    /// What stands in its fields, by their names.
    pub fields: BTreeMap<String, Filled>,
    /// When a reading was taken, UTC; `None` for a record that stands for a thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<DateTime<Utc>>,
    /// Who stated it first; `None` for one of an earlier version, and where nothing of what they said is in it any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_by: Option<UserId>,
    /// The tasks that remind of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reminders: Vec<TaskId>,
    /// When it was first saved, UTC.
    pub created_at: DateTime<Utc>,
    /// When it was last changed, UTC.
    pub updated_at: DateTime<Utc>,
}

/// What stands in a field, and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Filled {
    /// What stands there.
    pub value: FieldValue,
    /// Where it comes from; of what was said in several messages the last.
    pub origin: Origin,
    /// Where else parts of it may come from, the oldest first: what a list or a text had before stands in the new one often.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Origin>,
    /// Without it the record makes no sense: it goes with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_essential: bool,
}

/// Where a value comes from: with what it was said in, it is forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The turn whose question it was taken from.
    pub turn: RunId,
    /// Whose question that was.
    pub user: UserId,
}

impl Filled {
    /// All that it may come from.
    pub fn origins(&self) -> impl Iterator<Item = &Origin> {
        self.earlier.iter().chain([&self.origin])
    }
}

impl Record {
    /// The turns that what stands in it may come from.
    #[must_use]
    pub fn turns(&self) -> BTreeSet<RunId> {
        self.fields.values().flat_map(Filled::origins).map(|one| one.turn).collect()
    }

    /// What stands in a field.
    #[must_use]
    pub fn value(&self, field: &str) -> Option<&FieldValue> {
        self.fields.get(field).map(|filled| &filled.value)
    }

    /// Whether it is somebody's: they stated it first or, where that is not known, all without which it makes no sense.
    #[must_use]
    pub fn is_stated_by(&self, user: &UserId) -> bool {
        if let Some(first) = &self.stated_by {
            return first == user;
        }
        let mut essential = self.fields.values().filter(|filled| filled.is_essential).peekable();
        let is_theirs = |filled: &Filled| filled.origins().any(|origin| origin.user == *user);
        essential.peek().is_some() && essential.all(is_theirs)
    }

    /// Whether it is of this kind of this pack.
    #[must_use]
    pub(crate) fn is_of(&self, pack: &str, kind: &str) -> bool {
        self.pack == pack && self.kind == kind
    }

    /// The records that it refers to.
    pub fn refers_to(&self) -> impl Iterator<Item = RecordId> {
        self.fields.values().filter_map(|filled| match filled.value {
            FieldValue::Ref(record) => Some(record),
            _ => None,
        })
    }

    /// Whether it stands for the same thing as another one of its kind: with the same keys and, of readings, at the same time.
    #[must_use]
    pub(crate) fn is_same_as(&self, other: &Self, keys: &[String]) -> bool {
        self.at == other.at && self.has_keys_of(other, keys)
    }

    /// Whether it has the same keys as another one of its kind, as all readings of a history have.
    #[must_use]
    pub(crate) fn has_keys_of(&self, other: &Self, keys: &[String]) -> bool {
        let is_same = |key: &String| match (self.value(key), other.value(key)) {
            (Some(FieldValue::Text(one)), Some(FieldValue::Text(two))) => plain(one) == plain(two),
            (one, two) => one == two,
        };
        self.is_of(&other.pack, &other.kind) && keys.iter().all(is_same)
    }
}

/// A text as it is compared: without case and needless space.
pub(super) fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
