//! The folder of an engine that keeps files. The account that runs the bot may look at them and no other, since they hold
//! what people said; a folder that is private from its beginning protects every file that is made in it later.

use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{Access, access};
use rustix::io::Errno;

use super::error::EngineError;
use super::names::{FRESH, MOVING, WHOLE, is_ours};

const FOLDER: u32 = 0o700;
/// Permissions of a file of a store.
pub(super) const FILE: u32 = 0o600;
/// Permissions of anyone but the owner of a file.
const OTHERS: u32 = 0o077;
/// How often and after what pause a lock that is taken is tried again.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(20);
/// The same of the lock of a folder whose store is open and can wait: whoever looks at it on a busy machine may take seconds. The
/// pause grows up to this.
const PATIENT_TRIES: u32 = 60;
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// The same of a lock that this process holds itself.
const CLOSE_TRIES: u32 = 1_000;

/// Opens what has a lock, tried again for a moment while the lock is taken: threads of a store that was just closed may
/// hold it a little longer, and so may a process that is just ending.
pub(super) fn patiently<T>(open: impl FnMut() -> Result<T, EngineError>) -> Result<T, EngineError> {
    tried(LOCK_TRIES, LOCK_PAUSE, open)
}

/// The same of what this process itself has just closed: on a busy machine its threads may take seconds to end, and nobody else
/// can have it.
pub(super) fn once_closed<T>(open: impl FnMut() -> Result<T, EngineError>) -> Result<T, EngineError> {
    tried(CLOSE_TRIES, LOCK_PAUSE, open)
}

/// Tries so often, with a pause between that doubles up to the longest.
fn tried<T>(
    tries: u32,
    longest: Duration,
    mut open: impl FnMut() -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    let mut pause = LOCK_PAUSE;
    for _ in 0..tries {
        match open() {
            Err(EngineError::InUse) => {
                thread::sleep(pause);
                pause = longest.min(pause * 2);
            }
            outcome => return outcome,
        }
    }
    open()
}

/// Keeps other processes from opening the store of this folder, and from replacing its files, while the file is held. A folder
/// that is not there cannot be locked.
pub(super) fn lock(folder: &Path) -> Result<Option<File>, EngineError> {
    lock_within(folder, LOCK_TRIES, LOCK_PAUSE)
}

/// The same, tried for half a minute.
pub(super) fn lock_patiently(folder: &Path) -> Result<Option<File>, EngineError> {
    lock_within(folder, PATIENT_TRIES, LONGEST_PAUSE)
}

fn lock_within(folder: &Path, tries: u32, longest: Duration) -> Result<Option<File>, EngineError> {
    let file = match File::open(folder) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(EngineError::failed(&error)),
    };
    tried(tries, longest, || match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(EngineError::InUse),
        // A file system without locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    })?;
    Ok(Some(file))
}

/// Fails if another process has locked this file.
pub(super) fn in_use(file: &Path) -> Result<(), EngineError> {
    let file = File::open(file).map_err(|error| EngineError::failed(&error))?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Err(EngineError::InUse),
        // A file system without locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Tries whether files can be made in this folder or, where there is none, in one like it in the nearest folder above that is there.
/// Nothing is left of it.
///
/// # Errors
/// Why not, and of which folder.
pub(super) fn try_place(folder: &Path) -> Result<(), (PathBuf, io::Error)> {
    let here = |path: &Path| if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() };
    let there = folder.ancestors().map(here).find(|path| path.symlink_metadata().is_ok());
    let there = there.unwrap_or_else(|| PathBuf::from("."));
    let tried = match there.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(io::Error::other("it is a link to something that is not there"))
        }
        Err(error) => Err(error),
        Ok(found) if !found.is_dir() => Err(io::Error::other("it is a file, a store is a folder")),
        Ok(_) if folder.is_dir() => try_write(folder),
        Ok(_) => tempfile::tempdir_in(&there).and_then(|trial| try_write(trial.path())),
    };
    tried.map_err(|error| {
        let why = match error.kind() {
            // Where programs make no files, such as in `/proc`.
            ErrorKind::NotFound => io::Error::other("its file system takes no new files"),
            // The name of what was tried is of no use to anybody.
            kind @ (ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::StorageFull
            | ErrorKind::QuotaExceeded) => kind.into(),
            _ => error,
        };
        (there, why)
    })
}

fn try_write(folder: &Path) -> io::Result<()> {
    tempfile::tempfile_in(folder)?.write_all(&[0; 4096])
}

/// `true` if this account may read and write an existing file.
pub(super) fn may_change(file: &Path) -> io::Result<()> {
    match access(file, Access::READ_OK | Access::WRITE_OK) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The bytes of all files in a folder, those of folders in it included.
pub(super) fn size(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size(&entry.path()),
            outcome => outcome.map(|metadata| metadata.len()),
        }
        .or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(0) } else { Err(error) })?;
    }
    Ok(bytes)
}

/// Makes the entries of a folder durable, and its own entry in the folder above it.
pub(super) fn sync_entries(folder: &Path) -> io::Result<()> {
    sync_if_there(folder)?;
    if let Some(parent) = folder.canonicalize()?.parent() {
        match sync_if_there(parent) {
            // A folder above that may not be listed cannot be synced; the store itself is.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
            outcome => outcome?,
        }
    }
    Ok(())
}

/// Makes a file or the entries of a folder durable.
pub(super) fn sync_if_there(path: &Path) -> io::Result<()> {
    match File::open(path) {
        Ok(file) => file.sync_all(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes a folder that is not there yet, or closes one that is empty, before anything is written into it.
///
/// # Errors
/// When the folder cannot be made, read or closed.
pub(super) fn prepare(folder: &Path) -> io::Result<()> {
    let is_empty = fs::read_dir(folder).map(|mut entries| entries.next().is_none());
    match is_empty {
        Ok(true) => match restrict(folder, FOLDER) {
            // Another's folder that may be written to; `mend` tells of it.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
            done => done,
        },
        Ok(false) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if let Some(parent) = folder.parent() {
                fs::create_dir_all(parent)?;
            }
            DirBuilder::new().mode(FOLDER).create(folder)
        }
        Err(error) => Err(error),
    }
}

/// Closes the folder and files of a store, as earlier versions and copies leave them open. A folder with other things in it
/// stays as it is: others may need those. A failure is logged; the store works all the same.
pub(super) fn mend(folder: &Path) {
    let path = folder.display();
    match close(folder) {
        Ok(Found::Private) => {}
        Ok(Found::Open) => {
            tracing::info!(
                "other accounts of this machine could read the store {path}; now only this one can"
            );
        }
        Ok(Found::Shared) => tracing::warn!(
            "the store {path} has other files beside it, so its folder stays open to other accounts of this machine: give \
             it a folder of its own"
        ),
        Err(error) => tracing::warn!(
            %error,
            "other accounts of this machine may be able to read the store {path}: run `chmod -R go= {path}` as its owner"
        ),
    }
}

/// How the folder of a store was found.
enum Found {
    Private,
    Open,
    Shared,
}

fn close(folder: &Path) -> io::Result<Found> {
    let is_shared = close_files(folder)?;
    let is_open = fs::metadata(folder)?.permissions().mode() & OTHERS != 0;
    match (is_open, is_shared) {
        (false, _) => Ok(Found::Private),
        (true, true) => Ok(Found::Shared),
        (true, false) => restrict(folder, FOLDER).map(|()| Found::Open),
    }
}

/// Closes all that is the store's; gives whether there is anything else.
fn close_files(folder: &Path) -> io::Result<bool> {
    let mut others = false;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let kind = entry.file_type()?;
        let done = match &*name {
            // Of `figaro demo --store`.
            "demo" if kind.is_dir() => close_files_of(&entry.path()),
            // What is in it is removed or moved before anything else.
            FRESH | WHOLE | MOVING if kind.is_dir() => restrict(&entry.path(), FOLDER),
            _ if kind.is_dir() && is_ours(&name, true) => close_files_of(&entry.path()),
            _ if kind.is_file() && is_ours(&name, false) => restrict(&entry.path(), FILE),
            // The file system's own.
            "lost+found" => Ok(()),
            _ => {
                others = true;
                Ok(())
            }
        };
        match done {
            // Engines remove what they no longer need.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            done => done?,
        }
    }
    Ok(others)
}

fn close_files_of(folder: &Path) -> io::Result<()> {
    restrict(folder, FOLDER)?;
    for entry in fs::read_dir(folder)? {
        match restrict(&entry?.path(), FILE) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            done => done?,
        }
    }
    Ok(())
}

fn restrict(path: &Path, mode: u32) -> io::Result<()> {
    if fs::metadata(path)?.permissions().mode() & OTHERS == 0 {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(mode))
}
