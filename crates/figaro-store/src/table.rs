//! A table of records of one type, as JSON. An unreadable record moves to quarantine, bytes and all, and never counts as
//! missing.

use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::decoded::Decoded;
use super::fault::StoreFault;
use super::key;
use super::snapshot::{Snapshot, describe};
use crate::engine::{KeyValue, Keys};

/// Records of type `T` in a snapshot.
pub(super) struct Table<'a, T> {
    name: &'static str,
    snapshot: &'a Snapshot<'a>,
    records: PhantomData<fn() -> T>,
}

impl<'a, T: DeserializeOwned> Table<'a, T> {
    /// Creates the table with this stored name.
    pub(super) const fn new(name: &'static str, snapshot: &'a Snapshot<'a>) -> Self {
        Self { name, snapshot, records: PhantomData }
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the bytes under a key, readable or not.
    pub(super) fn raw(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreFault> {
        self.snapshot.get(self.name, key)
    }

    /// Returns `true` if there is a record, readable or not.
    pub(super) fn contains(&self, key: &[u8]) -> Result<bool, StoreFault> {
        Ok(self.raw(key)?.is_some())
    }

    /// Returns one record; an error if it is unreadable or in quarantine.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<T>, StoreFault> {
        self.get_with(key, |bytes| self.decode(key, bytes))
    }

    /// Like [`Self::get`], using `decoded` as a cache.
    pub(super) fn get_decoded(&self, key: &[u8], decoded: &Decoded<T>) -> Result<Option<Arc<T>>, StoreFault> {
        self.get_with(key, |bytes| decoded.get(key, bytes, |bytes| self.decode(key, bytes)))
    }

    fn get_with<R>(
        &self,
        key: &[u8],
        decode: impl FnOnce(Vec<u8>) -> Option<R>,
    ) -> Result<Option<R>, StoreFault> {
        let found = match self.raw(key)? {
            Some(bytes) => decode(bytes),
            None if self.snapshot.is_in_quarantine(self.name, key)? => None,
            None => return Ok(None),
        };
        found.map(Some).ok_or_else(|| StoreFault::Record(describe(self.name, key)))
    }

    /// Returns one record, for callers that can continue without it: an unreadable one is set aside and counts as
    /// missing.
    pub(super) fn find(&self, key: &[u8]) -> Result<Option<T>, StoreFault> {
        Ok(self.raw(key)?.and_then(|bytes| self.decode(key, bytes)))
    }

    /// Iterates over the records with this key prefix, in order; unreadable ones are set aside.
    pub(super) fn scan(
        &self,
        prefix: &[u8],
    ) -> Result<impl DoubleEndedIterator<Item = Result<(Vec<u8>, T), StoreFault>> + use<'_, 'a, T>, StoreFault>
    {
        self.scan_range(&Keys::beginning_with(prefix))
    }

    /// Iterates over the records of a range, in order; unreadable ones are set aside.
    pub(super) fn scan_range(
        &self,
        keys: &Keys,
    ) -> Result<impl DoubleEndedIterator<Item = Result<(Vec<u8>, T), StoreFault>> + use<'_, 'a, T>, StoreFault>
    {
        let found = self.snapshot.scan(self.name, keys)?;
        Ok(found.filter_map(|item| match item {
            Ok((key, bytes)) => self.decode(&key, bytes).map(|record| Ok((key, record))),
            Err(fault) => Some(Err(fault)),
        }))
    }

    /// Like [`Self::find`], using `decoded` as a cache.
    pub(super) fn find_decoded(
        &self,
        key: &[u8],
        decoded: &Decoded<T>,
    ) -> Result<Option<Arc<T>>, StoreFault> {
        let found = self.raw(key)?;
        Ok(found.and_then(|bytes| decoded.get(key, bytes, |bytes| self.decode(key, bytes))))
    }

    /// Iterates over the records of a range, in order, using `decoded` as a cache.
    pub(super) fn list_decoded<'b>(
        &'b self,
        keys: &Keys,
        decoded: &'b Decoded<T>,
    ) -> Result<impl DoubleEndedIterator<Item = Result<Arc<T>, StoreFault>> + use<'b, 'a, T>, StoreFault>
    {
        let found = self.snapshot.scan(self.name, keys)?;
        Ok(found.filter_map(|item| match item {
            Ok((key, bytes)) => decoded.get(&key, bytes, |bytes| self.decode(&key, bytes)).map(Ok),
            Err(fault) => Some(Err(fault)),
        }))
    }

    /// Returns the records with this key prefix, in order, without the keys.
    pub(super) fn list(&self, prefix: &[u8]) -> Result<Vec<T>, StoreFault> {
        self.scan(prefix)?.map(|item| item.map(|(_, record)| record)).collect()
    }

    /// Iterates over the keys of a range, in order.
    pub(super) fn keys(
        &self,
        keys: Keys,
    ) -> Result<impl DoubleEndedIterator<Item = Result<Vec<u8>, StoreFault>> + use<'_, 'a, T>, StoreFault>
    {
        self.snapshot.keys(self.name, &keys)
    }

    /// Iterates over the keys with this prefix, in order.
    pub(super) fn keys_of(
        &self,
        prefix: &[u8],
    ) -> Result<impl DoubleEndedIterator<Item = Result<Vec<u8>, StoreFault>> + use<'_, 'a, T>, StoreFault>
    {
        self.keys(Keys::beginning_with(prefix))
    }

    /// Returns the index after the last one in use under this prefix.
    pub(super) fn next_index(&self, prefix: &[u8]) -> Result<u32, StoreFault> {
        let last = self.keys_of(prefix)?.next_back().transpose()?;
        Ok(last.and_then(|key| key::index_of(&key)).map_or(0, |index| index.saturating_add(1)))
    }

    /// Iterates over the stored entries with this key prefix, in order.
    pub(super) fn entries(
        &self,
        prefix: &[u8],
    ) -> Result<impl DoubleEndedIterator<Item = Result<KeyValue, StoreFault>> + use<'_, 'a, T>, StoreFault>
    {
        self.entries_in(&Keys::beginning_with(prefix))
    }

    /// Iterates over the stored entries of a range, in order.
    pub(super) fn entries_in(
        &self,
        keys: &Keys,
    ) -> Result<impl DoubleEndedIterator<Item = Result<KeyValue, StoreFault>> + use<'_, 'a, T>, StoreFault>
    {
        self.snapshot.scan(self.name, keys)
    }

    /// Decodes a stored entry; an unreadable one is set aside.
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
