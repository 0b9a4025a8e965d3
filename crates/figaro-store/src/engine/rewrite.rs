//! Rewrites a store while others read and write: copies its data into new files beside it, which then replace the old
//! ones. No byte that was removed or changed before is left in its folder.
//!
//! If the process is killed meanwhile, the old or the new store is intact; the next opening removes the leftovers beside
//! it.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use parking_lot::{Mutex, MutexGuard};

use super::batch::{Batch, Keys};
use super::error::EngineError;
use super::names::{COPY, FRESH};
use super::port::{Engine, Reader, Result};
use super::{folder, room};

/// Maximum records, or bytes of them, copied in one commit.
const RECORDS: usize = 1_000;
const BYTES: usize = 1024 * 1024;
/// Rounds of copying new changes before others have to wait: each round finds fewer.
const ROUNDS: usize = 3;

/// An engine whose files can be replaced while it is open.
pub(super) trait Rewritable: Reader {
    /// Returns the folder of the store.
    fn folder(&self) -> &Path;

    /// Returns the log of commits made during the copy.
    fn since(&self) -> &Since;

    /// Blocks commits while the guard is held.
    fn alone(&self) -> MutexGuard<'_, ()>;

    /// Opens an empty store of this engine in a folder.
    fn open_fresh(&self, folder: &Path) -> Result<Box<dyn Engine>>;

    /// Replaces this store by the closed store of a folder, durably. Called while commits are blocked and its folder is
    /// locked.
    fn adopt(&self, fresh: &Path) -> Result<()>;
}

/// Rewrites the store of an engine; fails as [`Engine::rewrite`] does.
pub(super) fn rewrite(engine: &dyn Rewritable, tables: &[&'static str]) -> Result<()> {
    let unknown = engine.tables()?.into_iter().find(|table| !tables.contains(&table.as_str()));
    if let Some(table) = unknown {
        return Err(EngineError::Failed(format!("it has a table {table} that is not known")));
    }
    let place = fresh_of(engine.folder());
    copied(engine, &place, tables, |fresh| {
        // Nobody may open the store between two steps. Others write while this waits.
        let _locked = folder::lock_patiently(engine.folder())?;
        let _alone = engine.alone();
        fresh.write(&engine.since().take())?;
        drop(fresh);
        engine.adopt(&place)
    })
}

/// Copies the store of an engine into a folder, and returns the copy, which shows the state at the end of the call. Whoever
/// calls removes the folder.
pub(super) fn copy_into(
    engine: &dyn Rewritable,
    place: &Path,
    tables: &[&'static str],
) -> Result<Box<dyn Engine>> {
    copied(engine, place, tables, |fresh| {
        let _alone = engine.alone();
        fresh.write(&engine.since().take())?;
        Ok(fresh)
    })
}

/// Copies the store of an engine into a folder while others write, and calls `end` with the copy, which lacks the newest
/// commits then. Removes the folder if anything fails.
fn copied<T>(
    engine: &dyn Rewritable,
    place: &Path,
    tables: &[&'static str],
    end: impl FnOnce(Box<dyn Engine>) -> Result<T>,
) -> Result<T> {
    let Some(copying) = engine.since().begin(&engine.alone()) else {
        return Err(EngineError::Failed("it is being rewritten already".to_owned()));
    };
    let done = copy_all(engine, place, tables).and_then(end);
    drop(copying);
    if done.is_err() {
        // Leftovers that cannot be removed now are removed at the next opening.
        let _left = remove(place);
    }
    done
}

fn copy_all(engine: &dyn Rewritable, place: &Path, tables: &[&'static str]) -> Result<Box<dyn Engine>> {
    let failed = |error: io::Error| EngineError::failed(&error);
    remove(place).map_err(failed)?;
    // A full disk would stop the store itself.
    room::for_copy(engine.folder(), engine.disk_bytes()?).map_err(failed)?;
    let mut fresh = engine.open_fresh(place)?;
    fresh.create_tables(tables)?;
    for table in tables {
        copy(engine, &*fresh, table)?;
    }
    // Copies most of the new changes before others have to wait.
    for _ in 0..ROUNDS {
        fresh.write(&engine.since().take())?;
    }
    Ok(fresh)
}

/// Copies a table part by part, each in its current state. Commits made since the copy began are applied at the end, so
/// partly copied ones do no harm.
fn copy(from: &dyn Rewritable, to: &dyn Engine, table: &'static str) -> Result<()> {
    let mut rest = Keys::beginning_with([]);
    loop {
        let (mut batch, mut records, mut bytes, mut last) = (Batch::default(), 0, 0, None);
        let view = from.view()?;
        for entry in view.scan(table, &rest)?.take(RECORDS) {
            let (key, value) = entry?;
            records += 1;
            bytes += key.len() + value.len();
            last = Some(key.clone());
            batch.put(table, key, value);
            if bytes > BYTES {
                break;
            }
        }
        // Drops the view: an engine may block commits while one is held.
        drop(view);
        let Some(last) = last else { return Ok(()) };
        to.write(&batch)?;
        if records < RECORDS && bytes <= BYTES {
            return Ok(());
        }
        rest = Keys::after(last);
    }
}

/// Returns the folder in which a store is rewritten.
pub(super) fn fresh_of(folder: &Path) -> PathBuf {
    folder.join(FRESH)
}

/// Returns the folder of a copy that a reader has.
pub(super) fn copy_of(folder: &Path) -> PathBuf {
    folder.join(COPY)
}

/// Removes a folder of [`fresh_of`] or [`copy_of`], if it is there.
pub(super) fn remove(fresh: &Path) -> io::Result<()> {
    match fs::remove_dir_all(fresh) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Moves a file of a rewritten store to the place of the old one, durably.
pub(super) fn take_place(file: &Path, of: &Path) -> io::Result<()> {
    fs::rename(file, of)?;
    of.parent().map_or(Ok(()), folder::sync_entries)
}

/// Log of commits made while a store is copied.
#[derive(Debug, Default)]
pub(super) struct Since(Mutex<Option<Batch>>);

/// Records commits until it is dropped.
struct Copying<'a>(&'a Since);

impl Since {
    /// Starts recording commits; `None` if somebody does already. `_alone` proves that no commit is in progress.
    fn begin(&self, _alone: &MutexGuard<'_, ()>) -> Option<Copying<'_>> {
        let mut noted = self.0.lock();
        match *noted {
            Some(_) => None,
            None => {
                *noted = Some(Batch::default());
                Some(Copying(self))
            }
        }
    }

    /// Records a committed batch, if recording is on.
    pub(super) fn note(&self, batch: &Batch) {
        if let Some(noted) = &mut *self.0.lock() {
            let _bytes = noted.absorb(batch.clone());
        }
    }

    /// Takes all changes recorded since the last call, as one batch.
    fn take(&self) -> Batch {
        self.0.lock().as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl Drop for Copying<'_> {
    fn drop(&mut self) {
        *self.0.0.lock() = None;
    }
}
