//! Engine that keeps a store in memory: it opens no file, and its content is gone with it. The store uses it for
//! temporary stores.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::{RwLock, RwLockWriteGuard};

use super::batch::{Batch, Keys};
use super::error::EngineError;
use super::port::{Engine, EntryScan, KeyValue, MarkKeeper, Reader, Result, Revision, StoreMark, View};

#[derive(Debug, Default)]
pub(crate) struct MemoryEngine(RwLock<Arc<MemoryTables>>);

/// Contents at one moment. Views share it: a commit copies only the tables that a view still shows.
#[derive(Debug, Clone, Default)]
struct MemoryTables {
    tables: BTreeMap<&'static str, Arc<MemoryTable>>,
    commits: u64,
}

type MemoryTable = BTreeMap<Vec<u8>, Vec<u8>>;

/// Marks of a store in memory, which ends with its process and needs none.
#[derive(Debug)]
pub(super) struct NoMarks;

impl MemoryEngine {
    fn content(&self) -> Arc<MemoryTables> {
        Arc::clone(&self.0.read())
    }

    /// Locks the content for a change. No code panics while holding the lock, so the content is intact even if the lock
    /// is poisoned.
    fn change(&self) -> RwLockWriteGuard<'_, Arc<MemoryTables>> {
        self.0.write()
    }
}

impl Reader for MemoryEngine {
    fn tables(&self) -> Result<BTreeSet<String>> {
        Ok(self.content().tables.keys().map(|name| (*name).to_owned()).collect())
    }

    fn view(&self) -> Result<Box<dyn View + '_>> {
        Ok(Box::new(self.content()))
    }

    fn marks(&self) -> &dyn MarkKeeper {
        &NoMarks
    }

    fn disk_bytes(&self) -> Result<u64> {
        let content = self.content();
        let entries = content.tables.values().flat_map(|table| table.iter());
        Ok(entries.map(|(key, value)| (key.len() + value.len()) as u64).sum())
    }
}

impl Engine for MemoryEngine {
    fn create_tables(&mut self, tables: &[&'static str]) -> Result<()> {
        let mut held = self.change();
        let content = Arc::make_mut(&mut held);
        for name in tables {
            content.tables.entry(name).or_default();
        }
        Ok(())
    }

    fn commit(&self, based_on: Revision, batch: &Batch) -> Result<()> {
        let mut held = self.change();
        if held.commits != based_on.0 {
            return Err(EngineError::Conflict);
        }
        let content = Arc::make_mut(&mut held);
        for (name, changes) in batch.tables() {
            let table = Arc::make_mut(content.tables.entry(name).or_default());
            for (key, value) in changes {
                match value {
                    Some(value) => table.insert(key.to_vec(), value.to_vec()),
                    None => table.remove(key),
                };
            }
        }
        content.commits += 1;
        Ok(())
    }

    fn verify(&mut self) -> Result<bool> {
        Ok(true)
    }

    fn compact(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Removed data is gone already.
    fn rewrite(&self, tables: &[&'static str]) -> Result<()> {
        match self.content().tables.keys().find(|name| !tables.contains(name)) {
            Some(name) => Err(EngineError::Failed(format!("it has a table {name} that is not known"))),
            None => Ok(()),
        }
    }
}

impl MemoryTables {
    fn range<'a>(
        &'a self,
        table: &str,
        keys: &Keys,
    ) -> impl DoubleEndedIterator<Item = (&'a Vec<u8>, &'a Vec<u8>)> + use<'a> {
        // A map panics on a range that ends before it begins.
        let table = self.tables.get(table).filter(|_| !keys.is_empty());
        table.map(|table| table.range::<[u8], _>(keys.bounds())).into_iter().flatten()
    }
}

impl View for Arc<MemoryTables> {
    fn revision(&self) -> Revision {
        Revision(self.commits)
    }

    fn get(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.tables.get(table).and_then(|table| table.get(key)).cloned())
    }

    fn scan(&self, table: &str, keys: &Keys) -> Result<EntryScan<'_, KeyValue>> {
        Ok(Box::new(self.range(table, keys).map(|(key, value)| Ok((key.clone(), value.clone())))))
    }

    fn keys(&self, table: &str, keys: &Keys) -> Result<EntryScan<'_, Vec<u8>>> {
        Ok(Box::new(self.range(table, keys).map(|(key, _)| Ok(key.clone()))))
    }
}

impl MarkKeeper for NoMarks {
    fn newest(&self) -> Result<Option<StoreMark>> {
        Ok(None)
    }

    fn keep(&self, _mark: &StoreMark) -> Result<()> {
        Ok(())
    }

    fn replace(&self, _mark: Option<&StoreMark>) -> Result<()> {
        Ok(())
    }
}
