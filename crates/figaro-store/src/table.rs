//! A table of records of one type, as JSON. A record that cannot be read is moved to quarantine, bytes and all, and is never
//! taken for a missing one.

use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::decoded::Decoded;
use super::fault::Fault;
use super::key;
use super::snapshot::{Snapshot, describe};
use crate::engine::{Entry, Keys};

/// Records of type `T`, as they stand in a snapshot.
pub(super) struct Table<'a, T> {
    name: &'static str,
    snapshot: &'a Snapshot<'a>,
    records: PhantomData<fn() -> T>,
}

impl<'a, T: DeserializeOwned> Table<'a, T> {
    /// The table with this stored name.
    pub(super) const fn new(name: &'static str, snapshot: &'a Snapshot<'a>) -> Self {
        Self { name, snapshot, records: PhantomData }
    }

    /// The stored name of the table.
    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// What is stored under a key, readable or not.
    pub(super) fn raw(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        self.snapshot.get(self.name, key)
    }

    /// Whether there is a record, readable or not.
    pub(super) fn contains(&self, key: &[u8]) -> Result<bool, Fault> {
        Ok(self.raw(key)?.is_some())
    }

    /// One record; an error if it cannot be read, now or when it was set aside.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<T>, Fault> {
        self.get_with(key, |bytes| self.decode(key, bytes))
    }

    /// The same, not decoded again if `decoded` holds it.
    pub(super) fn get_decoded(&self, key: &[u8], decoded: &Decoded<T>) -> Result<Option<Arc<T>>, Fault> {
        self.get_with(key, |bytes| decoded.get(key, bytes, |bytes| self.decode(key, bytes)))
    }

    fn get_with<R>(&self, key: &[u8], decode: impl FnOnce(Vec<u8>) -> Option<R>) -> Result<Option<R>, Fault> {
        let found = match self.raw(key)? {
            Some(bytes) => decode(bytes),
            None if self.snapshot.is_in_quarantine(self.name, key)? => None,
            None => return Ok(None),
        };
        found.map(Some).ok_or_else(|| Fault::Record(describe(self.name, key)))
    }

    /// One record, for callers that can go on without it: one that cannot be read is set aside and counts as missing.
    pub(super) fn find(&self, key: &[u8]) -> Result<Option<T>, Fault> {
        Ok(self.raw(key)?.and_then(|bytes| self.decode(key, bytes)))
    }

    /// The records whose keys begin so, in order; those that cannot be read are set aside.
    pub(super) fn scan(
        &self,
        prefix: &[u8],
    ) -> Result<impl DoubleEndedIterator<Item = Result<(Vec<u8>, T), Fault>> + use<'_, 'a, T>, Fault> {
        self.scan_range(&Keys::beginning_with(prefix))
    }

    /// The records of a range, in order; those that cannot be read are set aside.
    pub(super) fn scan_range(
        &self,
        keys: &Keys,
    ) -> Result<impl DoubleEndedIterator<Item = Result<(Vec<u8>, T), Fault>> + use<'_, 'a, T>, Fault> {
        let found = self.snapshot.scan(self.name, keys)?;
        Ok(found.filter_map(|item| match item {
            Ok((key, bytes)) => self.decode(&key, bytes).map(|record| Ok((key, record))),
            Err(fault) => Some(Err(fault)),
        }))
    }

    /// One record, for callers that can go on without it, not decoded again if `decoded` holds it.
    pub(super) fn find_decoded(&self, key: &[u8], decoded: &Decoded<T>) -> Result<Option<Arc<T>>, Fault> {
        let found = self.raw(key)?;
        Ok(found.and_then(|bytes| decoded.get(key, bytes, |bytes| self.decode(key, bytes))))
    }

    /// The records whose keys begin so, in order; those that `decoded` holds are not decoded again.
    pub(super) fn list_decoded<'b>(
        &'b self,
        prefix: &[u8],
        decoded: &'b Decoded<T>,
    ) -> Result<impl DoubleEndedIterator<Item = Result<Arc<T>, Fault>> + use<'b, 'a, T>, Fault> {
        let found = self.snapshot.scan(self.name, &Keys::beginning_with(prefix))?;
        Ok(found.filter_map(|item| match item {
            Ok((key, bytes)) => decoded.get(&key, bytes, |bytes| self.decode(&key, bytes)).map(Ok),
            Err(fault) => Some(Err(fault)),
        }))
    }

    /// The records whose keys begin so, in order, without the keys.
    pub(super) fn list(&self, prefix: &[u8]) -> Result<Vec<T>, Fault> {
        self.scan(prefix)?.map(|item| item.map(|(_, record)| record)).collect()
    }

    /// The keys of a range, in order.
    pub(super) fn keys(
        &self,
        keys: Keys,
    ) -> Result<impl DoubleEndedIterator<Item = Result<Vec<u8>, Fault>> + use<'_, 'a, T>, Fault> {
        self.snapshot.keys(self.name, &keys)
    }

    /// The keys that begin so, in order.
    pub(super) fn keys_of(
        &self,
        prefix: &[u8],
    ) -> Result<impl DoubleEndedIterator<Item = Result<Vec<u8>, Fault>> + use<'_, 'a, T>, Fault> {
        self.keys(Keys::beginning_with(prefix))
    }

    /// The index after the last one in use under this prefix.
    pub(super) fn next_index(&self, prefix: &[u8]) -> Result<u32, Fault> {
        let last = self.keys_of(prefix)?.next_back().transpose()?;
        Ok(last.and_then(|key| key::index_of(&key)).map_or(0, |index| index.saturating_add(1)))
    }

    /// The entries whose keys begin so, in order, as they are stored.
    pub(super) fn entries(
        &self,
        prefix: &[u8],
    ) -> Result<impl DoubleEndedIterator<Item = Result<Entry, Fault>> + use<'_, 'a, T>, Fault> {
        self.entries_in(&Keys::beginning_with(prefix))
    }

    /// The entries of a range, in order, as they are stored.
    pub(super) fn entries_in(
        &self,
        keys: &Keys,
    ) -> Result<impl DoubleEndedIterator<Item = Result<Entry, Fault>> + use<'_, 'a, T>, Fault> {
        self.snapshot.scan(self.name, keys)
    }

    /// What such an entry says; one that cannot be read is set aside.
    pub(super) fn decode(&self, key: &[u8], bytes: Vec<u8>) -> Option<T> {
        match serde_json::from_slice(&bytes) {
            Ok(record) => Some(record),
            Err(error) => {
                self.snapshot.set_aside(self.name, key, bytes, &error);
                None
            }
        }
    }
}
