//! `figaro backup` and `figaro restore`: the whole store as a file, also while the bot runs.

mod file;
mod schedule;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

pub(super) use self::schedule::{BackupKeeper, BackupPlan};

use self::file::{Sealed, WholeFile, opened, recipients};
use super::failure::StartupError;
use super::socket;
use super::store::{STREAM, WITH_OPTION, file_name, is_there, made_of, records, url_of};
use super::terminal::{all_said, counted, say, size};
use figaro_base::system::in_words;
use figaro_config::StoreUrl;
use figaro_store::engine;
use figaro_store::whole::{TransferError, export_beside, export_to};

/// Addition to the name of a file that is not whole yet.
const PARTIAL: &str = ".partial";

/// Task with a backup. A missing URL means that of `STORE_URL`.
#[derive(Debug)]
pub enum BackupTask {
    /// Write the store into a file.
    Make {
        /// Path of the file; `-` for standard output.
        to: PathBuf,
        /// Recipients of age; none for no encryption.
        recipients: Vec<String>,
        /// URL of the store; `None` for `STORE_URL`.
        store: Option<StoreUrl>,
    },
    /// Make a store of a backup.
    Restore {
        /// Path of the file; `-` for standard input.
        from: PathBuf,
        /// File with keys of age, for an encrypted backup.
        identity: Option<PathBuf>,
        /// URL of the new store; `None` for `STORE_URL`.
        store: Option<StoreUrl>,
    },
}

/// Runs the task and prints its result.
///
/// # Errors
/// Reason of the failure, in words for the user.
pub async fn backup(task: BackupTask, variables: &HashMap<String, String>) -> Result<(), StartupError> {
    let work: Box<dyn FnOnce() -> Result<(), StartupError> + Send> = match task {
        BackupTask::Make { to, recipients: named, store } => {
            let url = engine::found(&url_of(store, variables)?);
            let set = variables.get("BACKUP_RECIPIENT").map_or("", String::as_str);
            let named = if named.is_empty() { set.to_owned() } else { named.join(",") };
            let recipients = recipients(&named)?;
            Box::new(move || made(&url, &to, &recipients))
        }
        BackupTask::Restore { from, identity, store } => {
            let url = url_of(store, variables)?;
            Box::new(move || restored(&from, identity.as_deref(), &url))
        }
    };
    spawn_blocking(work).await.unwrap_or_else(|error| Err(StartupError(format!("it broke off: {error}"))))?;
    all_said()
}

/// Writes a backup; `-` writes standard output.
fn made(url: &StoreUrl, to: &Path, recipients: &[age::x25519::Recipient]) -> Result<(), StartupError> {
    let name = file_name(to, "standard output");
    let failed = |error: io::Error| StartupError(format!("{name}: {}", in_words(&error)));
    is_there(url, WITH_OPTION)?;
    if to == Path::new(STREAM) {
        let mut sealed = Sealed::begin(io::stdout().lock(), recipients).map_err(failed)?;
        written(url, &mut sealed)?;
        return sealed.finish().and_then(|mut out| out.flush()).map_err(failed);
    }
    let mut partial = OsString::from(to);
    partial.push(PARTIAL);
    let file = WholeFile::begin(partial.into(), to.to_owned()).map_err(failed)?;
    let mut sealed = file.writer().and_then(|to| Sealed::begin(to, recipients)).map_err(failed)?;
    let count = written(url, &mut sealed)?;
    sealed.finish().map_err(failed)?;
    let bytes = file.finish().map_err(failed)?;
    let encrypted = if recipients.is_empty() { "" } else { ", encrypted" };
    say(&format!("✓ {url} is backed up in {name}: {}, {}{encrypted}", counted(count, "record"), size(bytes)));
    Ok(())
}

/// Writes the records of a store, from the bot that has it open if there is one. Returns their number.
fn written(url: &StoreUrl, to: &mut impl Write) -> Result<u64, StartupError> {
    let refused = |error: TransferError| StartupError(format!("{url}: {error}"));
    match url {
        StoreUrl::Database(database) => export_beside(database, to).map(|all| records(&all)).map_err(refused),
        StoreUrl::Folder(at) => match socket::ask_for_export(&at.folder)? {
            Some(bot) => socket::receive(bot, to),
            None => export_to(url, to).map(|all| records(&all)).map_err(refused),
        },
    }
}

/// Makes a new store of a backup; `-` reads standard input.
fn restored(from: &Path, identity: Option<&Path>, url: &StoreUrl) -> Result<(), StartupError> {
    let name = file_name(from, "standard input");
    let named = |StartupError(words): StartupError| StartupError(format!("{name}: {words}"));
    let lines = if from == Path::new(STREAM) {
        opened(io::stdin(), identity)
    } else {
        let file = File::open(from).map_err(|error| named(StartupError(in_words(&error))))?;
        opened(file, identity)
    };
    let count = made_of(lines.map_err(named)?, &name, url)?;
    say(&format!("✓ {name} is restored in {url} and compared: {}", counted(count, "record")));
    Ok(())
}
