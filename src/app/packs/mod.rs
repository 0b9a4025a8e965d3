//! The owner's context packs: `figaro packs`, which checks their files and prints the schema of one, and what reads them again while
//! the bot runs.

mod watch;

use std::path::{Path, PathBuf};

pub(super) use self::watch::PackFolder;
use super::failure::StartupError;
use super::terminal::{all_said, say};
use figaro_domain::record::Pack;
use figaro_prompts::{PACKS_FOLDER, PackFiles, PackSet, pack_schema};

/// What is asked of packs.
#[derive(Debug)]
pub enum PacksTask {
    /// Whether the files of a folder are right: of this one, or of the one that the bot reads.
    Check(Option<PathBuf>),
    /// The JSON Schema of a file.
    Schema,
}

/// Does what is asked for and prints what came of it. It needs no settings, and a bot may run meanwhile.
///
/// # Errors
/// All that is wrong with the files, a line each.
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

/// What there is to know of a pack at a glance.
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
