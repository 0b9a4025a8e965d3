//! `figaro store`, `figaro export` and `figaro import`: what can be done with the store of a bot that does not run.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader};
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

/// The name of a file that stands for standard output or input.
const STREAM: &str = "-";

/// What can be done with a store; without a URL, with that of `STORE_URL`.
#[derive(Debug)]
pub enum StoreTask {
    /// Copy one store into a new one, and compare the two.
    Copy {
        /// The store that is copied.
        from: StoreUrl,
        /// Where the copy is made.
        to: StoreUrl,
    },
    /// Read all there is, and say what it is and whether it is whole.
    Check {
        /// Which store.
        store: Option<StoreUrl>,
        /// Whether to go on without what it has lost.
        accept_loss: bool,
    },
    /// Give the space of what was removed back.
    Compact(Option<StoreUrl>),
    /// Write all there is as lines of JSON.
    Export {
        /// The file; `-` for standard output.
        to: PathBuf,
        /// Which store.
        store: Option<StoreUrl>,
    },
    /// Make a new store of such lines.
    Import {
        /// The file; `-` for standard input.
        from: PathBuf,
        /// Which store.
        store: Option<StoreUrl>,
    },
}

/// Does what is asked for and prints what came of it.
///
/// # Errors
/// Why it could not be done, in words for whoever asked.
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

/// The store that is named, or that of `STORE_URL`.
///
/// # Errors
/// If the variable names none.
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

/// The bot of the token that is set. A token begins with the bot's number.
pub(super) fn bot_of(variables: &HashMap<String, String>) -> Option<BotId> {
    let token = variables.get("TELEGRAM_BOT_TOKEN").and_then(|token| token.split(':').next()?.parse().ok());
    token.map(BotId)
}

fn copied(from: &StoreUrl, to: &StoreUrl) -> Result<(), StartupError> {
    let same = |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
    if from.engine == to.engine && (from.folder == to.folder || same(&from.folder, &to.folder)) {
        return Err(StartupError(
            "a store cannot be copied into itself: name another engine or folder".to_owned(),
        ));
    }
    is_there(from)?;
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

/// `-` is standard output.
fn exported(url: &StoreUrl, to: &Path) -> Result<(), StartupError> {
    is_there(url)?;
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

/// `-` is standard input.
fn imported(from: &Path, url: &StoreUrl) -> Result<(), StartupError> {
    let name = file_name(from, "standard input");
    let refused = |error: TransferError| StartupError(format!("{name}: {error}"));
    let beside = engine::found(url);
    if beside != *url {
        return Err(StartupError(format!("there is a store already, {beside}: import into another folder")));
    }
    let imported = if from == Path::new(STREAM) {
        import(io::stdin().lock(), url)
    } else {
        let file = File::open(from).map_err(|error| refused(error.into()))?;
        import(BufReader::new(file), url)
    };
    let records = records(&imported.map_err(refused)?);
    say(&format!("✓ {name} was imported into {url} and compared: {}", counted(records, "record")));
    Ok(())
}

/// A file as messages call it; this where it stands for a stream.
fn file_name(file: &Path, stream: &str) -> String {
    if file == Path::new(STREAM) { stream.to_owned() } else { file.display().to_string() }
}

fn records(moved: &Inventory) -> u64 {
    moved.values().map(|table| table.records).sum()
}

fn checked(url: &StoreUrl, accept_loss: bool) -> Result<(), StartupError> {
    let mut engine = open(url)?;
    let lost = state(&*engine, url).map_err(|error| StartupError(error.to_string()))?;
    verify(&mut *engine).map_err(|error| refusal(url, &error))?;
    let found = inventory(&*engine, |_, key| Some(key)).map_err(|error| refusal(url, &error))?;
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

/// The tables that have what cannot be read, for whoever mends them.
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
    // Each round moves some; the engine says when there is no more to do.
    while engine.compact().map_err(|error| refusal(url, &error))? {}
    // What it takes when it is closed is what counts.
    drop(engine);
    let now = disk(&*open(url)?)?;
    say(&format!("✓ {url}: {} on disk before, {} now", size(before), size(now)));
    Ok(())
}

fn open(url: &StoreUrl) -> Result<Box<dyn Engine>, StartupError> {
    is_there(url)?;
    engine::open(url).map_err(|error| refusal(url, &error))
}

/// Looking at a store makes none.
fn is_there(url: &StoreUrl) -> Result<(), StartupError> {
    match engine::has_store(url) || engine::has_mark(url) {
        true => Ok(()),
        false => Err(StartupError(format!("there is no store {url}"))),
    }
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
