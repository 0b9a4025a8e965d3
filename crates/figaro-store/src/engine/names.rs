//! What the files of each engine are called.

use std::path::{Path, PathBuf};

use figaro_config::EngineKind;

/// The folder in which a store is rewritten, inside its own.
pub(super) const FRESH: &str = "fresh";
/// The same once it is whole: it takes the place of what is beside it, which is removed first.
pub(super) const WHOLE: &str = "fresh.whole";
/// The same once what was beside it is removed: its files are moved out of it.
pub(super) const MOVING: &str = "fresh.moving";

/// The file by which a store of an engine is known in its folder. It is there from the first opening on.
pub(super) fn file_of(kind: EngineKind, folder: &Path) -> PathBuf {
    folder.join(match kind {
        EngineKind::Redb => "store.redb",
        EngineKind::Sled => "db",
    })
}

/// The files of which a store of an engine has at least one, also when it has lost others.
pub(super) fn files_of(kind: EngineKind, folder: &Path) -> Vec<PathBuf> {
    let others: &[&str] = match kind {
        EngineKind::Redb => &[],
        EngineKind::Sled => &["conf", WHOLE, MOVING],
    };
    [file_of(kind, folder)].into_iter().chain(others.iter().map(|name| folder.join(name))).collect()
}

/// The file that tells how far a store of an engine was durable.
pub(super) fn mark_of(kind: EngineKind, folder: &Path) -> PathBuf {
    folder.join(format!("{kind}.mark"))
}

/// Whether a file, or a folder, of this name in the folder of a store belongs to one of the engines.
pub(super) fn is_ours(name: &str, is_folder: bool) -> bool {
    match is_folder {
        true => ["blobs", FRESH, WHOLE, MOVING].contains(&name),
        false => {
            ["store.redb", "redb.mark", "db", "sled.mark"].contains(&name)
                || name.starts_with("conf")
                || name.starts_with("snap.")
        }
    }
}
