//! The redb engine, with one file in a folder and a redb table per table.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard, RwLock};
use redb::{
    CommitError, CompactionError, Database, DatabaseError, ReadOnlyDatabase, ReadOnlyTable, ReadTransaction,
    ReadableDatabase, StorageError, TableDefinition, TableError, TableHandle, TransactionError,
};

use super::batch::{Batch, Keys};
use super::error::EngineError;
use super::mark::MarkFile;
use super::port::{Engine, EntryScan, KeyValue, MarkKeeper, Reader, Result, Revision, View};
use super::rewrite::{Rewritable, Since, fresh_of, remove, rewrite};
use super::{folder, names};
use figaro_config::EngineKind;

/// Cache limit of redb in bytes: enough for current conversations, not for the history.
const CACHE: usize = 8 * 1024 * 1024;

pub(super) struct RedbEngine {
    folder: PathBuf,
    marks: MarkFile,
    /// The database, replaced when the store is rewritten.
    db: RwLock<Arc<Database>>,
    /// Number of commits since the store was opened.
    commits: AtomicU64,
    /// Held by a commit from reading that number to its end. Views do not wait for it.
    committing: Mutex<()>,
    since: Since,
}

impl RedbEngine {
    /// Opens the store in this folder, or creates an empty one; fails as `engine::open` does.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        if folder.is_file() {
            return Err(EngineError::Unreadable("it is a file, a store is a folder".to_owned()));
        }
        folder::prepare(folder).map_err(|error| EngineError::failed(&error))?;
        let _locked = folder::lock(folder)?;
        let db = open_or_create(folder)?;
        // No other process is rewriting the store: it is locked now.
        remove(&fresh_of(folder)).map_err(|error| EngineError::failed(&error))?;
        folder::sync_entries(folder).map_err(|error| EngineError::failed(&error))?;
        folder::mend(folder);
        Ok(Self {
            folder: folder.to_owned(),
            marks: MarkFile(names::mark_of(EngineKind::Redb, folder)),
            db: RwLock::new(Arc::new(db)),
            commits: AtomicU64::default(),
            committing: Mutex::default(),
            since: Since::default(),
        })
    }

    fn db(&self) -> Arc<Database> {
        Arc::clone(&self.db.read())
    }

    /// Returns the database for exclusive use.
    fn db_mut(&mut self) -> Result<&mut Database> {
        let db = self.db.get_mut();
        Arc::get_mut(db).ok_or_else(|| EngineError::failed(&"somebody looks at it"))
    }
}

fn open(file: &Path) -> Result<Database> {
    folder::patiently(|| {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE);
        builder.create(file).map_err(open_error)
    })
}

/// Opens the file of a folder. A new file gets its name once it is whole, so that a crash leaves none, or a whole one.
fn open_or_create(folder: &Path) -> Result<Database> {
    let (named, fresh) = (file(folder), fresh_of(folder));
    let failed = |error: io::Error| EngineError::failed(&error);
    match fs::symlink_metadata(&named) {
        Ok(found) if found.is_file() && found.len() == 0 => {}
        // A link is followed, and its file made there.
        Ok(_) => return prepare(folder).map_err(failed).and_then(|()| open(&named)),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    remove(&fresh).and_then(|()| prepare(&fresh)).map_err(failed)?;
    let db = open(&file(&fresh))?;
    fs::rename(file(&fresh), named).map_err(failed)?;
    Ok(db)
}

/// Creates the folder and the file, private from the first byte.
fn prepare(folder: &Path) -> io::Result<()> {
    folder::prepare(folder)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(folder::FILE);
    options.open(file(folder)).map(drop)
}

fn file(folder: &Path) -> PathBuf {
    names::file_of(EngineKind::Redb, folder)
}

const fn definition(table: &str) -> TableDefinition<'_, &'static [u8], &'static [u8]> {
    TableDefinition::new(table)
}

impl Rewritable for RedbEngine {
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

    /// Open views continue to show the old file, which no longer has a name.
    fn adopt(&self, fresh: &Path) -> Result<()> {
        let failed = |error: io::Error| EngineError::failed(&error);
        // Opened before it gets its name, so that no other process can be faster.
        let db = open(&file(fresh))?;
        fs::rename(file(fresh), file(&self.folder)).map_err(failed)?;
        // Before anything else can fail: from now on the old file has no name.
        let old = std::mem::replace(&mut *self.db.write(), Arc::new(db));
        drop(old);
        folder::sync_entries(&self.folder).map_err(failed)?;
        remove(fresh).map_err(failed)
    }
}

impl Reader for RedbEngine {
    fn tables(&self) -> Result<BTreeSet<String>> {
        tables(&*self.db())
    }

    fn view(&self) -> Result<Box<dyn View + '_>> {
        // Read the number first: a commit in between makes the view newer than its number, so a batch based on it may be
        // refused without need, but is never accepted wrongly.
        let revision = Revision(self.commits.load(Ordering::Acquire));
        let db = self.db();
        let read = db.begin_read().map_err(transaction_error)?;
        Ok(Box::new(RedbView { read, revision, _db: Some(db) }))
    }

    fn marks(&self) -> &dyn MarkKeeper {
        &self.marks
    }

    fn disk_bytes(&self) -> Result<u64> {
        disk_bytes(&self.folder)
    }
}

impl Engine for RedbEngine {
    fn create_tables(&mut self, tables: &[&'static str]) -> Result<()> {
        let known = self.tables()?;
        if tables.iter().all(|name| known.contains(*name)) {
            return Ok(());
        }
        let write = self.db_mut()?.begin_write().map_err(transaction_error)?;
        for name in tables {
            write.open_table(definition(name)).map_err(table_error)?;
        }
        write.commit().map_err(commit_error)
    }

    fn commit(&self, based_on: Revision, batch: &Batch) -> Result<()> {
        let _alone = self.alone();
        let db = self.db();
        let write = db.begin_write().map_err(transaction_error)?;
        if self.commits.load(Ordering::Acquire) != based_on.0 {
            return Err(EngineError::Conflict);
        }
        for (name, changes) in batch.tables() {
            let mut table = write.open_table(definition(name)).map_err(table_error)?;
            for (key, value) in changes {
                match value {
                    Some(value) => table.insert(key, value).map_err(storage_error)?,
                    None => table.remove(key).map_err(storage_error)?,
                };
            }
        }
        write.commit().map_err(commit_error)?;
        self.commits.fetch_add(1, Ordering::Release);
        self.since.note(batch);
        Ok(())
    }

    fn verify(&mut self) -> Result<bool> {
        self.db_mut()?.check_integrity().map_err(open_error)
    }

    fn compact(&mut self) -> Result<bool> {
        self.db_mut()?.compact().map_err(|error| match error {
            CompactionError::Storage(error) => storage_error(error),
            error => EngineError::failed(&error),
        })
    }

    fn rewrite(&self, tables: &[&'static str]) -> Result<()> {
        rewrite(self, tables)
    }
}

fn tables(db: &impl ReadableDatabase) -> Result<BTreeSet<String>> {
    let read = db.begin_read().map_err(transaction_error)?;
    let tables = read.list_tables().map_err(storage_error)?;
    Ok(tables.map(|table| table.name().to_owned()).collect())
}

/// A redb store opened read-only: no file is opened for writing.
pub(super) struct RedbReader {
    folder: PathBuf,
    marks: MarkFile,
    db: ReadOnlyDatabase,
}

impl RedbReader {
    /// Opens the store in this folder; `None` if it was not closed and has to be repaired before reading.
    pub(super) fn open(folder: &Path) -> Result<Option<Self>> {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE);
        let db = match builder.open_read_only(file(folder)) {
            Ok(db) => db,
            Err(DatabaseError::RepairAborted) => return Ok(None),
            Err(error) => return Err(open_error(error)),
        };
        let marks = MarkFile(names::mark_of(EngineKind::Redb, folder));
        Ok(Some(Self { folder: folder.to_owned(), marks, db }))
    }
}

impl Reader for RedbReader {
    fn tables(&self) -> Result<BTreeSet<String>> {
        tables(&self.db)
    }

    fn view(&self) -> Result<Box<dyn View + '_>> {
        let read = self.db.begin_read().map_err(transaction_error)?;
        Ok(Box::new(RedbView { read, revision: Revision(0), _db: None }))
    }

    fn marks(&self) -> &dyn MarkKeeper {
        &self.marks
    }

    fn disk_bytes(&self) -> Result<u64> {
        disk_bytes(&self.folder)
    }
}

impl fmt::Debug for RedbReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedbReader").field("folder", &self.folder).finish_non_exhaustive()
    }
}

fn disk_bytes(folder: &Path) -> Result<u64> {
    let file = std::fs::metadata(file(folder));
    file.map(|file| file.len()).map_err(|error| EngineError::failed(&error))
}

impl fmt::Debug for RedbEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedbEngine").field("folder", &self.folder).finish_non_exhaustive()
    }
}

struct RedbView {
    read: ReadTransaction,
    revision: Revision,
    /// Closed with its last view, even if another database has replaced it.
    _db: Option<Arc<Database>>,
}

impl RedbView {
    fn table(&self, table: &str) -> Result<Option<ReadOnlyTable<&'static [u8], &'static [u8]>>> {
        match self.read.open_table(definition(table)) {
            Ok(table) => Ok(Some(table)),
            Err(TableError::TableDoesNotExist(_)) => Ok(None),
            Err(error) => Err(table_error(error)),
        }
    }

    fn range(
        &self,
        table: &str,
        keys: &Keys,
    ) -> Result<Option<redb::Range<'static, &'static [u8], &'static [u8]>>> {
        match self.table(table)? {
            Some(table) if !keys.is_empty() => {
                table.range::<&[u8]>(keys.bounds()).map(Some).map_err(storage_error)
            }
            _ => Ok(None),
        }
    }
}

impl View for RedbView {
    fn revision(&self) -> Revision {
        self.revision
    }

    fn get(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(table) = self.table(table)? else { return Ok(None) };
        let found = table.get(key).map_err(storage_error)?;
        Ok(found.map(|value| value.value().to_vec()))
    }

    fn scan(&self, table: &str, keys: &Keys) -> Result<EntryScan<'_, KeyValue>> {
        let Some(found) = self.range(table, keys)? else { return Ok(Box::new(std::iter::empty())) };
        Ok(Box::new(found.map(|item| match item {
            Ok((key, value)) => Ok((key.value().to_vec(), value.value().to_vec())),
            Err(error) => Err(storage_error(error)),
        })))
    }

    fn keys(&self, table: &str, keys: &Keys) -> Result<EntryScan<'_, Vec<u8>>> {
        let Some(found) = self.range(table, keys)? else { return Ok(Box::new(std::iter::empty())) };
        Ok(Box::new(found.map(|item| match item {
            Ok((key, _)) => Ok(key.value().to_vec()),
            Err(error) => Err(storage_error(error)),
        })))
    }
}

fn open_error(error: DatabaseError) -> EngineError {
    match error {
        DatabaseError::DatabaseAlreadyOpen => EngineError::InUse,
        DatabaseError::UpgradeRequired(_) => {
            EngineError::unreadable("its file has a form that only an older version can read", &error)
        }
        DatabaseError::RepairAborted => {
            EngineError::unreadable("it was not closed well, and mending it broke off", &error)
        }
        DatabaseError::Storage(error) => storage_error(error),
        error => EngineError::failed(&error),
    }
}

fn transaction_error(error: TransactionError) -> EngineError {
    match error {
        TransactionError::Storage(error) => storage_error(error),
        error => EngineError::failed(&error),
    }
}

fn table_error(error: TableError) -> EngineError {
    match error {
        TableError::Storage(error) => storage_error(error),
        TableError::TableDoesNotExist(_) | TableError::TableAlreadyOpen(..) => EngineError::failed(&error),
        error => EngineError::unreadable("it is the database of another program", &error),
    }
}

fn commit_error(error: CommitError) -> EngineError {
    match error {
        CommitError::Storage(error) => storage_error(error),
        error => EngineError::failed(&error),
    }
}

fn storage_error(error: StorageError) -> EngineError {
    match error {
        StorageError::Corrupted(said) => EngineError::unreadable("its file is not as it was written", &said),
        // Error for a file that is not redb's.
        StorageError::Io(error) if error.kind() == ErrorKind::InvalidData => {
            EngineError::unreadable("its file is none of a store, or its beginning is damaged", &error)
        }
        StorageError::Io(error) => EngineError::failed(&error),
        StorageError::PreviousIo => EngineError::failed(&"an earlier write or read of its file failed"),
        error => EngineError::failed(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_whose_making_was_cut_off_is_made_anew() {
        let place = tempfile::tempdir().unwrap();
        let (folder, fresh) = (place.path(), fresh_of(place.path()));
        fs::write(file(folder), "").unwrap();
        fs::create_dir(&fresh).unwrap();
        fs::write(file(&fresh), [0; 512]).unwrap();
        let mut engine = RedbEngine::open(folder).unwrap();
        engine.create_tables(&["t"]).unwrap();
        assert!(!fresh.exists());
        drop(engine);
        assert_eq!(RedbEngine::open(folder).unwrap().tables().unwrap(), BTreeSet::from(["t".to_owned()]));
    }
}
