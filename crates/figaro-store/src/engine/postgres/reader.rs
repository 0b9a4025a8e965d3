//! Reads of the owner's entries, from the cache as far as they are known, and of other entries.

use std::ops::Bound;
use std::sync::Arc;

use super::super::batch::Keys;
use super::super::port::{KeyValue, Result};
use super::cache::{ReadCache, SMALL_TABLE, TableRead};
use super::client::DatabaseClient;
use super::rows::{self, EntryPage};
use super::span::{KeySpan, KnownPage, ScanOrder};

/// Number of entries that a read of one key asks for. Keys are asked for in rising order, most of them before they exist: the
/// answer tells that of all further ones, too.
const AHEAD: usize = 4;

/// Reads entries. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct RowReader {
    client: DatabaseClient,
    /// Keys of the owner, whose entries are cached.
    owned: Option<KeySpan>,
    cache: Arc<ReadCache>,
}

/// Entries from one end of a range.
#[derive(Debug)]
pub(super) struct ReadPage {
    pub(super) entries: Vec<KeyValue>,
    /// Rest of the range; `None` if that was all.
    pub(super) rest: Option<Keys>,
}

impl RowReader {
    /// Makes a reader for the owner of the keys that begin with `owned`; without one if it is empty.
    pub(super) fn new(client: DatabaseClient, cache: Arc<ReadCache>, owned: &[u8]) -> Self {
        let owned = Some(owned).filter(|owned| !owned.is_empty());
        Self { client, owned: owned.and_then(|owned| KeySpan::of(&Keys::beginning_with(owned))), cache }
    }

    /// Returns the value of a key; `None` if there is none. Blocking.
    pub(super) fn get(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(owned) = self.owned.as_ref().filter(|owned| owned.contains(key)) else {
            return rows::get(&self.client, table, key);
        };
        if let Some(known) = self.cache.value(table, key) {
            return Ok(known);
        }
        let keys = KeySpan { begin: key.to_vec(), end: owned.end.clone() };
        let of = TableRead { table, with_values: true };
        let found = self.cached(of, &keys, ScanOrder::Ascending, AHEAD)?.entries.into_iter().next();
        Ok(found.filter(|(first, _)| first == key).map(|(_, value)| value))
    }

    /// Reads up to `size` entries from one end of these keys. Blocking.
    pub(super) fn page(
        &self,
        of: TableRead<'_>,
        keys: &Keys,
        order: ScanOrder,
        size: usize,
    ) -> Result<ReadPage> {
        if let Some(owned) = &self.owned
            && let Some(span) = KeySpan::of(keys)
            && owned.begin <= span.begin
            && span.end <= owned.end
        {
            let KnownPage { entries, part } = self.cached(of, &span, order, size)?;
            let rest = span.without(&part, order);
            return Ok(ReadPage { entries, rest: (!rest.is_empty()).then(|| rest.keys()) });
        }
        let entries = self.read(of, keys, order, size)?;
        let last =
            entries.last().filter(|_| entries.len() == size).map(|(key, _)| Bound::Excluded(key.clone()));
        let rest = last.map(|last| match order {
            ScanOrder::Ascending => Keys { begin: last, end: keys.end.clone() },
            ScanOrder::Descending => Keys { begin: keys.begin.clone(), end: last },
        });
        Ok(ReadPage { entries, rest })
    }

    /// Reads a page of the owner's entries. The first read of a table asks for all of it, as it may be small.
    fn cached(&self, of: TableRead<'_>, keys: &KeySpan, order: ScanOrder, size: usize) -> Result<KnownPage> {
        loop {
            if let Some(known) = self.cache.page(of, keys, order, size) {
                return Ok(known);
            }
            let reading = self.cache.reading(of);
            if let Some(owned) = self.owned.as_ref().filter(|_| reading.is_first) {
                let (order, size) = (ScanOrder::Ascending, SMALL_TABLE + 1);
                let entries = self.read(of, &owned.keys(), order, size)?;
                reading.keep(owned, &entries, entries.len() < size, order);
                continue;
            }
            let entries = self.read(of, &keys.keys(), order, size)?;
            let is_all = entries.len() < size;
            reading.keep(keys, &entries, is_all, order);
            let part = keys.read_to(entries.last().map(|(key, _)| key.as_slice()), is_all, order);
            return Ok(KnownPage { entries, part });
        }
    }

    fn read(&self, of: TableRead<'_>, keys: &Keys, order: ScanOrder, size: usize) -> Result<Vec<KeyValue>> {
        let TableRead { table, with_values } = of;
        rows::page(&self.client, EntryPage { table, keys, order, size, with_values })
    }
}
