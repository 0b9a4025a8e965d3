//! Writes the file `.env`: all of it or nothing, and so that no other account can read it.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::draft::SettingsDraft;
use crate::app::failure::StartupError;
use figaro_base::system::in_words;
use figaro_config::EnvFile;

/// Finds out whether the file can be written, before anybody is asked anything.
///
/// # Errors
/// Why not.
pub(super) fn try_place(path: &Path) -> Result<(), StartupError> {
    beside(path).map(drop).map_err(|error| failed(path, &error))
}

/// Writes the answers into the file as it is now, and gives what it has become.
///
/// # Errors
/// Why it could not be written; it is as it was then.
pub(super) fn write(path: &Path, draft: &SettingsDraft) -> Result<EnvFile, StartupError> {
    let before = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        read => read.map_err(|error| failed(path, &error))?,
    };
    let before = EnvFile::parse(&before).map_err(|fault| StartupError(fault.to_string()))?;
    let file = draft.written_to(before)?;
    replace(path, file.text()).map_err(|error| failed(path, &error))?;
    Ok(file)
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut file = beside(path)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    let target = target(path);
    drop(file.persist(&target)?);
    File::open(folder(&target))?.sync_all()
}

/// A file of no name yet for this account alone, which takes the place of the other when it is whole.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(".env-").tempfile_in(folder(&target(path)))
}

/// The file itself, where a link leads to it.
fn target(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

fn failed(path: &Path, error: &io::Error) -> StartupError {
    StartupError(format!(
        "the file {} cannot be written here ({}): go to a folder that this account may write",
        path.display(),
        // The name of the file that was to take its place is of no use to anybody.
        in_words(&error.kind().into())
    ))
}
