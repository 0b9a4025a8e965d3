//! Writes to several tables that reach the disk together or not at all. Every operation that writes collects its own here.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::fault::Fault;
use super::space::Space;
use super::table::Table;
use crate::engine::Batch;

/// What an operation is about to write.
pub(super) struct Changes<'a> {
    space: &'a Space,
    batch: Batch,
}

impl<'a> Changes<'a> {
    /// No changes yet, of this space.
    pub(super) fn new(space: &'a Space) -> Self {
        Self { space, batch: Batch::default() }
    }

    /// Writes a record.
    pub(super) fn put<T>(
        &mut self,
        table: &Table<'_, T>,
        key: impl AsRef<[u8]>,
        record: &T,
    ) -> Result<(), Fault>
    where
        T: Serialize + DeserializeOwned,
    {
        let bytes = serde_json::to_vec(record)?;
        self.batch.put(table.name(), self.space.outer(key.as_ref()), bytes);
        Ok(())
    }

    /// Removes a record, if it is there.
    pub(super) fn remove<T: DeserializeOwned>(&mut self, table: &Table<'_, T>, key: impl AsRef<[u8]>) {
        self.batch.remove(table.name(), self.space.outer(key.as_ref()));
    }

    /// A record that the operation itself has written; `None` if it has written none there.
    pub(super) fn pending<T: DeserializeOwned>(
        &self,
        table: &Table<'_, T>,
        key: impl AsRef<[u8]>,
    ) -> Result<Option<T>, Fault> {
        let written = self.batch.get(table.name(), &self.space.outer(key.as_ref())).flatten();
        Ok(written.map(serde_json::from_slice).transpose()?)
    }

    /// Whether the operation itself has removed a record.
    pub(super) fn removes<T>(&self, table: &Table<'_, T>, key: impl AsRef<[u8]>) -> bool
    where
        T: DeserializeOwned,
    {
        self.batch.get(table.name(), &self.space.outer(key.as_ref())) == Some(None)
    }

    /// All of them, as the engine takes them.
    pub(super) fn into_batch(self) -> Batch {
        self.batch
    }
}
