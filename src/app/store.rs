//! `figaro store`, `figaro export` and `figaro import`: maintenance of the store of a stopped bot.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

use super::failure::StartupError;
use super::terminal::{all_said, counted, say, size};
use figaro_base::ids::BotId;
use figaro_config::{EngineKind, NoStoreUrl, StoreUrl};
use figaro_store::engine::{self, Engine, EngineError};
use figaro_store::whole::{
    self, Inventory, TableInventory, TransferError, copy, export_file, export_to, import, inventory, state,
    verify,
};

/// File name that means standard output or input.
pub(super) const STREAM: &str = "-";
/// Ways to name a store on the command line.
const AS_ARGUMENT: &str = "name the store as the argument";
pub(super) const WITH_OPTION: &str = "name the store with --store";

/// Task on a store. A missing URL means that of `STORE_URL`.
#[derive(Debug)]
pub enum StoreTask {
    /// Copy a store into a new one and compare the two.
    Copy {
        /// URL of the source store.
        from: StoreUrl,
        /// URL of the new store.
        to: StoreUrl,
    },
    /// Read all records; print their number, their size and any damage.
    Check {
        /// URL of the store; `None` for `STORE_URL`.
        store: Option<StoreUrl>,
        /// `true` to accept lost data, so that the bot starts without it.
        accept_loss: bool,
    },
    /// Release the disk space of removed records.
    Compact(Option<StoreUrl>),
    /// Make the tables of a database, or bring them to the version of this program.
    Migrate(Option<StoreUrl>),
    /// Export all records as JSON lines.
    Export {
        /// Path of the file; `-` for standard output.
        to: PathBuf,
        /// URL of the store; `None` for `STORE_URL`.
        store: Option<StoreUrl>,
    },
    /// Create a store from exported JSON lines.
    Import {
        /// Path of the file; `-` for standard input.
        from: PathBuf,
        /// URL of the store; `None` for `STORE_URL`.
        store: Option<StoreUrl>,
    },
}

/// Runs the task and prints its result.
///
/// # Errors
/// Reason of the failure, in words for the user.
pub async fn store(task: StoreTask, variables: &HashMap<String, String>) -> Result<(), StartupError> {
    let named = |store: Option<StoreUrl>| url_of(store, variables);
    let of = |store| named(store).map(|url| engine::found(&url));
    let work: Box<dyn FnOnce() -> Result<(), StartupError> + Send> = match task {
        StoreTask::Copy { from, to } => Box::new(move || copied(&from, &to)),
        StoreTask::Check { store, accept_loss } => {
            let url = of(store)?;
            Box::new(move || checked(&url, accept_loss))
        }
        StoreTask::Compact(store) => {
            let url = of(store)?;
            Box::new(move || compacted(&url))
        }
        StoreTask::Migrate(store) => {
            let url = named(store)?;
            Box::new(move || migrated(&url))
        }
        StoreTask::Export { to, store } => {
            let url = of(store)?;
            Box::new(move || exported(&url, &to))
        }
        StoreTask::Import { from, store } => {
            let url = named(store)?;
            Box::new(move || imported(&from, &url))
        }
    };
    spawn_blocking(work).await.unwrap_or_else(|error| Err(StartupError(format!("it broke off: {error}"))))?;
    all_said()
}

/// Returns the named store, or that of `STORE_URL`.
///
/// # Errors
/// When `STORE_URL` is invalid.
pub(super) fn url_of(
    store: Option<StoreUrl>,
    variables: &HashMap<String, String>,
) -> Result<StoreUrl, StartupError> {
    let set = || {
        variables
            .get("STORE_URL")
            .map_or_else(|| Ok(StoreUrl::new(EngineKind::ALL[0], "./data")), |url| url.parse())
    };
    let url = store.map_or_else(set, Ok);
    url.map_err(|_none: NoStoreUrl| StartupError(format!("STORE_URL {}", NoStoreUrl::WORDS)))
}

/// Returns the bot of the configured token. A token begins with the bot's id.
pub(super) fn bot_of(variables: &HashMap<String, String>) -> Option<BotId> {
    let token = variables.get("TELEGRAM_BOT_TOKEN").and_then(|token| token.split(':').next()?.parse().ok());
    token.map(BotId)
}

fn copied(from: &StoreUrl, to: &StoreUrl) -> Result<(), StartupError> {
    let same = |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
    let is_same = match (from, to) {
        (StoreUrl::Folder(from), StoreUrl::Folder(to)) => {
            from.engine == to.engine && (from.folder == to.folder || same(&from.folder, &to.folder))
        }
        (from, to) => from == to,
    };
    if is_same {
        return Err(StartupError(
            "a store cannot be copied into itself: name another engine or folder".to_owned(),
        ));
    }
    is_there(from, AS_ARGUMENT)?;
    say(&format!("copying {from}; a large store takes some minutes"));
    let copied = copy(from, to, |_| {});
    let records = records(&copied.map_err(|error| StartupError(error.to_string()))?);
    say(&format!(
        "✓ {from} was copied to {to} and compared: {}; {from} is as it was",
        counted(records, "record")
    ));
    say(&format!("  STORE_URL={to} uses the copy; remove the other when you are content"));
    Ok(())
}

/// Exports a store to a file; `-` writes standard output.
fn exported(url: &StoreUrl, to: &Path) -> Result<(), StartupError> {
    is_there(url, WITH_OPTION)?;
    let refused =
        |error: TransferError| StartupError(format!("{}: {error}", file_name(to, "standard output")));
    if to == Path::new(STREAM) {
        return export_to(url, io::stdout().lock()).map(drop).map_err(refused);
    }
    say(&format!("exporting {url}; a large store takes some minutes"));
    let exported = export_file(url, to, |_| {}).map_err(refused)?;
    say(&format!("✓ {url} was exported to {}: {}", to.display(), counted(records(&exported), "record")));
    Ok(())
}

/// Imports a file into a new store; `-` reads standard input.
fn imported(from: &Path, url: &StoreUrl) -> Result<(), StartupError> {
    let name = file_name(from, "standard input");
    let count = if from == Path::new(STREAM) {
        made_of(io::stdin().lock(), &name, url)
    } else {
        let file = File::open(from);
        let file = file.map_err(|error| StartupError(format!("{name}: {}", TransferError::from(error))))?;
        made_of(BufReader::new(file), &name, url)
    }?;
    say(&format!("✓ {name} was imported into {url} and compared: {}", counted(count, "record")));
    Ok(())
}

/// Makes a new store of the lines of an export, which have this name in errors. Returns the number of records.
pub(super) fn made_of(lines: impl BufRead, name: &str, url: &StoreUrl) -> Result<u64, StartupError> {
    let beside = engine::found(url);
    if beside != *url {
        return Err(StartupError(format!(
            "there is a store already, {beside}: name another folder with --store"
        )));
    }
    let made = import(lines, url).map_err(|error| StartupError(format!("{name}: {error}")))?;
    Ok(records(&made))
}

/// Returns the name of a file for messages; `stream` for `-`.
pub(super) fn file_name(file: &Path, stream: &str) -> String {
    if file == Path::new(STREAM) { stream.to_owned() } else { file.display().to_string() }
}

pub(super) fn records(moved: &Inventory) -> u64 {
    moved.values().map(|table| table.records).sum()
}

fn checked(url: &StoreUrl, accept_loss: bool) -> Result<(), StartupError> {
    let mut engine = open(url)?;
    let lost = state(&*engine, url).map_err(|error| StartupError(error.to_string()))?;
    verify(&mut *engine).map_err(|error| refusal(url, &error))?;
    let found = inventory(&*engine).map_err(|error| refusal(url, &error))?;
    let disk = engine.disk_bytes().map_err(|error| refusal(url, &error))?;
    print_faults(&found);
    let sum = |what: fn(&TableInventory) -> u64| found.values().map(what).sum::<u64>();
    let (live, unreadable) = (sum(|table| table.bytes), sum(|table| table.unreadable));
    let all = counted(records(&found), "record");
    say(&format!("{url}: {all} of {}, {} on disk", size(live), size(disk)));
    match lost {
        Some(lost) if accept_loss => {
            whole::accept_loss(&*engine).map_err(|error| refusal(url, &error))?;
            say(&format!("{url} goes on without what it has lost: {lost}"));
        }
        Some(lost) => {
            return Err(StartupError(format!(
                "{url} has lost something: {lost}; restore a backup, or go on without it with --accept-loss"
            )));
        }
        None => {}
    }
    if unreadable > 0 {
        return Err(StartupError(format!("{url}: {} cannot be read", counted(unreadable, "record"))));
    }
    say("✓ all of it can be read");
    Ok(())
}

/// Prints tables with unreadable records.
fn print_faults(found: &Inventory) {
    for (name, table) in found.iter().filter(|(_, table)| table.unreadable > 0) {
        say(&format!("{name}: {} of {}", table.unreadable, counted(table.records, "record")));
    }
}

fn compacted(url: &StoreUrl) -> Result<(), StartupError> {
    let mut engine = open(url)?;
    let disk = |engine: &dyn Engine| engine.disk_bytes().map_err(|error| refusal(url, &error));
    verify(&mut *engine).map_err(|error| refusal(url, &error))?;
    let before = disk(&*engine)?;
    // Each round moves some data; `false` means that nothing is left to do.
    while engine.compact().map_err(|error| refusal(url, &error))? {}
    // Measure the size after closing the store.
    drop(engine);
    let now = disk(&*open(url)?)?;
    say(&format!("✓ {url}: {} on disk before, {} now", size(before), size(now)));
    Ok(())
}

fn migrated(url: &StoreUrl) -> Result<(), StartupError> {
    let words = match (url, engine::migrate(url).map_err(|error| refusal(url, &error))?) {
        (StoreUrl::Folder(_), _) => "a folder has no tables to make or to bring to a new version",
        (StoreUrl::Database(_), true) => "its tables are made",
        (StoreUrl::Database(_), false) => "its tables have the version of this program already",
    };
    say(&format!("✓ {url}: {words}"));
    Ok(())
}

fn open(url: &StoreUrl) -> Result<Box<dyn Engine>, StartupError> {
    is_there(url, AS_ARGUMENT)?;
    engine::open(url).map_err(|error| refusal(url, &error))
}

/// Fails if there is no store, so that a check does not create one.
pub(super) fn is_there(url: &StoreUrl, naming: &str) -> Result<(), StartupError> {
    match engine::has_store(url) || engine::has_mark(url) {
        true => Ok(()),
        false => Err(missing(url, naming)),
    }
}

/// Returns the refusal for a store that does not exist; `naming` says how to name another one.
pub(super) fn missing(url: &StoreUrl, naming: &str) -> StartupError {
    StartupError(format!("there is no store {url}: run this in the folder of the bot, or {naming}"))
}

fn refusal(url: &StoreUrl, error: &EngineError) -> StartupError {
    match error {
        EngineError::InUse => StartupError(format!("the store {url} is in use: stop the bot first")),
        EngineError::Unreadable(reason) => StartupError(format!(
            "the store {url} is damaged ({reason}): restore a backup; nothing more was changed"
        )),
        error => StartupError(format!("the store {url}: {error}")),
    }
}
