//! Durable points of sled, whose flush alone is not enough. It ends in `sync_file_range`, which neither waits for the
//! disk's own cache nor records the file's new length. Nor does sled ever sync the files of large values.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use sled::Db;

use super::super::folder::{sync_entries, sync_if_there};

/// Error of a durable point.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// sled could not write its log to the file.
    #[error(transparent)]
    Engine(#[from] sled::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Files of a store that change while it is open.
pub(super) struct StoreFiles {
    db: Db,
    /// Opened once: the system reports a failed write only to those who had the file open at the time.
    log: File,
    folder: PathBuf,
    /// Synced files of large values, with their length at that time.
    synced: Mutex<HashMap<OsString, u64>>,
}

impl StoreFiles {
    /// Syncs all writes of opening the store, including the entries of the folders.
    pub(super) fn open(db: Db, folder: &Path) -> Result<Self, Error> {
        let log = File::open(folder.join("db"))?;
        let files = Self { db, log, folder: folder.to_owned(), synced: Mutex::default() };
        files.sync()?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                sync_if_there(&entry.path())?;
            }
        }
        sync_entries(folder)?;
        Ok(files)
    }

    /// Makes all writes so far durable. While a store is open, sled only writes to its log and its large values.
    pub(super) fn sync(&self) -> Result<(), Error> {
        self.db.flush()?;
        // Large values first: the log refers to them.
        self.sync_large_values()?;
        self.log.sync_all()?;
        Ok(())
    }

    fn sync_large_values(&self) -> io::Result<()> {
        let folder = self.folder.join("blobs");
        let mut synced = self.synced.lock();
        let mut present = HashMap::new();
        let mut grew = false;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let length = match entry.metadata() {
                Ok(metadata) => metadata.len(),
                // sled removes them when they are no longer needed.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            // Each file is written once; a changed length shows that it was still being written the last time.
            if synced.get(&entry.file_name()) != Some(&length) {
                sync_if_there(&entry.path())?;
                grew = true;
            }
            present.insert(entry.file_name(), length);
        }
        if grew {
            sync_if_there(&folder)?;
        }
        *synced = present;
        Ok(())
    }
}
