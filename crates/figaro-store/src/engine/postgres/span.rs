//! Parts of a table whose entries are all known.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::super::batch::Keys;
use super::super::port::KeyValue;

/// Approximate size of an entry beside its key and value, in bytes.
const EACH: usize = 96;

/// Direction of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanOrder {
    Ascending,
    Descending,
}

/// Approximate size of an entry in memory, in bytes.
pub(super) fn size_of(key: &[u8], value: &[u8]) -> usize {
    key.len() + value.len() + EACH
}

/// Keys from `begin` up to, but without, `end`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeySpan {
    pub(super) begin: Vec<u8>,
    pub(super) end: Vec<u8>,
}

impl KeySpan {
    /// Returns the same keys as a range; `None` for a range with an open end.
    pub(super) fn of(keys: &Keys) -> Option<Self> {
        let begin = match &keys.begin {
            Bound::Included(key) => key.clone(),
            Bound::Excluded(key) => after(key),
            Bound::Unbounded => return None,
        };
        let end = match &keys.end {
            Bound::Included(key) => after(key),
            Bound::Excluded(key) => key.clone(),
            Bound::Unbounded => return None,
        };
        Some(Self { begin, end })
    }

    /// Returns the span as a range.
    pub(super) fn keys(&self) -> Keys {
        Keys { begin: Bound::Included(self.begin.clone()), end: Bound::Excluded(self.end.clone()) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.begin >= self.end
    }

    pub(super) fn contains(&self, key: &[u8]) -> bool {
        self.begin.as_slice() <= key && key < self.end.as_slice()
    }

    /// Returns the part of these keys that was read from one end up to this key; `is_all` tells that there was no more.
    pub(super) fn read_to(&self, last: Option<&[u8]>, is_all: bool, order: ScanOrder) -> Self {
        let Self { begin, end } = self.clone();
        match (last, order) {
            (Some(last), ScanOrder::Ascending) if !is_all => Self { begin, end: after(last) },
            (Some(last), ScanOrder::Descending) if !is_all => Self { begin: last.to_owned(), end },
            _ => Self { begin, end },
        }
    }

    /// Returns what is left of these keys after a part at one end was read.
    pub(super) fn without(&self, part: &Self, order: ScanOrder) -> Self {
        match order {
            ScanOrder::Ascending => Self { begin: part.end.clone(), end: self.end.clone() },
            ScanOrder::Descending => Self { begin: self.begin.clone(), end: part.begin.clone() },
        }
    }
}

/// Returns the first key after a key.
fn after(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

/// Entries from one end of a range.
#[derive(Debug)]
pub(super) struct KnownPage {
    pub(super) entries: Vec<KeyValue>,
    /// Part of the range that they are all entries of.
    pub(super) part: KeySpan,
}

/// Entries of a table, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct KnownEntries {
    /// Ends of known spans by their beginnings. They neither touch nor overlap.
    spans: BTreeMap<Vec<u8>, Vec<u8>>,
    /// All entries in these spans.
    entries: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Size of entries and spans in memory.
    bytes: usize,
}

impl KnownEntries {
    /// Returns the known span that ends after this key and begins at or before it.
    fn span_at(&self, key: &[u8]) -> Option<KeySpan> {
        let (begin, end) =
            self.spans.range::<[u8], _>((Bound::Unbounded, Bound::Included(key))).next_back()?;
        let span = KeySpan { begin: begin.clone(), end: end.clone() };
        span.contains(key).then_some(span)
    }

    /// Returns the known span that ends at or after this end and begins before it.
    fn span_before(&self, end: &[u8]) -> Option<KeySpan> {
        let (begin, known) =
            self.spans.range::<[u8], _>((Bound::Unbounded, Bound::Excluded(end))).next_back()?;
        (known.as_slice() >= end).then(|| KeySpan { begin: begin.clone(), end: known.clone() })
    }

    /// Returns the value of a key, with `Some(None)` for a key without one; `None` if that is not known.
    pub(super) fn value(&self, key: &[u8]) -> Option<Option<Vec<u8>>> {
        self.span_at(key).map(|_known| self.entries.get(key).cloned())
    }

    /// Returns up to `size` entries from one end of these keys; `None` if nothing is known of that end.
    pub(super) fn page(&self, keys: &KeySpan, order: ScanOrder, size: usize) -> Option<KnownPage> {
        let known = match order {
            ScanOrder::Ascending => self.span_at(&keys.begin)?,
            ScanOrder::Descending => self.span_before(&keys.end)?,
        };
        let part = match order {
            ScanOrder::Ascending => {
                KeySpan { begin: keys.begin.clone(), end: known.end.min(keys.end.clone()) }
            }
            ScanOrder::Descending => {
                KeySpan { begin: known.begin.max(keys.begin.clone()), end: keys.end.clone() }
            }
        };
        let found =
            self.entries.range::<[u8], _>((Bound::Included(&*part.begin), Bound::Excluded(&*part.end)));
        let entry = |(key, value): (&Vec<u8>, &Vec<u8>)| (key.clone(), value.clone());
        let entries: Vec<KeyValue> = match order {
            ScanOrder::Ascending => found.take(size).map(entry).collect(),
            ScanOrder::Descending => found.rev().take(size).map(entry).collect(),
        };
        let last = entries.last().map(|(key, _)| key.as_slice());
        let part = part.read_to(last, entries.len() < size, order);
        Some(KnownPage { entries, part })
    }

    /// Makes a change, if its key is in a known span.
    pub(super) fn change(&mut self, key: &[u8], value: Option<&[u8]>) {
        if self.span_at(key).is_none() {
            return;
        }
        let before = match value {
            Some(value) => self.entries.insert(key.to_vec(), value.to_vec()),
            None => self.entries.remove(key),
        };
        let size = |value: &[u8]| size_of(key, value);
        self.bytes = self.bytes + value.map_or(0, size) - before.as_deref().map_or(0, size);
    }

    /// Returns the approximate size in memory, in bytes.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes a span as known. Its entries are put by [`Self::change`].
    pub(super) fn know(&mut self, span: &KeySpan) {
        let (mut begin, mut end) = (span.begin.clone(), span.end.clone());
        if let Some((first, known)) =
            self.spans.range::<[u8], _>((Bound::Unbounded, Bound::Included(&*begin))).next_back()
            && *known >= begin
        {
            begin.clone_from(first);
        }
        let touched = self.spans.range::<[u8], _>((Bound::Included(&*begin), Bound::Included(&*end)));
        let touched: Vec<Vec<u8>> = touched.map(|(begin, _)| begin.clone()).collect();
        for begin in touched {
            if let Some(known) = self.spans.remove(&begin) {
                self.bytes -= size_of(&begin, &known);
                end = end.max(known);
            }
        }
        self.bytes += size_of(&begin, &end);
        self.spans.insert(begin, end);
    }
}
