//! File names of each engine.

use std::path::{Path, PathBuf};

use figaro_config::EngineKind;

/// Folder inside the store's own in which a store is rewritten.
pub(super) const FRESH: &str = "fresh";
/// Folder inside the store's own with a copy that is being read.
pub(super) const COPY: &str = "fresh.copy";
/// Name of the folder of a rewritten store once it is complete: it replaces the files beside it, which are removed first.
pub(super) const WHOLE: &str = "fresh.whole";
/// Name of that folder once the files beside it are removed: its files are moved out of it.
pub(super) const MOVING: &str = "fresh.moving";

/// Returns the file that identifies a store of an engine in its folder. It exists from the first opening on.
pub(super) fn file_of(kind: EngineKind, folder: &Path) -> PathBuf {
    folder.join(match kind {
        EngineKind::Redb => "store.redb",
        EngineKind::Sled => "db",
    })
}

/// Returns the files of which a store of an engine has at least one, even after losing others.
pub(super) fn files_of(kind: EngineKind, folder: &Path) -> Vec<PathBuf> {
    let others: &[&str] = match kind {
        EngineKind::Redb => &[],
        EngineKind::Sled => &["conf", WHOLE, MOVING],
    };
    [file_of(kind, folder)].into_iter().chain(others.iter().map(|name| folder.join(name))).collect()
}

/// Returns the mark file of a store of an engine.
pub(super) fn mark_of(kind: EngineKind, folder: &Path) -> PathBuf {
    folder.join(format!("{kind}.mark"))
}

/// Returns `true` if a file or folder of this name in a store's folder belongs to one of the engines.
pub(super) fn is_ours(name: &str, is_folder: bool) -> bool {
    match is_folder {
        true => ["blobs", FRESH, COPY, WHOLE, MOVING].contains(&name),
        false => {
            ["store.redb", "redb.mark", "db", "sled.mark"].contains(&name)
                || name.starts_with("conf")
                || name.starts_with("snap.")
        }
    }
}
