//! Opening a store: refuse what is not one, take the lock, check the format, make what was written on the way durable.

use std::path::Path;
use std::thread;
use std::time::Duration;

use sled::{Config, Db};

use super::StoreError;
use super::fault::Fault;
use super::{files, private};

/// The format this build writes, and the newest it reads.
const FORMAT: u32 = 1;
/// The tree and the key it is recorded under, in every format.
const META: &str = "meta";
const KEY: &str = "format";
/// Bytes sled keeps in memory: the conversations of the moment, not the history.
const CACHE: u64 = 16 * 1024 * 1024;
/// How often sled writes what nobody made durable, so that a crash loses at most this much of it. The same thread
/// collects sled's garbage, so it cannot be done without.
const FLUSH_EVERY_MS: u64 = 500;
/// How often and after what pause a lock that is taken is tried again.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// What fails when opening fails.
pub(super) const OPEN: &str = "open its folder";

/// Opens the database in this folder, or makes it.
pub(super) fn open(folder: &Path) -> Result<Db, StoreError> {
    let objection = files::objection(folder);
    if let Some(reason) = objection.map_err(|error| Fault::Io(error).into_error(folder, OPEN))? {
        return Err(StoreError::Unreadable { path: folder.to_owned(), reason });
    }
    private::prepare(folder).map_err(|error| Fault::Io(error).into_error(folder, OPEN))?;
    let config = Config::new().path(folder).cache_capacity(CACHE).flush_every_ms(Some(FLUSH_EVERY_MS));
    let db = open_patiently(&config).map_err(|error| refusal(error, folder))?;
    check_format(&db, folder)?;
    Ok(db)
}

/// Tries again for a moment while the lock is taken: sled's own threads may hold it a little longer than a store that
/// was just closed, and so may a process that is just ending.
fn open_patiently(config: &Config) -> Result<Db, sled::Error> {
    for _ in 0..LOCK_TRIES {
        match config.open() {
            Err(error) if is_locked(&error) => thread::sleep(LOCK_PAUSE),
            outcome => return outcome,
        }
    }
    config.open()
}

/// Whether another has the lock. sled has no error of its own for it.
fn is_locked(error: &sled::Error) -> bool {
    let sled::Error::Io(error) = error else {
        return false;
    };
    let text = error.to_string();
    text.starts_with("could not acquire lock") && text.contains("WouldBlock")
}

fn refusal(error: sled::Error, folder: &Path) -> StoreError {
    match error {
        error if is_locked(&error) => StoreError::InUse(folder.to_owned()),
        sled::Error::Unsupported(reason) => StoreError::Unreadable { path: folder.to_owned(), reason },
        error => Fault::Engine(error).into_error(folder, OPEN),
    }
}

/// Checks the format of a store that has one, and gives a new store this one.
fn check_format(db: &Db, folder: &Path) -> Result<(), StoreError> {
    let failed = |error: sled::Error| Fault::Engine(error).into_error(folder, OPEN);
    let unreadable =
        |reason: &str| StoreError::Unreadable { path: folder.to_owned(), reason: reason.to_owned() };
    let names = db.tree_names();
    // A crash may have left a new store with no more than its first tree.
    let is_new = names.iter().all(|name| *name == META || *name == db.name()) && db.is_empty();
    if !is_new && names.iter().all(|name| *name != META) {
        return Err(unreadable("it is the database of another program"));
    }
    let meta = db.open_tree(META).map_err(failed)?;
    let Some(found) = meta.get(KEY).map_err(failed)? else {
        if !is_new || !meta.is_empty() {
            return Err(unreadable("its format is not recorded"));
        }
        meta.insert(KEY, FORMAT.to_string().as_bytes()).map_err(failed)?;
        return Ok(());
    };
    match serde_json::from_slice(&found) {
        Ok(FORMAT) => Ok(()),
        Ok(found) if found > FORMAT => {
            Err(StoreError::NewerFormat { path: folder.to_owned(), found, known: FORMAT })
        }
        _ => Err(unreadable("its format is not known")),
    }
}
