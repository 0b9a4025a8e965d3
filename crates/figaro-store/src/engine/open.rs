//! Opens the engine that a URL names, or the one with a store in its folder.

use std::io;
use std::path::{Path, PathBuf};

use super::panic::catching;
use super::port::{Engine, Reader, Result};
use super::{folder, names, redb, room, sled};
use figaro_config::{EngineKind, StoreUrl};

/// Opens the engine with the store at this place, or creates an empty store there. Blocking.
///
/// # Errors
/// If another process has the store open, the files are no store of this engine or damaged, or the folder cannot be read
/// and written.
pub fn open(url: &StoreUrl) -> Result<Box<dyn Engine>> {
    let open = || -> Result<Box<dyn Engine>> {
        let folder = &url.folder;
        Ok(match url.engine {
            EngineKind::Redb => Box::new(redb::RedbEngine::open(folder)?),
            EngineKind::Sled => Box::new(sled::SledEngine::open(folder)?),
        })
    };
    catching(open)
}

/// Opens the store at this place read-only. `None` if that is not possible: its engine writes whenever it opens a store,
/// or the store was not closed and has to be repaired first. Blocking.
///
/// # Errors
/// If another process has the store open, the files are no store of this engine or damaged, or it cannot be read.
pub(crate) fn open_to_read(url: &StoreUrl) -> Result<Option<Box<dyn Reader>>> {
    let open = || -> Result<Option<Box<dyn Reader>>> {
        Ok(match url.engine {
            EngineKind::Redb => {
                redb::RedbReader::open(&url.folder)?.map(|reader| -> Box<dyn Reader> { Box::new(reader) })
            }
            EngineKind::Sled => {
                let file = names::file_of(url.engine, &url.folder);
                // The file is missing while a rewritten store takes its place.
                if is_there(&file) {
                    folder::in_use(&file)?;
                }
                None
            }
        })
    };
    catching(open)
}

/// Checks that the store at this place can be created or changed, without changing it. Blocking.
///
/// # Errors
/// The failing folder or file, with the error; of missing folders, their nearest existing parent.
pub fn try_place(url: &StoreUrl) -> std::result::Result<(), (PathBuf, io::Error)> {
    folder::try_place(&url.folder)?;
    names::files_of(url.engine, &url.folder)
        .into_iter()
        .try_for_each(|file| folder::may_change(&file).map_err(|error| (file, error)))
}

/// Returns the URL of the store in a folder: of the requested engine if it has one there, else of another engine that
/// has, else of one with only a mark left, else of the requested engine, to be created.
#[must_use]
pub fn found(url: &StoreUrl) -> StoreUrl {
    let kinds = [url.engine].into_iter().chain(EngineKind::ALL);
    let all: Vec<StoreUrl> = kinds.map(|engine| StoreUrl { engine, ..url.clone() }).collect();
    all.iter()
        .find(|url| has_store(url))
        .or_else(|| all.iter().find(|url| has_mark(url)))
        .unwrap_or(url)
        .clone()
}

/// Returns `true` if there is a store at this place, whole or damaged.
#[must_use]
pub fn has_store(url: &StoreUrl) -> bool {
    names::files_of(url.engine, &url.folder).iter().any(|file| is_there(file))
}

/// Returns `true` if there is a mark of a store at this place, even if the store itself is missing.
#[must_use]
pub fn has_mark(url: &StoreUrl) -> bool {
    is_there(&names::mark_of(url.engine, &url.folder))
}

/// Returns `true` if the path exists, or cannot be checked: opening it then reports why.
fn is_there(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}

/// Checks that the disk of a folder has room for the writes of a newly opened store. Blocking.
///
/// # Errors
/// The reason why it has not.
pub fn has_room(folder: &Path) -> io::Result<()> {
    room::find(folder)
}
