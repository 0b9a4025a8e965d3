//! Writes to several tables that reach the disk together or not at all. Every operation that writes collects its own here.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sled::transaction::ConflictableTransactionError;
use sled::{Batch, IVec, Transactional, Tree};

use super::fault::Fault;
use super::table::Table;

/// What an operation is about to write, by table.
#[derive(Default)]
pub(super) struct Changes(BTreeMap<&'static str, (Tree, Batch)>);

impl Changes {
    /// Writes a record.
    pub(super) fn put<T>(&mut self, table: &Table<T>, key: Vec<u8>, record: &T) -> Result<(), Fault>
    where
        T: Serialize + DeserializeOwned,
    {
        let bytes = serde_json::to_vec(record)?;
        self.batch(table).insert(key, bytes);
        Ok(())
    }

    /// Removes a record, if it is there.
    pub(super) fn remove<T: DeserializeOwned>(&mut self, table: &Table<T>, key: impl Into<IVec>) {
        self.batch(table).remove(key);
    }

    /// Makes the changes, all at once.
    pub(super) fn commit(self) -> Result<(), Fault> {
        if self.0.is_empty() {
            return Ok(());
        }
        let (trees, batches): (Vec<Tree>, Vec<Batch>) = self.0.into_values().unzip();
        trees.as_slice().transaction(|trees| {
            for (tree, batch) in trees.iter().zip(&batches) {
                tree.apply_batch(batch)?;
            }
            Ok::<_, ConflictableTransactionError<sled::Error>>(())
        })?;
        Ok(())
    }

    fn batch<T: DeserializeOwned>(&mut self, table: &Table<T>) -> &mut Batch {
        &mut self.0.entry(table.name()).or_insert_with(|| (table.tree().clone(), Batch::default())).1
    }
}
