//! A store that is written anew while others read and write: what is in it is copied into new files beside it, which then take
//! the place of the old ones. So no byte of what was removed or changed before is left in its folder.
//!
//! A process that is killed meanwhile leaves the old store or the new one, whole; what is left beside it is removed when the
//! store is opened next.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use parking_lot::{Mutex, MutexGuard};

use super::batch::{Batch, Keys};
use super::error::EngineError;
use super::names::FRESH;
use super::port::{Engine, Reader, Result};
use super::{folder, room};

/// So many records, or bytes of them, are copied in one commit.
const RECORDS: usize = 1_000;
const BYTES: usize = 1024 * 1024;
/// So often what came meanwhile is written before others have to wait: each time less comes.
const ROUNDS: usize = 3;

/// An engine whose files can be replaced while it is open.
pub(super) trait Rewritable: Reader {
    /// The folder of its store.
    fn folder(&self) -> &Path;

    /// What is committed while its store is copied.
    fn since(&self) -> &Since;

    /// Keeps commits away as long as it is held.
    fn alone(&self) -> MutexGuard<'_, ()>;

    /// Opens an empty store of its kind in this folder.
    fn open_fresh(&self, folder: &Path) -> Result<Box<dyn Engine>>;

    /// Puts the closed store of a folder in the place of its own, durably. Called while commits are kept away and its folder is
    /// locked.
    fn adopt(&self, fresh: &Path) -> Result<()>;
}

/// Rewrites the store of an engine; fails as [`Engine::rewrite`] says.
pub(super) fn rewrite(engine: &dyn Rewritable, tables: &[&'static str]) -> Result<()> {
    let unknown = engine.tables()?.into_iter().find(|table| !tables.contains(&table.as_str()));
    if let Some(table) = unknown {
        return Err(EngineError::Failed(format!("it has a table {table} that is not known")));
    }
    let since = engine.since();
    let Some(copying) = since.begin(&engine.alone()) else {
        return Err(EngineError::Failed("it is being rewritten already".to_owned()));
    };
    let place = fresh_of(engine.folder());
    let done = rewrite_into(engine, &place, tables);
    drop(copying);
    if done.is_err() {
        // What cannot be removed now is removed at the next opening.
        let _left = remove(&place);
    }
    done
}

fn rewrite_into(engine: &dyn Rewritable, place: &Path, tables: &[&'static str]) -> Result<()> {
    let failed = |error: io::Error| EngineError::failed(&error);
    remove(place).map_err(failed)?;
    // A disk that is full would stop the store itself.
    room::for_copy(engine.folder(), engine.disk_bytes()?).map_err(failed)?;
    let mut fresh = engine.open_fresh(place)?;
    fresh.create_tables(tables)?;
    for table in tables {
        copy(engine, &*fresh, table)?;
    }
    // What came meanwhile: most of it before the others have to wait.
    for _ in 0..ROUNDS {
        fresh.write(&engine.since().take())?;
    }
    // Whoever opens the store must not do so between two steps. Others write while this waits.
    let _locked = folder::lock_patiently(engine.folder())?;
    let _alone = engine.alone();
    fresh.write(&engine.since().take())?;
    drop(fresh);
    engine.adopt(place)
}

/// Copies a table part by part, each as it is by then. What was committed since the copy began is written over it in the end, so
/// it does not matter how much of that is copied.
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
        // It ends here: an engine may keep commits away as long as somebody looks.
        drop(view);
        let Some(last) = last else { return Ok(()) };
        to.write(&batch)?;
        if records < RECORDS && bytes <= BYTES {
            return Ok(());
        }
        rest = Keys::after(last);
    }
}

/// Where a store is rewritten.
pub(super) fn fresh_of(folder: &Path) -> PathBuf {
    folder.join(FRESH)
}

/// Removes what a rewriting has left in this folder, if it is there.
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

/// What is committed while a store is copied.
#[derive(Debug, Default)]
pub(super) struct Since(Mutex<Option<Batch>>);

/// Notes what is committed until it is dropped.
struct Copying<'a>(&'a Since);

impl Since {
    /// Begins to note what is committed; `None` if somebody does already. `_alone` shows that nothing is just being committed.
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

    /// Notes a batch that was committed, if that is wanted.
    pub(super) fn note(&self, batch: &Batch) {
        if let Some(noted) = &mut *self.0.lock() {
            let _bytes = noted.absorb(batch.clone());
        }
    }

    /// All changes that were noted since the last time, as one.
    fn take(&self) -> Batch {
        self.0.lock().as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl Drop for Copying<'_> {
    fn drop(&mut self) {
        *self.0.0.lock() = None;
    }
}
