//! The engine that sled keeps in a folder: a tree per table.
//!
//! sled has no view of one moment over several trees, so commits wait while a view is held. Views are short.

mod files;
mod sync;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use sled::transaction::{ConflictableTransactionError, TransactionError};
use sled::{Config, Db, IVec, Transactional, Tree};

use self::sync::Files;
use super::batch::{Batch, Keys};
use super::error::EngineError;
use super::mark::MarkFile;
use super::port::{Engine, Entry, MarkKeeper, Reader, Result, Revision, Scan, View};
use super::{folder, names};
use crate::config::EngineKind;

/// Bytes sled keeps in memory: the conversations of the moment, not the history.
const CACHE: u64 = 16 * 1024 * 1024;
/// How often sled writes what nobody made durable and collects its garbage, which nothing else does.
const FLUSH_EVERY_MS: u64 = 500;

/// A store that sled keeps.
pub(super) struct SledEngine {
    folder: PathBuf,
    marks: MarkFile,
    db: Db,
    trees: BTreeMap<String, Tree>,
    files: Files,
    /// How many commits there were. Held for writing by a commit, for reading by a view.
    commits: RwLock<u64>,
}

impl SledEngine {
    /// Opens the store in this folder, or makes an empty one; fails as `engine::open` says.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        if let Some(reason) = files::objection(folder).map_err(|error| EngineError::failed(&error))? {
            return Err(EngineError::Unreadable(reason));
        }
        folder::prepare(folder).map_err(|error| EngineError::failed(&error))?;
        folder::patiently(|| files::tidy(folder))?;
        let config = Config::new().path(folder).cache_capacity(CACHE).flush_every_ms(Some(FLUSH_EVERY_MS));
        let db = folder::patiently(|| config.open().map_err(open_error))?;
        // sled makes a tree of its own in each database, which does not count while it is empty.
        let names = db.tree_names().into_iter().filter(|name| *name != db.name() || !db.is_empty());
        let open = |name: IVec| {
            let tree = db.open_tree(&name).map_err(engine_error)?;
            Ok((String::from_utf8_lossy(&name).into_owned(), tree))
        };
        let trees = names.map(open).collect::<Result<_>>()?;
        let files = Files::open(db.clone(), folder).map_err(sync_error)?;
        folder::mend(folder);
        let marks = MarkFile(names::mark_of(EngineKind::Sled, folder));
        Ok(Self { folder: folder.to_owned(), marks, db, trees, files, commits: RwLock::default() })
    }
}

impl Reader for SledEngine {
    fn tables(&self) -> Result<BTreeSet<String>> {
        Ok(self.trees.keys().cloned().collect())
    }

    fn view(&self) -> Result<Box<dyn View + '_>> {
        let commits = self.commits.read().unwrap_or_else(PoisonError::into_inner);
        Ok(Box::new(SledView { engine: self, commits }))
    }

    fn marks(&self) -> &dyn MarkKeeper {
        &self.marks
    }

    fn disk_bytes(&self) -> Result<u64> {
        folder::size(&self.folder).map_err(|error| EngineError::failed(&error))
    }
}

impl Engine for SledEngine {
    fn create_tables(&mut self, tables: &[&'static str]) -> Result<()> {
        for &name in tables {
            if !self.trees.contains_key(name) {
                self.trees.insert(name.to_owned(), self.db.open_tree(name).map_err(engine_error)?);
            }
        }
        Ok(())
    }

    fn commit(&self, based_on: Revision, batch: &Batch) -> Result<()> {
        let mut commits = self.commits.write().unwrap_or_else(PoisonError::into_inner);
        if *commits != based_on.0 {
            return Err(EngineError::Conflict);
        }
        let mut trees = Vec::new();
        let mut batches = Vec::new();
        for (table, changes) in batch.tables() {
            let mut of_table = sled::Batch::default();
            for (key, value) in changes {
                match value {
                    Some(value) => of_table.insert(key, value),
                    None => of_table.remove(key),
                }
            }
            let missing = || EngineError::failed(&format!("there is no table {table}"));
            trees.push(self.trees.get(table).ok_or_else(missing)?.clone());
            batches.push(of_table);
        }
        if trees.is_empty() {
            return Ok(());
        }
        let done = trees.as_slice().transaction(|trees| {
            for (tree, batch) in trees.iter().zip(&batches) {
                tree.apply_batch(batch)?;
            }
            Ok::<_, ConflictableTransactionError<sled::Error>>(())
        });
        done.map_err(|error| match error {
            TransactionError::Abort(error) | TransactionError::Storage(error) => engine_error(error),
        })?;
        *commits += 1;
        drop(commits);
        self.files.sync().map_err(sync_error)
    }

    /// sled compares its own sums when it reads.
    fn verify(&mut self) -> Result<bool> {
        for tree in self.trees.values() {
            tree.iter().try_for_each(|item| item.map(drop)).map_err(engine_error)?;
        }
        Ok(true)
    }

    /// sled does that by itself, as far as it does.
    fn compact(&mut self) -> Result<bool> {
        Ok(false)
    }
}

impl fmt::Debug for SledEngine {
    /// Without what is stored: sled would print all of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SledEngine").field("folder", &self.folder).finish_non_exhaustive()
    }
}

struct SledView<'a> {
    engine: &'a SledEngine,
    /// Keeps commits away.
    commits: RwLockReadGuard<'a, u64>,
}

impl SledView<'_> {
    fn range(&self, table: &str, keys: &Keys) -> Option<sled::Iter> {
        let tree = self.engine.trees.get(table).filter(|_| !keys.is_empty())?;
        Some(tree.range::<&[u8], _>(keys.bounds()))
    }
}

impl View for SledView<'_> {
    fn revision(&self) -> Revision {
        Revision(*self.commits)
    }

    fn get(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(tree) = self.engine.trees.get(table) else { return Ok(None) };
        Ok(tree.get(key).map_err(engine_error)?.map(|value| value.to_vec()))
    }

    fn scan(&self, table: &str, keys: &Keys) -> Result<Scan<'_, Entry>> {
        let Some(found) = self.range(table, keys) else { return Ok(Box::new(std::iter::empty())) };
        Ok(Box::new(found.map(|item| match item {
            Ok((key, value)) => Ok((key.to_vec(), value.to_vec())),
            Err(error) => Err(engine_error(error)),
        })))
    }

    fn keys(&self, table: &str, keys: &Keys) -> Result<Scan<'_, Vec<u8>>> {
        let Some(found) = self.range(table, keys) else { return Ok(Box::new(std::iter::empty())) };
        Ok(Box::new(found.keys().map(|key| key.map(|key| key.to_vec()).map_err(engine_error))))
    }
}

/// An error while opening. sled has none of its own for a lock that another holds.
fn open_error(error: sled::Error) -> EngineError {
    match error {
        sled::Error::Io(error) if is_locked(&error.to_string()) => EngineError::InUse,
        sled::Error::Unsupported(said) => {
            EngineError::unreadable("it was made with other settings or by another version of sled", &said)
        }
        error => engine_error(error),
    }
}

fn is_locked(text: &str) -> bool {
    text.starts_with("could not acquire lock") && text.contains("WouldBlock")
}

fn engine_error(error: sled::Error) -> EngineError {
    match error {
        sled::Error::Corruption { .. } | sled::Error::ReportableBug(_) => {
            EngineError::unreadable("its files are not as they were written", &error)
        }
        // Of an error that it has copied, sled keeps the kind and a debug form.
        sled::Error::Io(error) if error.kind() != std::io::ErrorKind::Other => {
            EngineError::failed(&error.kind())
        }
        sled::Error::Io(error) => EngineError::failed(&error),
        error => EngineError::failed(&error),
    }
}

fn sync_error(error: sync::Error) -> EngineError {
    match error {
        sync::Error::Engine(error) => engine_error(error),
        sync::Error::Io(error) => EngineError::failed(&error),
    }
}
