//! The sled engine, with a folder and a sled tree per table.
//!
//! sled has no snapshot over several trees, so commits wait while a view is held. Views are short.

mod files;
mod stages;
mod sync;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard};
use sled::transaction::{ConflictableTransactionError, TransactionError};
use sled::{Config, Db, IVec, Transactional, Tree};

use self::sync::StoreFiles;
use super::batch::{Batch, Keys};
use super::error::EngineError;
use super::mark::MarkFile;
use super::port::{Engine, EntryScan, KeyValue, MarkKeeper, Reader, Result, Revision, View};
use super::rewrite::{Rewritable, Since, copy_into, copy_of, fresh_of, remove, rewrite};
use super::{folder, names};
use figaro_config::EngineKind;

/// Cache limit of sled in bytes: enough for current conversations, not for the history.
const CACHE: u64 = 16 * 1024 * 1024;
/// Interval at which sled writes changes that were not made durable and collects garbage; nothing else triggers that.
const FLUSH_EVERY_MS: u64 = 500;

pub(super) struct SledEngine {
    folder: PathBuf,
    marks: MarkFile,
    /// Held by a commit until it is durable.
    committing: Mutex<()>,
    since: Since,
    /// Locked for writing by a commit, for reading by a view. `None` if reopening after a rewrite failed.
    open: RwLock<Option<OpenDatabase>>,
}

/// The database of an open store.
struct OpenDatabase {
    db: Db,
    trees: BTreeMap<String, Tree>,
    files: Arc<StoreFiles>,
    /// Number of commits since the store was opened.
    commits: u64,
}

impl SledEngine {
    /// Opens the store in this folder, or creates an empty one; fails as `engine::open` does.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let _locked = folder::lock(folder).map_err(|error| match folder.is_file() {
            true => EngineError::Unreadable("it is a file, a store is a folder".to_owned()),
            false => error,
        })?;
        stages::recover(folder).map_err(|error| EngineError::failed(&error))?;
        if let Some(reason) = files::objection(folder).map_err(|error| EngineError::failed(&error))? {
            return Err(EngineError::Unreadable(reason));
        }
        folder::prepare(folder).map_err(|error| EngineError::failed(&error))?;
        folder::patiently(|| files::tidy(folder))?;
        let open = OpenDatabase::in_folder(folder, 0)?;
        // No other process is rewriting the store: it is locked now.
        for left in [fresh_of(folder), copy_of(folder)] {
            remove(&left).map_err(|error| EngineError::failed(&error))?;
        }
        folder::mend(folder);
        let marks = MarkFile(names::mark_of(EngineKind::Sled, folder));
        let open = RwLock::new(Some(open));
        Ok(Self {
            folder: folder.to_owned(),
            marks,
            committing: Mutex::default(),
            since: Since::default(),
            open,
        })
    }

    fn opened(&self) -> RwLockReadGuard<'_, Option<OpenDatabase>> {
        self.open.read()
    }
}

impl OpenDatabase {
    /// Opens the database in this folder, continuing from `commits`.
    fn in_folder(folder: &Path, commits: u64) -> Result<Self> {
        let config = Config::new().path(folder).cache_capacity(CACHE).flush_every_ms(Some(FLUSH_EVERY_MS));
        let db = folder::patiently(|| config.open().map_err(open_error))?;
        // sled creates a default tree in each database, which is ignored while it is empty.
        let names = db.tree_names().into_iter().filter(|name| *name != db.name() || !db.is_empty());
        let open = |name: IVec| {
            let tree = db.open_tree(&name).map_err(engine_error)?;
            Ok((String::from_utf8_lossy(&name).into_owned(), tree))
        };
        let trees = names.map(open).collect::<Result<_>>()?;
        let files = Arc::new(StoreFiles::open(db.clone(), folder).map_err(sync_error)?);
        Ok(Self { db, trees, files, commits })
    }

    /// Makes the changes of a batch, all or none; not durable yet.
    fn apply(&mut self, based_on: Revision, batch: &Batch) -> Result<()> {
        if self.commits != based_on.0 {
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
        self.commits += 1;
        Ok(())
    }

    fn get(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(tree) = self.trees.get(table) else { return Ok(None) };
        Ok(tree.get(key).map_err(engine_error)?.map(|value| value.to_vec()))
    }

    fn range(&self, table: &str, keys: &Keys) -> Option<sled::Iter> {
        let tree = self.trees.get(table).filter(|_| !keys.is_empty())?;
        Some(tree.range::<&[u8], _>(keys.bounds()))
    }

    fn scan(&self, table: &str, keys: &Keys) -> EntryScan<'_, KeyValue> {
        let Some(found) = self.range(table, keys) else { return Box::new(std::iter::empty()) };
        Box::new(found.map(|item| match item {
            Ok((key, value)) => Ok((key.to_vec(), value.to_vec())),
            Err(error) => Err(engine_error(error)),
        }))
    }

    fn keys(&self, table: &str, keys: &Keys) -> EntryScan<'_, Vec<u8>> {
        let Some(found) = self.range(table, keys) else { return Box::new(std::iter::empty()) };
        Box::new(found.keys().map(|key| key.map(|key| key.to_vec()).map_err(engine_error)))
    }
}

/// Error of any call on a store that could not be reopened.
fn closed() -> EngineError {
    EngineError::failed(&"it could not be opened again after it was rewritten")
}

impl Rewritable for SledEngine {
    fn folder(&self) -> &Path {
        &self.folder
    }

    fn since(&self) -> &Since {
        &self.since
    }

    fn alone(&self) -> MutexGuard<'_, ()> {
        self.committing.lock()
    }

    fn open_fresh(&self, folder: &Path) -> Result<Box<dyn Engine>> {
        Ok(Box::new(Self::open(folder)?))
    }

    /// Closes and reopens the store, since its files move.
    fn adopt(&self, fresh: &Path) -> Result<()> {
        // Threads of a closed store hold it, and write its files, for a moment longer.
        folder::once_closed(|| files::tidy(fresh))?;
        let mut open = self.open.write();
        let commits = open.take().map(|open| open.commits).ok_or_else(closed)?;
        let mut replaced = folder::once_closed(|| files::tidy(&self.folder));
        if replaced.is_ok() {
            replaced = stages::replace(&self.folder, fresh).map_err(|error| EngineError::failed(&error));
        }
        *open = Some(folder::once_closed(|| OpenDatabase::in_folder(&self.folder, commits))?);
        drop(open);
        folder::mend(&self.folder);
        replaced
    }
}

impl Reader for SledEngine {
    fn tables(&self) -> Result<BTreeSet<String>> {
        Ok(self.opened().as_ref().ok_or_else(closed)?.trees.keys().cloned().collect())
    }

    fn view(&self) -> Result<Box<dyn View + '_>> {
        let open = self.opened();
        if open.is_none() {
            return Err(closed());
        }
        Ok(Box::new(SledView { open }))
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
        let open = self.open.get_mut();
        let OpenDatabase { db, trees, .. } = open.as_mut().ok_or_else(closed)?;
        for &name in tables {
            if !trees.contains_key(name) {
                trees.insert(name.to_owned(), db.open_tree(name).map_err(engine_error)?);
            }
        }
        Ok(())
    }

    fn commit(&self, based_on: Revision, batch: &Batch) -> Result<()> {
        let _alone = self.alone();
        let mut opened = self.open.write();
        let open = opened.as_mut().ok_or_else(closed)?;
        open.apply(based_on, batch)?;
        if batch.is_empty() {
            return Ok(());
        }
        let files = Arc::clone(&open.files);
        drop(opened);
        files.sync().map_err(sync_error)?;
        self.since.note(batch);
        Ok(())
    }

    /// sled checks its own checksums when it reads.
    fn verify(&mut self) -> Result<bool> {
        let open = self.open.get_mut();
        for tree in open.as_ref().ok_or_else(closed)?.trees.values() {
            tree.iter().try_for_each(|item| item.map(drop)).map_err(engine_error)?;
        }
        Ok(true)
    }

    /// sled compacts by itself, as far as it can.
    fn compact(&mut self) -> Result<bool> {
        Ok(false)
    }

    fn snapshot(&self, tables: &[&'static str]) -> Result<Box<dyn View + '_>> {
        let place = CopyPlace(copy_of(&self.folder));
        drop(copy_into(self, &place.0, tables)?);
        let open = folder::once_closed(|| OpenDatabase::in_folder(&place.0, 0))?;
        match tables.iter().find(|table| !open.trees.contains_key(**table)) {
            Some(table) => Err(EngineError::Failed(format!("its copy has no table {table}"))),
            None => Ok(Box::new(SledCopy { open, _place: place })),
        }
    }

    fn rewrite(&self, tables: &[&'static str]) -> Result<()> {
        // Left by a backup; none runs now.
        remove(&copy_of(&self.folder)).map_err(|error| EngineError::failed(&error))?;
        rewrite(self, tables)
    }
}

impl fmt::Debug for SledEngine {
    /// Leaves the contents out: sled would print all of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SledEngine").field("folder", &self.folder).finish_non_exhaustive()
    }
}

struct SledView<'a> {
    /// Blocks commits.
    open: RwLockReadGuard<'a, Option<OpenDatabase>>,
}

impl View for SledView<'_> {
    fn revision(&self) -> Revision {
        Revision(self.open.as_ref().map_or(0, |open| open.commits))
    }

    fn get(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.open.as_ref().map_or(Ok(None), |open| open.get(table, key))
    }

    fn scan(&self, table: &str, keys: &Keys) -> Result<EntryScan<'_, KeyValue>> {
        Ok(self
            .open
            .as_ref()
            .map_or_else(|| Box::new(std::iter::empty()) as _, |open| open.scan(table, keys)))
    }

    fn keys(&self, table: &str, keys: &Keys) -> Result<EntryScan<'_, Vec<u8>>> {
        Ok(self
            .open
            .as_ref()
            .map_or_else(|| Box::new(std::iter::empty()) as _, |open| open.keys(table, keys)))
    }
}

/// A copy of a store, for a reader that takes long. It is closed before its folder is removed.
struct SledCopy {
    open: OpenDatabase,
    _place: CopyPlace,
}

struct CopyPlace(PathBuf);

impl Drop for CopyPlace {
    fn drop(&mut self) {
        // Threads of the closed copy write its files for a moment longer.
        let closed = folder::once_closed(|| files::tidy(&self.0));
        // Leftovers are removed by a rewrite, and when the store is opened.
        if let Err(error) = closed.and_then(|()| remove(&self.0).map_err(|error| EngineError::failed(&error)))
        {
            tracing::warn!(%error, "a copy of the store for a backup could not be removed yet");
        }
    }
}

impl View for SledCopy {
    fn revision(&self) -> Revision {
        Revision(0)
    }

    fn get(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.open.get(table, key)
    }

    fn scan(&self, table: &str, keys: &Keys) -> Result<EntryScan<'_, KeyValue>> {
        Ok(self.open.scan(table, keys))
    }

    fn keys(&self, table: &str, keys: &Keys) -> Result<EntryScan<'_, Vec<u8>>> {
        Ok(self.open.keys(table, keys))
    }
}

/// Converts an error of opening. sled has no error of its own for a lock held by another process.
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
        // sled keeps only the kind and a debug form of an error that it has copied.
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
