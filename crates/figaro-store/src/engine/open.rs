//! Opening the engine that a URL names, or that has a store in its folder.

use std::io;
use std::path::{Path, PathBuf};

use super::panic::catching;
use super::port::{Engine, Reader, Result};
use super::{folder, names, redb, room, sled};
use figaro_config::{EngineKind, StoreUrl};

/// Opens the engine that keeps the store at this place, or makes an empty one there. Blocking.
///
/// # Errors
/// If another process has it, if what is there is no store of this engine or a damaged one, if the folder cannot be read and
/// written.
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

/// Opens the store at this place to look at it, and changes nothing there. `None` for one that cannot be looked at so: its engine
/// writes whenever it opens a store, or it was not closed and is to be mended first. Blocking.
///
/// # Errors
/// If another process has it, if what is there is no store of this engine or a damaged one, if it cannot be read.
pub(crate) fn open_to_read(url: &StoreUrl) -> Result<Option<Box<dyn Reader>>> {
    let open = || -> Result<Option<Box<dyn Reader>>> {
        Ok(match url.engine {
            EngineKind::Redb => {
                redb::RedbReader::open(&url.folder)?.map(|reader| -> Box<dyn Reader> { Box::new(reader) })
            }
            EngineKind::Sled => {
                let file = names::file_of(url.engine, &url.folder);
                // It is not there while a store that was rewritten takes its place.
                if is_there(&file) {
                    folder::in_use(&file)?;
                }
                None
            }
        })
    };
    catching(open)
}

/// Tries whether the store at this place can be made or changed, without a change of it. Blocking.
///
/// # Errors
/// Why not, and of which folder or file: of those above the folder of the store, the nearest that is there.
pub fn try_place(url: &StoreUrl) -> std::result::Result<(), (PathBuf, io::Error)> {
    folder::try_place(&url.folder)?;
    names::files_of(url.engine, &url.folder)
        .into_iter()
        .try_for_each(|file| folder::may_change(&file).map_err(|error| (file, error)))
}

/// The store that is in a folder: of the engine that is asked for if it has one there, else of another that has, else of one of
/// which only the mark is left, else of the one asked for, to be made.
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

/// Whether there is a store at this place, whole or damaged.
#[must_use]
pub fn has_store(url: &StoreUrl) -> bool {
    names::files_of(url.engine, &url.folder).iter().any(|file| is_there(file))
}

/// Whether it is noted of a store at this place how far it was durable, be it there or not.
#[must_use]
pub fn has_mark(url: &StoreUrl) -> bool {
    is_there(&names::mark_of(url.engine, &url.folder))
}

/// What cannot be looked at counts as there: opening it says why.
fn is_there(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}

/// Whether the disk of a folder takes what a store that has just been opened writes. Blocking.
///
/// # Errors
/// Why it does not.
pub fn has_room(folder: &Path) -> io::Result<()> {
    room::find(folder)
}
