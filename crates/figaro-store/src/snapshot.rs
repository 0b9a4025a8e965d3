//! Input of an operation: the store at one moment, and the unreadable records found meanwhile.

use std::cell::RefCell;
use std::collections::BTreeMap;

use parking_lot::RwLockReadGuard;

use super::buffer::Buffer;
use super::fault::StoreFault;
use super::merged::{Merged, over};
use super::space::Space;
use crate::engine::{Batch, KeyValue, Keys, Reader, View};

/// Table of unreadable records, by table and key.
pub(super) const QUARANTINE: &str = "quarantine";

/// Bytes of unreadable records, by table and key.
pub(super) type Unreadable = BTreeMap<(&'static str, Vec<u8>), Vec<u8>>;

/// A space of the store at one moment.
pub(super) struct Snapshot<'a> {
    view: Box<dyn View + 'a>,
    /// Changes that are not in the engine yet. They stay unchanged while the guard is held.
    buffer: RwLockReadGuard<'a, Buffer>,
    space: &'a Space,
    /// Unreadable records found so far.
    aside: RefCell<Unreadable>,
}

impl<'a> Snapshot<'a> {
    /// Takes a snapshot of the store.
    pub(super) fn of(
        engine: &'a dyn Reader,
        buffer: RwLockReadGuard<'a, Buffer>,
        space: &'a Space,
    ) -> Result<Self, StoreFault> {
        Ok(Self { view: engine.view()?, buffer, space, aside: RefCell::default() })
    }

    /// Returns the number of the last operation in the snapshot.
    pub(super) fn number(&self) -> u64 {
        self.buffer.number()
    }

    /// Returns the value of a key.
    pub(super) fn get(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>, StoreFault> {
        let key = self.space.outer(key);
        let changed = self.buffer.batches().into_iter().rev().find_map(|batch| batch.get(table, &key));
        match changed {
            Some(changed) => Ok(changed.map(<[u8]>::to_vec)),
            None => Ok(self.view.get(table, &key)?),
        }
    }

    pub(super) fn scan(
        &self,
        table: &str,
        keys: &Keys,
    ) -> Result<impl DoubleEndedIterator<Item = Result<KeyValue, StoreFault>> + use<'_, 'a>, StoreFault> {
        let keys = self.space.range(keys);
        let over = over(self.buffer.batches(), table, &keys, <[u8]>::to_vec);
        let found = Merged::new(self.view.scan(table, &keys)?, over);
        Ok(found.map(|item| item.map(|(key, value)| (self.space.inner(key), value))))
    }

    pub(super) fn keys(
        &self,
        table: &str,
        keys: &Keys,
    ) -> Result<impl DoubleEndedIterator<Item = Result<Vec<u8>, StoreFault>> + use<'_, 'a>, StoreFault> {
        let keys = self.space.range(keys);
        let over = over(self.buffer.batches(), table, &keys, |_| ());
        let found = self.view.keys(table, &keys)?.map(|key| key.map(|key| (key, ())));
        let found = Merged::new(Box::new(found), over);
        Ok(found.map(|item| item.map(|(key, ())| self.space.inner(key))))
    }

    /// Counts the records in quarantine.
    pub(super) fn quarantined(&self) -> Result<usize, StoreFault> {
        self.keys(QUARANTINE, &Keys::beginning_with([]))?.try_fold(0, |count, key| key.map(|_| count + 1))
    }

    /// Returns `true` if a record is in quarantine.
    pub(super) fn is_in_quarantine(&self, table: &str, key: &[u8]) -> Result<bool, StoreFault> {
        Ok(self.get(QUARANTINE, &place(table, key))?.is_some())
    }

    /// Notes an unreadable record; it moves to quarantine when the operation ends.
    pub(super) fn set_aside(
        &self,
        table: &'static str,
        key: &[u8],
        bytes: Vec<u8>,
        error: &serde_json::Error,
    ) {
        let length = bytes.len();
        let known = self.aside.borrow_mut().insert((table, key.to_vec()), bytes);
        if known.is_none() {
            // The error text itself may quote contents of the record.
            tracing::error!(
                record = describe(table, key),
                bytes = length,
                column = error.column(),
                category = ?error.classify(),
                "a stored record cannot be read and was set aside in quarantine"
            );
        }
    }

    /// Takes the unreadable records found so far.
    pub(super) fn unreadable(&self) -> Unreadable {
        self.aside.take()
    }

    /// Notes unreadable records found by another operation, as far as they are unchanged.
    pub(super) fn set_aside_again(&self, unreadable: Unreadable) -> Result<(), StoreFault> {
        for ((table, key), bytes) in unreadable {
            // The record may have been replaced meanwhile.
            if self.get(table, &key)?.as_ref() == Some(&bytes) {
                self.aside.borrow_mut().insert((table, key), bytes);
            }
        }
        Ok(())
    }

    /// Adds the quarantine of unreadable records to a batch. A record that the batch itself changes is only copied.
    pub(super) fn quarantine(&self, batch: &mut Batch) {
        for ((table, key), bytes) in self.aside.take() {
            let outer = self.space.outer(&key);
            if !batch.touches(table, &outer) {
                batch.remove(table, outer);
            }
            batch.put(QUARANTINE, self.space.outer(&place(table, &key)), bytes);
        }
    }
}

fn place(table: &str, key: &[u8]) -> Vec<u8> {
    [table.as_bytes(), &[0], key].concat()
}

/// Describes a record for the log.
pub(super) fn describe(table: &str, key: &[u8]) -> String {
    let key: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{table} {key}")
}
