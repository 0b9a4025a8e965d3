//! A sled tree of records of one type, as JSON. A record that cannot be read is moved to quarantine, bytes and all, and
//! is never taken for a missing one.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use sled::{Db, IVec, Transactional, Tree};

use super::fault::Fault;
use super::key;

/// Records of type `T`.
pub(super) struct Table<T> {
    name: &'static str,
    tree: Tree,
    quarantine: Tree,
    records: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Table<T> {
    /// Opens it, empty if it is new.
    pub(super) fn open(db: &Db, name: &'static str, quarantine: &Tree) -> Result<Self, sled::Error> {
        let tree = db.open_tree(name)?;
        Ok(Self { name, tree, quarantine: quarantine.clone(), records: PhantomData })
    }

    /// The stored name of the table.
    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// The tree behind it.
    pub(super) const fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Whether there is a record, readable or not.
    pub(super) fn contains(&self, key: &[u8]) -> Result<bool, Fault> {
        Ok(self.tree.contains_key(key)?)
    }

    /// One record; an error if it cannot be read, now or when it was set aside.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<T>, Fault> {
        let found = match self.tree.get(key)? {
            Some(bytes) => self.decode(key, &bytes)?,
            None if self.quarantine.contains_key(self.place(key))? => None,
            None => return Ok(None),
        };
        found.map(Some).ok_or_else(|| Fault::Record(self.describe(key)))
    }

    /// One record, for callers that can go on without it: one that cannot be read is set aside and counts as missing.
    pub(super) fn find(&self, key: &[u8]) -> Result<Option<T>, Fault> {
        let Some(bytes) = self.tree.get(key)? else {
            return Ok(None);
        };
        self.decode(key, &bytes)
    }

    /// The records whose keys begin so, in order; those that cannot be read are set aside.
    pub(super) fn scan(
        &self,
        prefix: &[u8],
    ) -> impl DoubleEndedIterator<Item = Result<(IVec, T), Fault>> + use<'_, T> {
        self.tree.scan_prefix(prefix).filter_map(|item| match item {
            Ok((key, bytes)) => match self.decode(&key, &bytes) {
                Ok(record) => record.map(|record| Ok((key, record))),
                Err(fault) => Some(Err(fault)),
            },
            Err(error) => Some(Err(error.into())),
        })
    }

    /// The records whose keys begin so, in order, without the keys.
    pub(super) fn list(&self, prefix: &[u8]) -> Result<Vec<T>, Fault> {
        self.scan(prefix).map(|item| item.map(|(_, record)| record)).collect()
    }

    /// The index after the last one in use under this prefix.
    pub(super) fn next_index(&self, prefix: &[u8]) -> Result<u32, Fault> {
        let last = self.tree.scan_prefix(prefix).keys().next_back().transpose()?;
        Ok(last.and_then(|key| key::index_of(&key)).map_or(0, |index| index.saturating_add(1)))
    }

    fn decode(&self, key: &[u8], bytes: &IVec) -> Result<Option<T>, Fault> {
        match serde_json::from_slice(bytes) {
            Ok(record) => Ok(Some(record)),
            Err(error) => self.set_aside(key, bytes, &error).map(|()| None),
        }
    }

    fn set_aside(&self, key: &[u8], bytes: &IVec, error: &serde_json::Error) -> Result<(), Fault> {
        let place = self.place(key);
        let moved = (&self.tree, &self.quarantine).transaction(|(tree, quarantine)| {
            // Someone may have replaced it meanwhile.
            let unchanged = tree.get(key)?.as_ref() == Some(bytes);
            if unchanged {
                tree.remove(key)?;
                quarantine.insert(place.as_slice(), bytes)?;
            }
            Ok(unchanged)
        })?;
        if moved {
            // The error's own text may quote what the record holds.
            tracing::error!(
                record = self.describe(key),
                bytes = bytes.len(),
                column = error.column(),
                category = ?error.classify(),
                "a stored record cannot be read and was set aside in quarantine"
            );
        }
        Ok(())
    }

    fn place(&self, key: &[u8]) -> Vec<u8> {
        [self.name.as_bytes(), &[0], key].concat()
    }

    fn describe(&self, key: &[u8]) -> String {
        let key: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{} {key}", self.name)
    }
}
