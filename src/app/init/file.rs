//! Writes the file `.env` atomically, unreadable for other accounts.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::draft::SettingsDraft;
use crate::app::failure::StartupError;
use figaro_base::system::in_words;
use figaro_config::EnvFile;

/// Checks that the file can be written, before the first question.
///
/// # Errors
/// Reason why the file cannot be written.
pub(super) fn try_place(path: &Path) -> Result<(), StartupError> {
    beside(path).map(drop).map_err(|error| failed(path, &error))
}

/// Writes the answers into the current file and returns the new content.
///
/// # Errors
/// Reason why the file could not be written; it is unchanged then.
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

/// Creates a private temporary file next to `path`; it replaces the target once complete.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(".env-").tempfile_in(folder(&target(path)))
}

/// Resolves a symbolic link to its target.
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
        // The name of the temporary file would not help the user.
        in_words(&error.kind().into())
    ))
}
