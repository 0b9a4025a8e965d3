//! Folder of an engine with files. Only the account that runs the bot may read it, since it contains people's messages; a
//! folder that is private from the start protects every file created in it later.

use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{Access, access};
use rustix::io::Errno;

use super::error::EngineError;
use super::names::{COPY, FRESH, MOVING, WHOLE, is_ours};

const FOLDER: u32 = 0o700;
/// Permissions of a store file.
pub(super) const FILE: u32 = 0o600;
/// Permissions of accounts other than the owner of a file.
const OTHERS: u32 = 0o077;
/// Number of retries of a taken lock, and the pause between them.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(20);
/// Retries of the folder lock while the store is open and can wait: a reader on a busy machine may take seconds. The
/// pause grows up to this.
const PATIENT_TRIES: u32 = 60;
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// Retries of a lock that this process holds itself.
const CLOSE_TRIES: u32 = 1_000;

/// Opens a locked resource, retrying for a moment: threads of a store that was just closed may hold the lock a little
/// longer, and so may a process that is just ending.
pub(super) fn patiently<T>(open: impl FnMut() -> Result<T, EngineError>) -> Result<T, EngineError> {
    tried(LOCK_TRIES, LOCK_PAUSE, open)
}

/// Opens a resource that this process has just closed, with more retries: on a busy machine its threads may take seconds
/// to end, and nobody else can hold it.
pub(super) fn once_closed<T>(open: impl FnMut() -> Result<T, EngineError>) -> Result<T, EngineError> {
    tried(CLOSE_TRIES, LOCK_PAUSE, open)
}

/// Retries with a pause that doubles up to the longest.
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

/// Keeps other processes from opening the store of this folder, and from replacing its files, while the file is held. A
/// missing folder cannot be locked.
pub(super) fn lock(folder: &Path) -> Result<Option<File>, EngineError> {
    lock_within(folder, LOCK_TRIES, LOCK_PAUSE)
}

/// Like [`lock`], with retries for half a minute.
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

/// Checks that files can be created in this folder or, if it is missing, in a folder created in its nearest existing
/// parent. Leaves nothing behind.
///
/// # Errors
/// The folder that failed, and the error.
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
            // On file systems without ordinary files, such as `/proc`.
            ErrorKind::NotFound => io::Error::other("its file system takes no new files"),
            // The name of the test file would not help anybody.
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

/// Checks that this account may read and write a file; a missing file passes.
pub(super) fn may_change(file: &Path) -> io::Result<()> {
    match access(file, Access::READ_OK | Access::WRITE_OK) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns the size of all files in a folder, including nested folders.
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

/// Makes the entries of a folder durable, and its own entry in its parent folder.
pub(super) fn sync_entries(folder: &Path) -> io::Result<()> {
    sync_if_there(folder)?;
    if let Some(parent) = folder.canonicalize()?.parent() {
        match sync_if_there(parent) {
            // A parent folder that may not be listed cannot be synced; the store itself is synced.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
            outcome => outcome?,
        }
    }
    Ok(())
}

/// Makes a file or the entries of a folder durable, if it exists.
pub(super) fn sync_if_there(path: &Path) -> io::Result<()> {
    match File::open(path) {
        Ok(file) => file.sync_all(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates a missing folder, or makes an empty one private, before anything is written into it.
///
/// # Errors
/// When the folder cannot be created, read or made private.
pub(super) fn prepare(folder: &Path) -> io::Result<()> {
    let is_empty = fs::read_dir(folder).map(|mut entries| entries.next().is_none());
    match is_empty {
        Ok(true) => match restrict(folder, FOLDER) {
            // A writable folder of another owner; `mend` reports it.
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

/// Makes the folder and files of a store private, as earlier versions and copies leave them readable. A folder with other
/// content stays as it is, since others may need it. A failure is logged; the store works all the same.
pub(super) fn mend(folder: &Path) {
    let path = folder.display();
    match close(folder) {
        Ok(FolderAccess::Private) => {}
        Ok(FolderAccess::Open) => {
            tracing::info!(
                "other accounts of this machine could read the store {path}; now only this one can"
            );
        }
        Ok(FolderAccess::Shared) => tracing::warn!(
            "the store {path} has other files beside it, so its folder stays open to other accounts of this machine: give \
             it a folder of its own"
        ),
        Err(error) => tracing::warn!(
            %error,
            "other accounts of this machine may be able to read the store {path}: run `chmod -R go= {path}` as its owner"
        ),
    }
}

enum FolderAccess {
    Private,
    Open,
    Shared,
}

fn close(folder: &Path) -> io::Result<FolderAccess> {
    let is_shared = close_files(folder)?;
    let is_open = fs::metadata(folder)?.permissions().mode() & OTHERS != 0;
    match (is_open, is_shared) {
        (false, _) => Ok(FolderAccess::Private),
        (true, true) => Ok(FolderAccess::Shared),
        (true, false) => restrict(folder, FOLDER).map(|()| FolderAccess::Open),
    }
}

/// Makes all files of the store private; returns `true` if the folder has other content.
fn close_files(folder: &Path) -> io::Result<bool> {
    let mut others = false;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let kind = entry.file_type()?;
        let done = match &*name {
            // Store of `figaro demo --store`.
            "demo" if kind.is_dir() => close_files_of(&entry.path()),
            // Its content is removed or moved before anything else.
            FRESH | COPY | WHOLE | MOVING if kind.is_dir() => restrict(&entry.path(), FOLDER),
            _ if kind.is_dir() && is_ours(&name, true) => close_files_of(&entry.path()),
            _ if kind.is_file() && is_ours(&name, false) => restrict(&entry.path(), FILE),
            // Created by the file system, and for backups.
            "lost+found" | "figaro.sock" => Ok(()),
            _ => {
                others = true;
                Ok(())
            }
        };
        match done {
            // Engines remove files that they no longer need.
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
