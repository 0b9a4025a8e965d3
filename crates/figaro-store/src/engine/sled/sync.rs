//! Durable points of sled: its flush alone is not enough. It ends in `sync_file_range`, which neither waits for the disk's own
//! cache nor records the file's new length. Nor does sled ever sync the files it puts large values into.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use sled::Db;

use super::super::folder::{sync_entries, sync_if_there};

/// Why a durable point failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// sled could not write its log to the file.
    #[error(transparent)]
    Engine(#[from] sled::Error),
    /// The file system failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The files of a store, as far as they change while it is open.
pub(super) struct Files {
    db: Db,
    /// Opened once: the system reports a failed write only to those who had the file open at the time.
    log: File,
    folder: PathBuf,
    /// Files of large values that were synced, with the length they had.
    synced: Mutex<HashMap<OsString, u64>>,
}

impl Files {
    /// Syncs everything that opening the store may have written, the entries of the folders included.
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

    /// Makes everything written so far durable. While a store is open, sled writes to its log and its large values only.
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
            // Written once; a length that changed shows a file that was still being written the last time.
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
