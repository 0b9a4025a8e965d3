//! Files of a folder, searched down to the bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::World;
use super::wait::eventually;

/// The files of a folder and of those in it, with their bytes; without those that go meanwhile.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if let Ok(bytes) = fs::read(&path) {
            found.insert(path, bytes);
        }
    }
    found
}

/// `true` if one of these stands in the bytes.
pub fn has_any(bytes: &[u8], wanted: &[impl AsRef<[u8]>]) -> bool {
    wanted.iter().any(|one| {
        let one = one.as_ref();
        bytes.windows(one.len()).any(|part| part == one)
    })
}

/// The files of a folder and of those in it that hold one of these.
pub fn holding(folder: &Path, wanted: &[impl AsRef<[u8]>]) -> Vec<String> {
    let all = files(folder).into_iter().filter(|(_, bytes)| has_any(bytes, wanted));
    all.map(|(path, _)| path.display().to_string()).collect()
}

impl World {
    /// The folder in which the bot keeps its store.
    pub fn store_folder(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Waits until no file of the store holds one of these.
    pub async fn erased(&self, wanted: &[impl AsRef<[u8]>]) {
        let holding = || holding(&self.store_folder(), wanted);
        eventually(
            || format!("they hold it still: {:?}; the log:\n{}", holding(), self.log()),
            async || holding().is_empty().then_some(()),
        )
        .await;
    }
}
