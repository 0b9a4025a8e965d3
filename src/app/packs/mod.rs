//! The owner's context packs: `figaro packs` checks their files and prints the JSON Schema; a watcher reloads the files
//! while the bot runs.

mod watch;

use std::path::{Path, PathBuf};

pub(super) use self::watch::PackFolder;
use super::failure::StartupError;
use super::terminal::{all_said, say};
use figaro_domain::record::Pack;
use figaro_prompts::{PACKS_FOLDER, PackFiles, PackSet, pack_schema};

/// Subcommand of `figaro packs`.
#[derive(Debug)]
pub enum PacksTask {
    /// Check the pack files of this folder; `None` for the folder that the bot reads.
    Check(Option<PathBuf>),
    /// Print the JSON Schema of a pack file.
    Schema,
}

/// Runs the subcommand and prints its result. Needs no settings. A bot may run at the same time.
///
/// # Errors
/// All faults of the files, one per line.
pub fn packs(task: PacksTask) -> Result<(), StartupError> {
    match task {
        PacksTask::Check(folder) => check(folder.as_deref())?,
        PacksTask::Schema => say(&format!("{:#}", pack_schema())),
    }
    all_said()
}

fn check(folder: Option<&Path>) -> Result<(), StartupError> {
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let shown = folder.display();
        let why = if folder.exists() {
            format!("{shown} is a file: give its folder")
        } else {
            format!("there is no folder {shown}")
        };
        return Err(StartupError(why));
    }
    let folder = folder.unwrap_or(Path::new(PACKS_FOLDER));
    let shown = folder.display().to_string();
    let shown = shown.trim_end_matches('/');
    let packs = PackFiles::of(folder).read(shown).map_err(|faults| {
        let count = faults.len();
        let what =
            if count == 1 { "one thing is wrong".to_owned() } else { format!("{count} things are wrong") };
        StartupError(format!("{what} with the packs in {shown}\n{}", faults.join("\n")))
    })?;
    packs.all().for_each(|pack| say(&line(pack, &packs)));
    if !folder.is_dir() {
        let place = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        say(&format!("⚠ there is no folder {}: only what is built in was checked", place.display()));
    }
    Ok(())
}

/// One-line summary of a pack.
fn line(pack: &Pack, packs: &PackSet) -> String {
    let kinds: Vec<String> = pack
        .kinds
        .iter()
        .map(|kind| {
            let series = if kind.series.is_some() { ", series" } else { "" };
            let fields = if kind.fields.len() == 1 { "field" } else { "fields" };
            format!("{} ({} {fields}{series})", kind.name, kind.fields.len())
        })
        .collect();
    let origin = if packs.is_built_in(&pack.name) { ", built in" } else { "" };
    format!("✓ {}: {}{origin}", pack.name, kinds.join(", "))
}
