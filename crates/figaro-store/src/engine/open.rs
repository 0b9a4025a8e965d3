//! Opens the engine that a URL names, or the one with a store in its folder.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::panic::catching;
use super::port::{Engine, Reader, Result};
use super::postgres::{DatabaseConnections, LEASE, Ownership, PostgresEngine};
use super::{folder, names, redb, room, sled};
use crate::meters::StoreMeters;
use figaro_config::{DatabaseUrl, EngineKind, StoreFolder, StoreUrl};

/// Opens the engine with the store at this place, or creates an empty store there. Blocking.
///
/// # Errors
/// If another process has the store open, the files are no store of this engine or damaged, or the folder cannot be read
/// and written.
pub fn open(url: &StoreUrl) -> Result<Box<dyn Engine>> {
    open_for(url, b"", &Connections::default(), LEASE_WAIT)
}

/// Time after which a lease has ended that nobody renews.
pub(crate) const LEASE_WAIT: Duration = Duration::from_millis(LEASE.as_millis() as u64 + 1000);

/// Shared parts of the stores of a process.
#[derive(Debug, Default)]
pub(crate) struct Connections(DatabaseConnections);

impl Connections {
    /// Makes those of a process whose HTTP gateway others reach at this address; empty for none.
    pub(crate) fn new(address: String, meters: StoreMeters) -> Self {
        Self(DatabaseConnections::new(address, meters))
    }

    /// Reads who has the bots with these beginnings of keys. In a folder nobody else can have one. Blocking.
    ///
    /// # Errors
    /// Of the database.
    pub(crate) fn ownership(&self, url: &StoreUrl, bots: Vec<Vec<u8>>) -> Result<Ownership<Vec<u8>>> {
        match url {
            StoreUrl::Folder(_) => Ok(Ownership { processes: 1, owners: BTreeMap::new() }),
            StoreUrl::Database(url) => self.0.ownership(url, bots),
        }
    }

    /// Counts this process among those that take bots, until it ends. Blocking.
    ///
    /// # Errors
    /// Of the database.
    pub(crate) fn join(&self, url: &StoreUrl) -> Result<()> {
        match url {
            StoreUrl::Folder(_) => Ok(()),
            StoreUrl::Database(url) => self.0.join(url),
        }
    }

    /// Tells the other processes that this one takes no more bots. Blocking.
    ///
    /// # Errors
    /// Of the database.
    pub(crate) fn takes_no_more(&self) -> Result<()> {
        self.0.takes_no_more()
    }
}

/// Like [`open`], for the owner of the keys that begin with `owned`. Files have one owner of all keys; a database has as many
/// as it has bots. Waits as long as `wait` if another process has the bot in a database.
///
/// # Errors
/// Those of [`open`].
pub(crate) fn open_for(
    url: &StoreUrl,
    owned: &[u8],
    shared: &Connections,
    wait: Duration,
) -> Result<Box<dyn Engine>> {
    let open = || -> Result<Box<dyn Engine>> {
        Ok(match url {
            StoreUrl::Folder(StoreFolder { engine, folder }) => match engine {
                EngineKind::Redb => Box::new(redb::RedbEngine::open(folder)?),
                EngineKind::Sled => Box::new(sled::SledEngine::open(folder)?),
            },
            StoreUrl::Database(url) => Box::new(PostgresEngine::open(url, owned, &shared.0, wait)?),
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
    let boxed = |reader: redb::RedbReader| -> Box<dyn Reader> { Box::new(reader) };
    let open = || -> Result<Option<Box<dyn Reader>>> {
        let StoreFolder { engine, folder } = match url {
            StoreUrl::Folder(at) => at,
            StoreUrl::Database(url) => {
                let reader = PostgresEngine::open_to_read(url)?;
                return Ok(reader.map(|reader| -> Box<dyn Reader> { Box::new(reader) }));
            }
        };
        Ok(match engine {
            EngineKind::Redb => redb::RedbReader::open(folder)?.map(boxed),
            EngineKind::Sled => {
                let file = names::file_of(*engine, folder);
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

/// Opens a database to read it while bots write there. `None` if there is no store in it. Blocking.
///
/// # Errors
/// If the schema is another program's or of a newer version; of the database.
pub(crate) fn open_beside(url: &DatabaseUrl) -> Result<Option<Box<dyn Engine>>> {
    let boxed = |engine: PostgresEngine| -> Box<dyn Engine> { Box::new(engine) };
    catching(|| PostgresEngine::open_beside(url).map(|found| found.map(boxed)))
}

/// Checks that the store at this place can be created or changed, without changing it. Blocking.
///
/// # Errors
/// The failing folder or file, with the error; of missing folders, their nearest existing parent.
pub fn try_place(at: &StoreFolder) -> std::result::Result<(), (PathBuf, io::Error)> {
    folder::try_place(&at.folder)?;
    names::files_of(at.engine, &at.folder)
        .into_iter()
        .try_for_each(|file| folder::may_change(&file).map_err(|error| (file, error)))
}

/// Checks that files can be made in a folder, or the folder itself, without changing anything. Blocking.
///
/// # Errors
/// The failing folder, with the error; of a missing one, its nearest existing parent.
pub fn try_folder(folder: &Path) -> std::result::Result<(), (PathBuf, io::Error)> {
    folder::try_place(folder)
}

/// Makes the tables of a database, or brings them to the version of this program. Returns `true` if there was anything to do;
/// a folder needs nothing. Blocking.
///
/// # Errors
/// If the schema is another program's or of a newer version; of the database.
pub fn migrate(url: &StoreUrl) -> Result<bool> {
    match url {
        StoreUrl::Folder(_) => Ok(false),
        StoreUrl::Database(url) => PostgresEngine::migrate(url),
    }
}

/// Returns the URL of the store in a folder: of the requested engine if it has one there, else of another engine that
/// has, else of one with only a mark left, else of the requested engine, to be created.
#[must_use]
pub fn found(url: &StoreUrl) -> StoreUrl {
    let StoreUrl::Folder(at) = url else { return url.clone() };
    let kinds = [at.engine].into_iter().chain(EngineKind::ALL);
    let all: Vec<StoreUrl> = kinds.map(|engine| StoreUrl::new(engine, at.folder.clone())).collect();
    all.iter()
        .find(|url| has_store(url))
        .or_else(|| all.iter().find(|url| has_mark(url)))
        .unwrap_or(url)
        .clone()
}

/// Returns `true` if there is a store at this place, whole or damaged, or it cannot be looked at: opening it then reports why.
/// Blocking.
#[must_use]
pub fn has_store(url: &StoreUrl) -> bool {
    match url {
        StoreUrl::Folder(at) => names::files_of(at.engine, &at.folder).iter().any(|file| is_there(file)),
        StoreUrl::Database(url) => PostgresEngine::is_there(url).unwrap_or(true),
    }
}

/// Returns `true` if there is a mark of a store at this place, even if the store itself is missing.
#[must_use]
pub fn has_mark(url: &StoreUrl) -> bool {
    match url {
        StoreUrl::Folder(at) => is_there(&names::mark_of(at.engine, &at.folder)),
        StoreUrl::Database(_) => false,
    }
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
