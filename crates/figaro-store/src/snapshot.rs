//! What an operation reads: the store at one moment, and the records that could not be read meanwhile.

use std::cell::RefCell;
use std::collections::BTreeMap;

use parking_lot::RwLockReadGuard;

use super::buffer::Buffer;
use super::fault::Fault;
use super::merged::{Merged, over};
use super::space::Space;
use crate::engine::{Batch, Entry, Keys, Reader, View};

/// The table of records that cannot be read, by table and key.
pub(super) const QUARANTINE: &str = "quarantine";

/// Records that cannot be read, by table and key.
pub(super) type Unreadable = BTreeMap<(&'static str, Vec<u8>), Vec<u8>>;

/// A space of the store at one moment.
pub(super) struct Snapshot<'a> {
    view: Box<dyn View + 'a>,
    /// What the engine has not got yet. It does not change as long as somebody looks.
    buffer: RwLockReadGuard<'a, Buffer>,
    space: &'a Space,
    /// What was found unreadable.
    aside: RefCell<Unreadable>,
}

impl<'a> Snapshot<'a> {
    /// The store as it is now.
    pub(super) fn of(
        engine: &'a dyn Reader,
        buffer: RwLockReadGuard<'a, Buffer>,
        space: &'a Space,
    ) -> Result<Self, Fault> {
        Ok(Self { view: engine.view()?, buffer, space, aside: RefCell::default() })
    }

    /// The number of the last operation that it shows.
    pub(super) fn number(&self) -> u64 {
        self.buffer.number()
    }

    /// One value.
    pub(super) fn get(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        let key = self.space.outer(key);
        let changed = self.buffer.batches().into_iter().rev().find_map(|batch| batch.get(table, &key));
        match changed {
            Some(changed) => Ok(changed.map(<[u8]>::to_vec)),
            None => Ok(self.view.get(table, &key)?),
        }
    }

    /// The entries of a range.
    pub(super) fn scan(
        &self,
        table: &str,
        keys: &Keys,
    ) -> Result<impl DoubleEndedIterator<Item = Result<Entry, Fault>> + use<'_, 'a>, Fault> {
        let keys = self.space.range(keys);
        let over = over(self.buffer.batches(), table, &keys, <[u8]>::to_vec);
        let found = Merged::new(self.view.scan(table, &keys)?, over);
        Ok(found.map(|item| item.map(|(key, value)| (self.space.inner(key), value))))
    }

    /// The keys of a range.
    pub(super) fn keys(
        &self,
        table: &str,
        keys: &Keys,
    ) -> Result<impl DoubleEndedIterator<Item = Result<Vec<u8>, Fault>> + use<'_, 'a>, Fault> {
        let keys = self.space.range(keys);
        let over = over(self.buffer.batches(), table, &keys, |_| ());
        let found = self.view.keys(table, &keys)?.map(|key| key.map(|key| (key, ())));
        let found = Merged::new(Box::new(found), over);
        Ok(found.map(|item| item.map(|(key, ())| self.space.inner(key))))
    }

    /// How many records are in quarantine.
    pub(super) fn quarantined(&self) -> Result<usize, Fault> {
        self.keys(QUARANTINE, &Keys::beginning_with([]))?.try_fold(0, |count, key| key.map(|_| count + 1))
    }

    /// Whether a record was set aside.
    pub(super) fn is_in_quarantine(&self, table: &str, key: &[u8]) -> Result<bool, Fault> {
        Ok(self.get(QUARANTINE, &place(table, key))?.is_some())
    }

    /// Notes that a record cannot be read; it is moved to quarantine when the operation ends.
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
            // The error's own text may quote what the record holds.
            tracing::error!(
                record = describe(table, key),
                bytes = length,
                column = error.column(),
                category = ?error.classify(),
                "a stored record cannot be read and was set aside in quarantine"
            );
        }
    }

    /// What was found unreadable.
    pub(super) fn unreadable(&self) -> Unreadable {
        self.aside.take()
    }

    /// Notes what another operation found unreadable, as far as it is still there.
    pub(super) fn set_aside_again(&self, unreadable: Unreadable) -> Result<(), Fault> {
        for ((table, key), bytes) in unreadable {
            // Someone may have replaced it meanwhile.
            if self.get(table, &key)?.as_ref() == Some(&bytes) {
                self.aside.borrow_mut().insert((table, key), bytes);
            }
        }
        Ok(())
    }

    /// Adds to a batch what sets the unreadable records aside. One that the batch changes itself is only copied.
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

/// A record in words for the log.
pub(super) fn describe(table: &str, key: &[u8]) -> String {
    let key: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{table} {key}")
}
