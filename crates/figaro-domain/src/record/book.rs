//! The records of a chat with the packs that it has chosen: what each is called, and which belong together.

use std::sync::Arc;

use chrono::{DateTime, NaiveTime, TimeZone, Utc};
use chrono_tz::Tz;

use super::kept::{Record, plain};
use super::pack::{FieldType, Kind, Pack};
use super::read::Named;
use super::value::FieldValue;
use figaro_base::ids::RecordId;

/// Records refer to others so deep for their names at most.
const MAX_DEPTH: usize = 4;

/// The records of a chat that its packs have a form for.
#[derive(Debug, Clone, Default)]
pub struct Book {
    packs: Vec<Arc<Pack>>,
    records: Vec<Record>,
    zone: Tz,
}

/// A record, or a history of readings with the same keys.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// The pack.
    pub pack: &'a Pack,
    /// The kind.
    pub kind: &'a Kind,
    /// The record; of a history its newest reading.
    pub record: &'a Record,
    /// All readings of a history, the oldest first; the record alone if it is none.
    pub history: Vec<&'a Record>,
}

impl Book {
    /// These records, as far as these packs have a form for them, in a chat of this zone.
    #[must_use]
    pub fn new(packs: Vec<Arc<Pack>>, mut records: Vec<Record>, zone: Tz) -> Self {
        let has = |record: &Record| {
            packs.iter().any(|pack| pack.name == record.pack && pack.kind(&record.kind).is_some())
        };
        records.retain(has);
        Self { packs, records, zone }
    }

    /// The packs that the chat has chosen.
    #[must_use]
    pub fn packs(&self) -> &[Arc<Pack>] {
        &self.packs
    }

    /// The records, the oldest first.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The zone of the chat.
    #[must_use]
    pub const fn zone(&self) -> Tz {
        self.zone
    }

    /// The record with this id.
    #[must_use]
    pub fn record(&self, id: RecordId) -> Option<&Record> {
        self.records.iter().find(|record| record.id == id)
    }

    /// All kinds with their packs.
    pub fn kinds(&self) -> impl Iterator<Item = (&Pack, &Kind)> {
        self.packs.iter().flat_map(|pack| pack.kinds.iter().map(|kind| (pack.as_ref(), kind)))
    }

    /// What the model calls a kind: its name, with the pack before it where two packs have one of this name.
    #[must_use]
    pub fn label(&self, pack: &Pack, kind: &Kind) -> String {
        let is_shared = self.kinds().filter(|(_, other)| other.name == kind.name).nth(1).is_some();
        if is_shared { format!("{}.{}", pack.name, kind.name) } else { kind.name.clone() }
    }

    /// The kind that the model calls so.
    #[must_use]
    pub fn kind(&self, label: &str) -> Option<(&Pack, &Kind)> {
        self.kinds().find(|(pack, kind)| plain(&self.label(pack, kind)) == plain(label))
    }

    /// The kind of a record.
    #[must_use]
    pub fn kind_of(&self, record: &Record) -> Option<(&Pack, &Kind)> {
        self.kinds().find(|(pack, kind)| record.is_of(&pack.name, &kind.name))
    }

    /// What a record is called: what stands in its keys, without the names of others where it has words of its own.
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

    /// What stands in a field, in words.
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

    /// The records that fields may refer to. Readings have no names of their own.
    #[must_use]
    pub fn names(&self, pack: &str) -> Vec<Named> {
        let named =
            |record: &Record| Named { id: record.id, kind: record.kind.clone(), name: self.name(record) };
        self.records.iter().filter(|record| record.pack == pack && record.at.is_none()).map(named).collect()
    }

    /// The records that refer to one, each once.
    #[must_use]
    pub fn referring(&self, id: RecordId) -> Vec<&Record> {
        self.records.iter().filter(|record| record.refers_to().any(|other| other == id)).collect()
    }

    /// Everything there is, in the order of packs and kinds; of a kind what is due soonest, else by name. A history is one.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry<'_>> {
        self.kinds().flat_map(|(pack, kind)| self.entries_of(pack, kind)).collect()
    }

    /// Those of one kind.
    #[must_use]
    pub fn entries_of<'a>(&'a self, pack: &'a Pack, kind: &'a Kind) -> Vec<Entry<'a>> {
        let keys: Vec<String> = kind.keys().map(|key| key.name.clone()).collect();
        let mut entries: Vec<Entry<'a>> = Vec::new();
        for record in self.records.iter().filter(|record| record.is_of(&pack.name, &kind.name)) {
            let is_same =
                |other: &Entry<'_>| kind.series.is_some() && record.has_keys_of(other.record, &keys);
            match entries.iter_mut().find(|entry| is_same(entry)) {
                Some(entry) => entry.history.push(record),
                None => entries.push(Entry { pack, kind, record, history: vec![record] }),
            }
        }
        for entry in &mut entries {
            entry.history.sort_by_key(|record| (record.at, record.id));
            entry.record = entry.history.last().copied().unwrap_or(entry.record);
        }
        entries.sort_by_key(|entry| (self.due(entry), self.name(entry.record).to_lowercase()));
        entries
    }

    /// The day or time that an entry of a kind with such a field is for.
    #[must_use]
    pub fn due(&self, entry: &Entry<'_>) -> Option<DateTime<Utc>> {
        let field = entry.kind.upcoming.as_deref()?;
        match entry.record.value(field)? {
            FieldValue::Moment(at) => Some(*at),
            // A day lasts until its end.
            FieldValue::Date(day) => {
                let end = day.succ_opt()?.and_time(NaiveTime::MIN);
                Some(self.zone.from_local_datetime(&end).earliest()?.with_timezone(&Utc))
            }
            _ => None,
        }
    }

    /// The entry that a record is in.
    #[must_use]
    pub fn entry(&self, id: RecordId) -> Option<Entry<'_>> {
        let (pack, kind) = self.kind_of(self.record(id)?)?;
        let mut entries = self.entries_of(pack, kind).into_iter();
        entries.find(|entry| entry.history.iter().any(|record| record.id == id))
    }
}
