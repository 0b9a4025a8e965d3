//! Replaces the old store by a rewritten one. sled has several files, which cannot be replaced at once; the name of the
//! folder with the new ones shows the stage, and the next opening continues from there. Each stage can be repeated from
//! its beginning.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::super::folder::sync_entries;
use super::super::names::{MOVING, WHOLE};
use super::super::rewrite::take_place;

/// Replaces the closed store of this locked folder by the closed store of the folder `fresh`.
pub(super) fn replace(folder: &Path, fresh: &Path) -> io::Result<()> {
    take_place(fresh, &folder.join(WHOLE))?;
    recover(folder)
}

/// Completes a replacement whose process was killed. The folder is locked.
pub(super) fn recover(folder: &Path) -> io::Result<()> {
    let [whole, moving] = [WHOLE, MOVING].map(|stage| folder.join(stage));
    if whole.exists() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if is_of_store(&path) {
                remove(&path)?;
            }
        }
        sync_entries(folder)?;
        take_place(&whole, &moving)?;
    }
    if moving.exists() {
        for entry in fs::read_dir(&moving)? {
            let entry = entry?;
            fs::rename(entry.path(), folder.join(entry.file_name()))?;
        }
        sync_entries(folder)?;
        fs::remove_dir(&moving)?;
        sync_entries(folder)?;
    }
    Ok(())
}

fn is_of_store(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ["db", "conf", "blobs"].contains(&&*name) || name.starts_with("conf.") || name.starts_with("snap.")
}

fn remove(path: &Path) -> io::Result<()> {
    let done = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, files: &[&str], words: &str) {
        for file in files {
            fs::create_dir_all(folder.join(file).parent().unwrap()).unwrap();
            fs::write(folder.join(file), words).unwrap();
        }
    }

    /// Every state that a killed process can leave behind ends in the new store.
    #[test]
    fn each_stage_is_gone_on_with_from_wherever_it_ended() {
        let new = ["db", "conf", "blobs/9"];
        for (stage, removed, moved) in
            [(WHOLE, 0, 0), (WHOLE, 1, 0), (WHOLE, 4, 0), (MOVING, 4, 0), (MOVING, 4, 1), (MOVING, 4, 3)]
        {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path();
            write(folder, &["sled.mark", "other.txt"], "kept");
            write(folder, &["db", "conf", "snap.1", "blobs/3"][removed..], "old");
            fs::create_dir(folder.join(stage)).unwrap();
            write(&folder.join(stage), &new[moved..], "new");
            write(folder, &new[..moved], "new");
            recover(folder).unwrap();
            for file in new {
                assert_eq!(
                    fs::read_to_string(folder.join(file)).unwrap(),
                    "new",
                    "{stage} {removed} {moved} {file}"
                );
            }
            let left = fs::read_dir(folder).unwrap().count();
            assert_eq!(left, 5, "{stage} {removed} {moved}");
            assert_eq!(fs::read_dir(folder.join("blobs")).unwrap().count(), 1, "{stage} {removed} {moved}");
            assert_eq!(fs::read_to_string(folder.join("sled.mark")).unwrap(), "kept");
        }
    }
}
