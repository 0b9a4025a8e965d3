//! Cache of recently decoded records, limited in bytes. A turn reads the same hundreds of messages as the turn before it,
//! and decoding them took more CPU time than all else together.

use std::hash::BuildHasher;
use std::sync::Arc;

use quick_cache::sync::Cache;
use quick_cache::{DefaultHashBuilder, Weighter};

/// Decoded records of one table, by key. An entry counts only while the stored bytes are those it was decoded from, so a
/// later write is never hidden.
pub(super) struct Decoded<T> {
    records: Cache<Box<[u8]>, DecodedRecord<T>, Size>,
    hasher: DefaultHashBuilder,
    /// Removes what readers do not need from a record, and returns the number of bytes removed.
    shorten: fn(&mut T) -> usize,
}

struct DecodedRecord<T> {
    /// Hash of the bytes that the record was decoded from.
    hash: u64,
    /// Approximate size in memory, in bytes.
    size: u64,
    decoded: Arc<T>,
}

impl<T> Clone for DecodedRecord<T> {
    fn clone(&self) -> Self {
        Self { hash: self.hash, size: self.size, decoded: self.decoded.clone() }
    }
}

#[derive(Clone)]
struct Size;

impl<T> Weighter<Box<[u8]>, DecodedRecord<T>> for Size {
    fn weight(&self, key: &Box<[u8]>, record: &DecodedRecord<T>) -> u64 {
        record.size + key.len() as u64
    }
}

impl<T> Decoded<T> {
    /// Creates an empty cache of at most `bytes` bytes. The least used entries leave first.
    pub(super) fn within(bytes: u64) -> Self {
        // Expected number of entries, so that the key table need not grow.
        Self::of(usize::try_from(bytes / (2 * size_of::<T>() as u64)).unwrap_or(0), bytes)
    }

    /// Creates a cache of a table with one record, which may take the whole limit.
    pub(super) fn one_within(bytes: u64) -> Self {
        Self::of(1, bytes)
    }

    fn of(records: usize, bytes: u64) -> Self {
        let hasher = DefaultHashBuilder::default();
        Self { records: Cache::with_weighter(records, bytes, Size), hasher, shorten: |_| 0 }
    }

    /// Shortens records by this function, which returns the number of bytes removed.
    pub(super) fn shortened_by(self, shorten: fn(&mut T) -> usize) -> Self {
        Self { shorten, ..self }
    }

    pub(super) fn clear(&self) {
        self.records.clear();
    }

    /// Returns the record with this key and these bytes, decoding it with `decode` if it is not cached. `None` if
    /// `decode` returns none.
    pub(super) fn get(
        &self,
        key: &[u8],
        bytes: Vec<u8>,
        decode: impl FnOnce(Vec<u8>) -> Option<T>,
    ) -> Option<Arc<T>> {
        let hash = self.hasher.hash_one(&bytes);
        if let Some(record) = self.records.get(key).filter(|record| record.hash == hash) {
            return Some(record.decoded);
        }
        let length = bytes.len();
        let mut decoded = decode(bytes)?;
        let length = length.saturating_sub((self.shorten)(&mut decoded));
        let (size, decoded) = ((size_of::<T>() + length) as u64, Arc::new(decoded));
        self.records.insert(key.into(), DecodedRecord { hash, size, decoded: decoded.clone() });
        Some(decoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Vec<u8>) -> Option<String> {
        String::from_utf8(bytes).ok()
    }

    #[test]
    fn a_message_in_the_cache_is_small() {
        let size = size_of::<figaro_domain::conversation::Message>();
        assert!(size <= 600, "{size} bytes: box what few messages have");
    }

    #[test]
    fn a_record_is_decoded_once_and_again_when_its_bytes_change() {
        let decoded = Decoded::within(10_000);
        let first = decoded.get(b"a", b"one".to_vec(), text).unwrap();
        let again = decoded.get(b"a", b"one".to_vec(), |_| panic!("it is here")).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!(*decoded.get(b"a", b"two".to_vec(), text).unwrap(), "two");
        assert_eq!(*decoded.get(b"a", b"one".to_vec(), text).unwrap(), "one");
        assert_eq!(*decoded.get(b"b", b"one".to_vec(), text).unwrap(), "one");
    }

    #[test]
    fn a_single_record_may_take_the_whole_bound() {
        let decoded = Decoded::one_within(1_000_000);
        let long = vec![b'x'; 900_000];
        let first = decoded.get(b"list", long.clone(), text).unwrap();
        assert!(Arc::ptr_eq(&first, &decoded.get(b"list", long, |_| panic!("it is here")).unwrap()));
    }

    #[test]
    fn what_cannot_be_decoded_is_not_kept() {
        let decoded = Decoded::within(10_000);
        assert_eq!(decoded.get(b"a", vec![0xff], text), None);
        assert_eq!(decoded.get(b"a", vec![0xff], |_| Some("mended".to_owned())).unwrap().as_str(), "mended");
    }

    #[test]
    fn the_bytes_are_bounded_and_all_is_found_all_the_same() {
        let decoded = Decoded::within(10_000);
        for number in 0..1_000_u32 {
            let bytes = vec![b'x'; 100];
            assert_eq!(decoded.get(&number.to_be_bytes(), bytes, text).unwrap().len(), 100);
            assert!(decoded.records.weight() <= 10_000, "{}", decoded.records.weight());
        }
        assert!(decoded.records.len() > 10, "{}", decoded.records.len());
        // A record that alone is past the bound is given, and not kept.
        assert_eq!(decoded.get(b"long", vec![b'x'; 20_000], text).unwrap().len(), 20_000);
        assert!(decoded.records.weight() <= 10_000);
    }
}
