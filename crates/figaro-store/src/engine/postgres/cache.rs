//! Entries that were read or written before. Only the owner of a lease writes them, so what it committed is what they are.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::super::batch::Batch;
use super::super::port::KeyValue;
use super::span::{KeySpan, KnownEntries, KnownPage, ScanOrder, size_of};

/// Maximum size of the cached entries of a bot in bytes: enough for current conversations, not for the history.
const BYTES: usize = 8 * 1024 * 1024;
/// The same for all bots of a process, which have equal parts of it.
const ALL_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of entries of a page that is cached. A reader of more reads them once.
const PAGE: usize = 64;
/// Maximum number of entries of a table that is cached whole: what is in progress, such as calls and deliveries. A new turn
/// asks each of these tables for records that it cannot have yet.
pub(super) const SMALL_TABLE: usize = 256;

/// Room of the caches of all bots of a process, of which each cache holds a share. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct CacheRoom(Arc<CacheShare>);

/// Share of a cache, until it is dropped.
#[derive(Debug, Clone, Default)]
struct CacheShare(Arc<()>);

impl CacheShare {
    /// Returns the maximum size of the cache in bytes. The room itself holds one reference more than there are caches.
    fn limit(&self) -> usize {
        let caches = Arc::strong_count(&self.0).saturating_sub(1).max(1);
        BYTES.min(ALL_BYTES / caches)
    }
}

/// Entries of one owner, as far as they are known. If they take too much room, all are forgotten.
#[derive(Debug, Default)]
pub(super) struct ReadCache {
    known: Mutex<CachedTables>,
    share: CacheShare,
}

/// Entries of a table, with values or as keys alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TableRead<'a> {
    pub(super) table: &'a str,
    pub(super) with_values: bool,
}

#[derive(Debug, Default)]
struct CachedTables {
    /// With values, and keys alone.
    with_values: HashMap<String, KnownTable>,
    keys: HashMap<String, KnownTable>,
    /// Reads of the database that have begun, by number.
    reads: HashMap<u64, RunningRead>,
    last_read: u64,
}

#[derive(Debug, Default)]
struct KnownTable {
    known: KnownEntries,
    /// `true` once the whole table was asked for, to see if it is small.
    is_tried_whole: bool,
}

/// Changes that were committed since a read began: the database may have read before them.
#[derive(Debug)]
struct RunningRead {
    table: String,
    changes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl CachedTables {
    fn table_mut(&mut self, of: TableRead<'_>) -> &mut KnownTable {
        let tables = if of.with_values { &mut self.with_values } else { &mut self.keys };
        tables.entry(of.table.to_owned()).or_default()
    }
}

impl TableRead<'_> {
    /// Returns what a read of this kind shows of a value.
    const fn shown(self, value: &[u8]) -> &[u8] {
        if self.with_values { value } else { &[] }
    }
}

/// A read of the database whose result may be kept.
#[derive(Debug)]
pub(super) struct CacheableRead<'a> {
    cache: &'a ReadCache,
    of: TableRead<'a>,
    number: u64,
    /// `true` for the first read of a table: it may be small, so all of it is asked for.
    pub(super) is_first: bool,
}

impl Drop for CacheableRead<'_> {
    fn drop(&mut self) {
        self.cache.known.lock().reads.remove(&self.number);
    }
}

impl CacheableRead<'_> {
    /// Keeps a page that the database returned of these keys, as far as it is not too large. `is_all` tells that there were no
    /// further entries.
    pub(super) fn keep(&self, keys: &KeySpan, page: &[KeyValue], is_all: bool, order: ScanOrder) {
        let mut locked = self.cache.known.lock();
        let held = &mut *locked;
        let changes = held.reads.get_mut(&self.number).map(|read| std::mem::take(&mut read.changes));
        let table = held.table_mut(self.of);
        let is_small = page.len() <= SMALL_TABLE;
        if std::mem::replace(&mut table.is_tried_whole, true) && page.len() > PAGE || !is_small {
            return;
        }
        let mut rest = self.cache.share.limit() / 8;
        let fits = |(key, value): &&KeyValue| {
            let left = rest.checked_sub(size_of(key, value));
            rest = left.unwrap_or_default();
            left.is_some()
        };
        let kept: Vec<&KeyValue> = page.iter().take_while(fits).collect();
        if kept.is_empty() && !(is_all && page.is_empty()) {
            return;
        }
        let last = kept.last().map(|(key, _)| key.as_slice());
        let span = keys.read_to(last, is_all && kept.len() == page.len(), order);
        table.known.know(&span);
        let read = kept.into_iter().map(|(key, value)| (key, Some(value)));
        let since = changes.iter().flatten().map(|(key, value)| (key, value.as_ref()));
        for (key, value) in read.chain(since).filter(|(key, _)| span.contains(key)) {
            table.known.change(key, value.map(|value| self.of.shown(value)));
        }
        self.cache.limit(held);
    }
}

impl ReadCache {
    /// Makes an empty cache among those of other bots.
    pub(super) fn among(room: &CacheRoom) -> Self {
        Self { known: Mutex::default(), share: CacheShare::clone(&room.0) }
    }

    /// Returns the value of a key, with `Some(None)` for a key without one; `None` if that is not known.
    pub(super) fn value(&self, table: &str, key: &[u8]) -> Option<Option<Vec<u8>>> {
        self.known.lock().with_values.get(table)?.known.value(key)
    }

    /// Returns up to `size` entries from one end of these keys; `None` if nothing is known of that end.
    pub(super) fn page(
        &self,
        of: TableRead<'_>,
        keys: &KeySpan,
        order: ScanOrder,
        size: usize,
    ) -> Option<KnownPage> {
        let held = self.known.lock();
        let tables = if of.with_values { &held.with_values } else { &held.keys };
        tables.get(of.table)?.known.page(keys, order, size)
    }

    /// Notes that the database is about to be read.
    pub(super) fn reading<'a>(&'a self, of: TableRead<'a>) -> CacheableRead<'a> {
        let mut held = self.known.lock();
        held.last_read += 1;
        let number = held.last_read;
        held.reads.insert(number, RunningRead { table: of.table.to_owned(), changes: Vec::new() });
        let is_first = !held.table_mut(of).is_tried_whole;
        CacheableRead { cache: self, of, number, is_first }
    }

    /// Takes over the changes of a commit.
    pub(super) fn apply(&self, batch: &Batch) {
        let mut locked = self.known.lock();
        let held = &mut *locked;
        for (name, changes) in batch.tables() {
            for (key, value) in changes {
                for read in held.reads.values_mut().filter(|read| read.table == name) {
                    read.changes.push((key.to_vec(), value.map(<[u8]>::to_vec)));
                }
                let keys_alone = value.map(|_value| [].as_slice());
                for (tables, value) in [(&mut held.with_values, value), (&mut held.keys, keys_alone)] {
                    if let Some(table) = tables.get_mut(name) {
                        table.known.change(key, value);
                    }
                }
            }
        }
        self.limit(held);
    }

    /// Forgets all entries if they are too large.
    fn limit(&self, held: &mut CachedTables) {
        let tables = || held.with_values.values().chain(held.keys.values());
        if tables().map(|table| table.known.bytes()).sum::<usize>() > self.share.limit() {
            let tables = held.with_values.values_mut().chain(held.keys.values_mut());
            tables.for_each(|table| table.known = KnownEntries::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const TABLE: &str = "t";

    /// Entries as the database has them.
    type Database = BTreeMap<Vec<u8>, Vec<u8>>;

    #[derive(Debug, Clone)]
    enum Step {
        Commit(Vec<(Vec<u8>, Option<Vec<u8>>)>),
        /// A page is asked for; if it is not known, a commit comes between the database's answer and its keeping, too.
        Read(KeySpan, bool, usize, bool, Vec<(Vec<u8>, Option<Vec<u8>>)>),
    }

    fn key() -> impl Strategy<Value = Vec<u8>> {
        vec(0..3_u8, 1..4)
    }

    fn changes() -> impl Strategy<Value = Vec<(Vec<u8>, Option<Vec<u8>>)>> {
        vec((key(), proptest::option::of(vec(any::<u8>(), 0..3))), 0..4)
    }

    fn step() -> impl Strategy<Value = Step> {
        let span = (key(), key()).prop_map(|(one, other)| {
            let (begin, end) = if one < other { (one, other) } else { (other, one) };
            KeySpan { begin, end }
        });
        let span = span.prop_filter("it is empty", |span| !span.is_empty());
        prop_oneof![
            changes().prop_map(Step::Commit),
            (span, any::<bool>(), 1..6_usize, any::<bool>(), changes()).prop_map(
                |(span, ascends, size, values, then)| Step::Read(span, ascends, size, values, then)
            ),
        ]
    }

    fn commit(cache: &ReadCache, database: &mut Database, changes: &[(Vec<u8>, Option<Vec<u8>>)]) {
        let mut batch = Batch::default();
        for (key, value) in changes {
            match value {
                Some(value) => {
                    batch.put(TABLE, key.clone(), value.clone());
                    database.insert(key.clone(), value.clone());
                }
                None => {
                    batch.remove(TABLE, key.clone());
                    database.remove(key);
                }
            }
        }
        cache.apply(&batch);
    }

    /// Entries of a span from one end, as a read shows them.
    fn entries(database: &Database, span: &KeySpan, order: ScanOrder, with_values: bool) -> Vec<KeyValue> {
        let shown = |value: &Vec<u8>| if with_values { value.clone() } else { Vec::new() };
        let mut all: Vec<KeyValue> = database
            .iter()
            .filter(|(key, _)| span.contains(key))
            .map(|(key, value)| (key.clone(), shown(value)))
            .collect();
        if order == ScanOrder::Descending {
            all.reverse();
        }
        all
    }

    fn read(cache: &ReadCache, database: &mut Database, step: &Step) {
        let Step::Read(span, ascends, size, with_values, then) = step else { return };
        let order = if *ascends { ScanOrder::Ascending } else { ScanOrder::Descending };
        let (of, size) = (TableRead { table: TABLE, with_values: *with_values }, *size);
        if let Some(KnownPage { entries: found, part }) = cache.page(of, span, order, size) {
            assert!(!part.is_empty() && found.len() <= size);
            assert_eq!(found, entries(database, &part, order, *with_values), "{span:?} {part:?}");
            let near = if *ascends { part.begin == span.begin } else { part.end == span.end };
            assert!(near, "{span:?} {part:?}");
            return;
        }
        let reading = cache.reading(of);
        let mut page = entries(database, span, order, *with_values);
        page.truncate(size);
        commit(cache, database, then);
        reading.keep(span, &page, page.len() < size, order);
    }

    proptest! {
        #[test]
        fn everything_known_is_what_the_database_has(steps in vec(step(), 1..40)) {
            let (cache, mut database) = (ReadCache::default(), Database::new());
            for step in &steps {
                match step {
                    Step::Commit(changes) => commit(&cache, &mut database, changes),
                    step @ Step::Read(..) => read(&cache, &mut database, step),
                }
                for key in database.keys().cloned().chain([vec![0], vec![1, 1], vec![2]]) {
                    if let Some(known) = cache.value(TABLE, &key) {
                        prop_assert_eq!(known, database.get(&key).cloned(), "{:?}", key);
                    }
                }
                prop_assert!(cache.known.lock().reads.is_empty());
            }
        }
    }

    #[test]
    fn a_bot_forgets_everything_when_that_is_more_than_its_part() {
        let (room, whole) = (CacheRoom::default(), KeySpan { begin: vec![0], end: vec![9] });
        let (cache, of) = (ReadCache::among(&room), TableRead { table: TABLE, with_values: true });
        let clients: Vec<CacheRoom> = vec![room.clone(); 100];
        assert_eq!(cache.share.limit(), BYTES, "clients are no caches");
        let others: Vec<ReadCache> = (1..16).map(|_| ReadCache::among(&room)).collect();
        assert_eq!(cache.share.limit(), ALL_BYTES / 16);
        cache.reading(of).keep(&whole, &[(vec![1], b"x".to_vec())], true, ScanOrder::Ascending);
        assert_eq!(cache.value(TABLE, &[1]), Some(Some(b"x".to_vec())));
        let mut large = Batch::default();
        large.put(TABLE, vec![2], vec![0; cache.share.limit()]);
        cache.apply(&large);
        assert_eq!(cache.value(TABLE, &[1]), None);
        assert!(!cache.reading(of).is_first, "a table is tried whole once");
        drop((others, clients));
        assert_eq!(cache.share.limit(), BYTES);
    }

    #[test]
    fn of_a_page_that_is_too_large_the_beginning_is_known() {
        let (cache, of) = (ReadCache::default(), TableRead { table: TABLE, with_values: true });
        let (keys, large) = (KeySpan { begin: vec![0], end: vec![9] }, vec![0; BYTES / 16]);
        let page: Vec<KeyValue> = (1..5).map(|number| (vec![number], large.clone())).collect();
        cache.reading(of).keep(&keys, &page, true, ScanOrder::Ascending);
        let known = |key: u8| cache.value(TABLE, &[key]).map(|value| value.is_some());
        assert_eq!([known(0), known(1), known(2), known(5)], [Some(false), Some(true), None, None]);
        let backwards: Vec<KeyValue> = page.iter().rev().cloned().collect();
        cache.reading(of).keep(&keys, &backwards, true, ScanOrder::Descending);
        assert_eq!([known(3), known(4), known(8)], [None, Some(true), Some(false)]);
    }
}
