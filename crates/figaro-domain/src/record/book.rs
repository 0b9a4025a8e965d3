//! Records of a chat with its chosen packs: names of records and relations between them.

use std::sync::Arc;

use chrono::{DateTime, NaiveTime, TimeZone, Utc};
use figaro_base::tz::Tz;

use super::kept::{Record, plain};
use super::pack::{FieldType, Kind, Pack};
use super::read::NamedRecord;
use super::value::FieldValue;
use figaro_base::ids::RecordId;

/// Maximum depth of references followed for the name of a record.
const MAX_DEPTH: usize = 4;

/// Records of a chat that belong to its packs.
#[derive(Debug, Clone, Default)]
pub struct Book {
    packs: Vec<Arc<Pack>>,
    records: Vec<Record>,
    zone: Tz,
}

/// A record, or a history of readings with the same keys.
#[derive(Debug, Clone)]
pub struct BookEntry<'a> {
    /// Pack of the record.
    pub pack: &'a Pack,
    /// Kind of the record.
    pub kind: &'a Kind,
    /// The record; in a history the newest reading.
    pub record: &'a Record,
    /// All readings of a history, oldest first. Holds only the record if it is no history.
    pub history: Vec<&'a Record>,
}

impl Book {
    /// Creates a book of the records that belong to these packs, for a chat in this time zone.
    #[must_use]
    pub fn new(packs: Vec<Arc<Pack>>, mut records: Vec<Record>, zone: Tz) -> Self {
        let has = |record: &Record| {
            packs.iter().any(|pack| pack.name == record.pack && pack.kind(&record.kind).is_some())
        };
        records.retain(has);
        Self { packs, records, zone }
    }

    /// Returns the packs chosen for the chat.
    #[must_use]
    pub fn packs(&self) -> &[Arc<Pack>] {
        &self.packs
    }

    /// Returns the records, oldest first.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the time zone of the chat.
    #[must_use]
    pub const fn zone(&self) -> Tz {
        self.zone
    }

    /// Returns the record with this id.
    #[must_use]
    pub fn record(&self, id: RecordId) -> Option<&Record> {
        self.records.iter().find(|record| record.id == id)
    }

    /// Returns all kinds with their packs.
    pub fn kinds(&self) -> impl Iterator<Item = (&Pack, &Kind)> {
        self.packs.iter().flat_map(|pack| pack.kinds.iter().map(|kind| (pack.as_ref(), kind)))
    }

    /// Returns the model's label for a kind: its name, prefixed with the pack if two packs have a kind of this name.
    #[must_use]
    pub fn label(&self, pack: &Pack, kind: &Kind) -> String {
        let is_shared = self.kinds().filter(|(_, other)| other.name == kind.name).nth(1).is_some();
        if is_shared { format!("{}.{}", pack.name, kind.name) } else { kind.name.clone() }
    }

    /// Returns the kind with this label.
    #[must_use]
    pub fn kind(&self, label: &str) -> Option<(&Pack, &Kind)> {
        self.kinds().find(|(pack, kind)| plain(&self.label(pack, kind)) == plain(label))
    }

    /// Returns the kind of a record, with its pack.
    #[must_use]
    pub fn kind_of(&self, record: &Record) -> Option<(&Pack, &Kind)> {
        self.kinds().find(|(pack, kind)| record.is_of(&pack.name, &kind.name))
    }

    /// Returns the name of a record: the values of its keys. Names of referenced records are used only if it has no other
    /// keys.
    #[must_use]
    pub fn name(&self, record: &Record) -> String {
        self.name_within(record, MAX_DEPTH)
    }

    fn name_within(&self, record: &Record, depth: usize) -> String {
        let Some((_, kind)) = self.kind_of(record) else { return String::new() };
        let of = |is_ref: bool| -> Vec<String> {
            let keys = kind.keys().filter(|key| matches!(key.form, FieldType::Ref(_)) == is_ref);
            let values = keys.filter_map(|key| record.value(&key.name));
            values.map(|value| self.shown_within(value, depth)).filter(|text| !text.is_empty()).collect()
        };
        let own = of(false);
        if own.is_empty() { of(true).join(", ") } else { own.join(", ") }
    }

    /// Returns the value of a field as text.
    #[must_use]
    pub fn shown(&self, value: &FieldValue) -> String {
        self.shown_within(value, MAX_DEPTH)
    }

    fn shown_within(&self, value: &FieldValue, depth: usize) -> String {
        let name = |id: RecordId| {
            let deeper = depth.checked_sub(1)?;
            self.record(id).map(|record| self.name_within(record, deeper))
        };
        value.shown(self.zone, name)
    }

    /// Returns the records of a pack that fields may refer to. Readings are not included.
    #[must_use]
    pub fn names(&self, pack: &str) -> Vec<NamedRecord> {
        let named = |record: &Record| NamedRecord {
            id: record.id,
            kind: record.kind.clone(),
            name: self.name(record),
        };
        self.records.iter().filter(|record| record.pack == pack && record.at.is_none()).map(named).collect()
    }

    /// Returns the records that refer to one, without duplicates.
    #[must_use]
    pub fn referring(&self, id: RecordId) -> Vec<&Record> {
        self.records.iter().filter(|record| record.refers_to().any(|other| other == id)).collect()
    }

    /// Returns all entries, in the order of packs and kinds. Within a kind they are sorted by due time, then by name. A
    /// history is one entry.
    #[must_use]
    pub fn entries(&self) -> Vec<BookEntry<'_>> {
        self.kinds().flat_map(|(pack, kind)| self.entries_of(pack, kind)).collect()
    }

    /// Returns the entries of one kind.
    #[must_use]
    pub fn entries_of<'a>(&'a self, pack: &'a Pack, kind: &'a Kind) -> Vec<BookEntry<'a>> {
        let keys: Vec<String> = kind.keys().map(|key| key.name.clone()).collect();
        let mut entries: Vec<BookEntry<'a>> = Vec::new();
        for record in self.records.iter().filter(|record| record.is_of(&pack.name, &kind.name)) {
            let is_same =
                |other: &BookEntry<'_>| kind.series.is_some() && record.has_keys_of(other.record, &keys);
            match entries.iter_mut().find(|entry| is_same(entry)) {
                Some(entry) => entry.history.push(record),
                None => entries.push(BookEntry { pack, kind, record, history: vec![record] }),
            }
        }
        for entry in &mut entries {
            entry.history.sort_by_key(|record| (record.at, record.id));
            entry.record = entry.history.last().copied().unwrap_or(entry.record);
        }
        entries.sort_by_key(|entry| (self.due(entry), self.name(entry.record).to_lowercase()));
        entries
    }

    /// Returns the due time of an entry, if its kind has a field for it.
    #[must_use]
    pub fn due(&self, entry: &BookEntry<'_>) -> Option<DateTime<Utc>> {
        let field = entry.kind.upcoming.as_deref()?;
        match entry.record.value(field)? {
            FieldValue::Moment(at) => Some(*at),
            // A day is due at its end.
            FieldValue::Date(day) => {
                let end = day.succ_opt()?.and_time(NaiveTime::MIN);
                Some(self.zone.from_local_datetime(&end).earliest()?.with_timezone(&Utc))
            }
            _ => None,
        }
    }

    /// Returns the entry that contains a record.
    #[must_use]
    pub fn entry(&self, id: RecordId) -> Option<BookEntry<'_>> {
        let (pack, kind) = self.kind_of(self.record(id)?)?;
        let mut entries = self.entries_of(pack, kind).into_iter();
        entries.find(|entry| entry.history.iter().any(|record| record.id == id))
    }
}
