//! Writes to several tables that reach the disk together or not at all. Every writing operation collects its changes
//! here.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::fault::StoreFault;
use super::space::Space;
use super::table::Table;
use crate::engine::Batch;

pub(super) struct Changes<'a> {
    space: &'a Space,
    batch: Batch,
}

impl<'a> Changes<'a> {
    /// Starts without changes, in this space.
    pub(super) fn new(space: &'a Space) -> Self {
        Self { space, batch: Batch::default() }
    }

    pub(super) fn put<T>(
        &mut self,
        table: &Table<'_, T>,
        key: impl AsRef<[u8]>,
        record: &T,
    ) -> Result<(), StoreFault>
    where
        T: Serialize + DeserializeOwned,
    {
        let bytes = serde_json::to_vec(record)?;
        self.batch.put(table.name(), self.space.outer(key.as_ref()), bytes);
        Ok(())
    }

    /// Removes a record, if it exists.
    pub(super) fn remove<T: DeserializeOwned>(&mut self, table: &Table<'_, T>, key: impl AsRef<[u8]>) {
        self.batch.remove(table.name(), self.space.outer(key.as_ref()));
    }

    /// Returns the record that this operation wrote under a key; `None` if it wrote none.
    pub(super) fn pending<T: DeserializeOwned>(
        &self,
        table: &Table<'_, T>,
        key: impl AsRef<[u8]>,
    ) -> Result<Option<T>, StoreFault> {
        let written = self.batch.get(table.name(), &self.space.outer(key.as_ref())).flatten();
        Ok(written.map(serde_json::from_slice).transpose()?)
    }

    /// Returns `true` if this operation removed a record.
    pub(super) fn removes<T>(&self, table: &Table<'_, T>, key: impl AsRef<[u8]>) -> bool
    where
        T: DeserializeOwned,
    {
        self.batch.get(table.name(), &self.space.outer(key.as_ref())) == Some(None)
    }

    /// Returns the changes for the engine.
    pub(super) fn into_batch(self) -> Batch {
        self.batch
    }
}
