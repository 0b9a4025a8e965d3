//! The plain engine, for small stores: all data in memory, and one file to which each commit appends a record.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use ring::digest::{SHA256, digest};

use super::batch::{Batch, Keys};
use super::error::EngineError;
use super::mark::MarkFile;
use super::port::{Engine, EntryScan, KeyValue, MarkKeeper, Reader, Result, Revision, View};
use super::{folder, names, room};
use figaro_config::EngineKind;

/// First bytes of a store's file.
const HEADER: &[u8] = b"figaro plain store 1\n";
/// Stored bytes of a record's SHA-256.
const SUM: usize = 8;
/// Entries of a record: a new table, a new value, a removed key.
const TABLE: u8 = 0;
const PUT: u8 = 1;
const REMOVE: u8 = 2;

pub(super) struct PlainEngine {
    folder: PathBuf,
    marks: MarkFile,
    content: RwLock<Arc<PlainTables>>,
    /// The locked file; `None` after a write failed. Held by a commit from its check to its end.
    file: Mutex<Option<File>>,
}

/// Contents at one moment. Views share it: a commit copies only the tables that a view still shows.
#[derive(Debug, Clone, Default)]
struct PlainTables {
    tables: BTreeMap<String, Arc<PlainTable>>,
    /// Number of commits since the store was opened.
    commits: u64,
}

type PlainTable = BTreeMap<Vec<u8>, Vec<u8>>;

/// Body of a record.
#[derive(Debug, Default)]
struct PlainRecord(Vec<u8>);

impl PlainEngine {
    /// Opens the store in this folder, or creates an empty one; fails as `engine::open` does.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        if folder.is_file() {
            return Err(EngineError::Unreadable("it is a file, a store is a folder".to_owned()));
        }
        folder::prepare(folder).map_err(|error| EngineError::failed(&error))?;
        let _locked = folder::lock(folder)?;
        let path = names::file_of(EngineKind::Plain, folder);
        let mut file = folder::patiently(|| locked(&path))?;
        let content = load(&mut file)?;
        remove(&fresh_of(folder)).map_err(|error| EngineError::failed(&error))?;
        folder::sync_entries(folder).map_err(|error| EngineError::failed(&error))?;
        folder::mend(folder);
        Ok(Self {
            folder: folder.to_owned(),
            marks: MarkFile(names::mark_of(EngineKind::Plain, folder)),
            content: RwLock::new(Arc::new(content)),
            file: Mutex::new(Some(file)),
        })
    }

    fn path(&self) -> PathBuf {
        names::file_of(EngineKind::Plain, &self.folder)
    }

    fn content(&self) -> Arc<PlainTables> {
        Arc::clone(&self.content.read())
    }

    /// Replaces the file by one with the current content alone. Commits wait meanwhile.
    fn replace_file(&self) -> Result<()> {
        let failed = |error: io::Error| EngineError::failed(&error);
        let fresh = fresh_of(&self.folder);
        let _locked = folder::lock_patiently(&self.folder)?;
        let mut file = self.file.lock();
        if file.is_none() {
            return Err(broken());
        }
        room::for_copy(&self.folder, self.disk_bytes()?).map_err(failed)?;
        remove(&fresh).map_err(failed)?;
        // Locked before it gets its name, so that no other process can be faster.
        let mut new = locked(&fresh)?;
        new.write_all(HEADER).map_err(failed)?;
        new.write_all(&PlainRecord::of_content(&self.content()).sealed()).map_err(failed)?;
        new.sync_all().map_err(failed)?;
        fs::rename(&fresh, self.path()).map_err(failed)?;
        *file = Some(new);
        folder::sync_entries(&self.folder).map_err(failed)
    }
}

fn broken() -> EngineError {
    EngineError::failed(&"an earlier write of its file failed")
}

fn fresh_of(folder: &Path) -> PathBuf {
    folder.join("store.plain.fresh")
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Opens a file for appending, private from the first byte, and locks it until it is closed.
fn locked(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    let file = options.read(true).append(true).create(true).mode(folder::FILE).open(path);
    let file = file.map_err(|error| EngineError::failed(&error))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(EngineError::InUse),
        // A file system without locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Reads the content of a file, and removes a last record that a crash cut short.
fn load(file: &mut File) -> Result<PlainTables> {
    let failed = |error: io::Error| EngineError::failed(&error);
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() < HEADER.len() && HEADER.starts_with(&bytes) {
        file.set_len(0).map_err(failed)?;
        file.write_all(HEADER).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        return Ok(PlainTables::default());
    }
    let (content, whole) = replay(&bytes)?;
    if whole < bytes.len() {
        file.set_len(whole as u64).map_err(failed)?;
        file.sync_all().map_err(failed)?;
    }
    Ok(content)
}

/// Returns the content of a file, and the length of its whole records.
fn replay(bytes: &[u8]) -> Result<(PlainTables, usize)> {
    let damaged = |reason: &str| EngineError::Unreadable(reason.to_owned());
    let mut rest = bytes.strip_prefix(HEADER).ok_or_else(|| damaged("its file is none of a store"))?;
    let mut content = PlainTables::default();
    while let Some((sum, mut after)) = rest.split_first_chunk::<SUM>() {
        let Some(body) = part(&mut after) else { break };
        if *sum == sum_of(body) {
            content.apply(body).ok_or_else(|| damaged("its file is not as it was written"))?;
        } else if after.is_empty() {
            break;
        } else {
            return Err(damaged("its file is not as it was written"));
        }
        rest = after;
    }
    Ok((content, bytes.len() - rest.len()))
}

/// Takes a part, behind its length, from the front of `rest`. `None` if it is not whole.
fn part<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<8>()?;
    let (part, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    *rest = after;
    Some(part)
}

fn sum_of(body: &[u8]) -> [u8; SUM] {
    let mut sum = [0; SUM];
    sum.copy_from_slice(&digest(&SHA256, body).as_ref()[..SUM]);
    sum
}

impl PlainRecord {
    fn of_content(content: &PlainTables) -> Self {
        let mut record = Self::default();
        for (name, table) in &content.tables {
            record.add(TABLE, name, b"", b"");
            table.iter().for_each(|(key, value)| record.add(PUT, name, key, value));
        }
        record
    }

    fn of_batch(batch: &Batch) -> Self {
        let mut record = Self::default();
        for (name, changes) in batch.tables() {
            for (key, value) in changes {
                let kind = if value.is_some() { PUT } else { REMOVE };
                record.add(kind, name, key, value.unwrap_or_default());
            }
        }
        record
    }

    fn add(&mut self, kind: u8, table: &str, key: &[u8], value: &[u8]) {
        self.0.push(kind);
        for part in [table.as_bytes(), key, value] {
            self.0.extend((part.len() as u64).to_le_bytes());
            self.0.extend(part);
        }
    }

    /// Returns the record as it is written: checksum, length and body.
    fn sealed(&self) -> Vec<u8> {
        let length = (self.0.len() as u64).to_le_bytes();
        [&sum_of(&self.0)[..], &length, &self.0].concat()
    }

    /// Appends the record to the file, durably. After a failure nothing more is written.
    fn append(&self, file: &mut Option<File>) -> Result<()> {
        let open = file.as_mut().ok_or_else(broken)?;
        let written = open.write_all(&self.sealed()).and_then(|()| open.sync_data());
        if written.is_err() {
            *file = None;
        }
        written.map_err(|error| EngineError::failed(&error))
    }
}

impl PlainTables {
    /// Makes the changes of a record's body. `None` if it cannot be read.
    fn apply(&mut self, body: &[u8]) -> Option<()> {
        let mut rest = body;
        while let Some((kind, after)) = rest.split_first() {
            rest = after;
            let name = std::str::from_utf8(part(&mut rest)?).ok()?;
            let (key, value) = (part(&mut rest)?, part(&mut rest)?);
            if !self.tables.contains_key(name) {
                self.tables.insert(name.to_owned(), Arc::default());
            }
            let table = Arc::make_mut(self.tables.get_mut(name)?);
            match *kind {
                TABLE => {}
                PUT => drop(table.insert(key.to_vec(), value.to_vec())),
                REMOVE => drop(table.remove(key)),
                _ => return None,
            }
        }
        Some(())
    }

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

impl Reader for PlainEngine {
    fn tables(&self) -> Result<BTreeSet<String>> {
        Ok(self.content().tables.keys().cloned().collect())
    }

    fn view(&self) -> Result<Box<dyn View + '_>> {
        Ok(Box::new(self.content()))
    }

    fn marks(&self) -> &dyn MarkKeeper {
        &self.marks
    }

    fn disk_bytes(&self) -> Result<u64> {
        let file = fs::metadata(self.path());
        file.map(|file| file.len()).map_err(|error| EngineError::failed(&error))
    }
}

impl Engine for PlainEngine {
    fn create_tables(&mut self, tables: &[&'static str]) -> Result<()> {
        let mut record = PlainRecord::default();
        let content = self.content.get_mut();
        for name in tables.iter().filter(|name| !content.tables.contains_key(**name)) {
            record.add(TABLE, name, b"", b"");
        }
        if record.0.is_empty() {
            return Ok(());
        }
        record.append(self.file.get_mut())?;
        Arc::make_mut(content).apply(&record.0).ok_or_else(broken)
    }

    fn commit(&self, based_on: Revision, batch: &Batch) -> Result<()> {
        let mut file = self.file.lock();
        if self.content.read().commits != based_on.0 {
            return Err(EngineError::Conflict);
        }
        let record = PlainRecord::of_batch(batch);
        record.append(&mut file)?;
        let mut held = self.content.write();
        let content = Arc::make_mut(&mut held);
        content.commits += 1;
        content.apply(&record.0).ok_or_else(broken)
    }

    fn verify(&mut self) -> Result<bool> {
        let bytes = fs::read(self.path()).map_err(|error| EngineError::failed(&error))?;
        Ok(replay(&bytes).is_ok_and(|(_, whole)| whole == bytes.len()))
    }

    fn compact(&mut self) -> Result<bool> {
        let before = self.disk_bytes()?;
        self.replace_file()?;
        Ok(self.disk_bytes()? < before)
    }

    fn rewrite(&self, tables: &[&'static str]) -> Result<()> {
        match self.content().tables.keys().find(|name| !tables.contains(&name.as_str())) {
            Some(name) => Err(EngineError::Failed(format!("it has a table {name} that is not known"))),
            None => self.replace_file(),
        }
    }
}

impl View for Arc<PlainTables> {
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

impl fmt::Debug for PlainEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlainEngine").field("folder", &self.folder).finish_non_exhaustive()
    }
}
