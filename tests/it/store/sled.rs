//! What is particular to the sled backend: its folder, its lock, and what it refuses to open.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use figaro::ids::{BotId, SessionId};
use figaro::store::sled::SledStore;
use figaro::store::{ConversationStore, Store, StoreError};
use tempfile::TempDir;

use super::{BOT, Backend, at, raw, words};

/// A store in a folder of its own.
pub(super) struct Sled {
    folder: TempDir,
}

impl Sled {
    pub(super) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// The folder around the store's.
    pub(super) fn home(&self) -> &Path {
        self.folder.path()
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(super) async fn try_open(&self) -> Result<SledStore, StoreError> {
        SledStore::open(&self.path(), BOT).await
    }

    /// The same files through sled itself, to do harm to them.
    pub(super) fn engine(&self) -> sled::Db {
        engine(&self.path())
    }
}

/// The files of a store through sled itself, to do harm to them.
pub fn engine(path: &Path) -> sled::Db {
    // sled may hold its lock for a moment after it was closed.
    for _ in 0..50 {
        match sled::open(path) {
            Err(sled::Error::Io(_)) => std::thread::sleep(Duration::from_millis(20)),
            opened => return opened.unwrap(),
        }
    }
    panic!("the lock was not released");
}

#[async_trait]
impl Backend for Sled {
    async fn open_for(&self, bot: BotId) -> Arc<dyn Store> {
        Arc::new(SledStore::open(&self.path(), bot).await.unwrap())
    }
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    found
}

/// The files as they are now, as a crash would leave them.
pub(super) fn crash_image(of: &Sled) -> Sled {
    let image = Sled::new();
    for (path, bytes) in files(&of.path()) {
        let copy = image.path().join(path.strip_prefix(of.path()).unwrap());
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::write(copy, bytes).unwrap();
    }
    image
}

#[tokio::test]
async fn a_second_opening_is_refused() {
    let folder = Sled::new();
    let store = folder.try_open().await.unwrap();
    let refused = folder.try_open().await.unwrap_err();
    assert!(matches!(&refused, StoreError::InUse(path) if *path == folder.path()), "{refused}");
    store.append(words(SessionId::new(), "still fine")).await.unwrap();
    drop(store);
    folder.try_open().await.unwrap();
}

#[tokio::test]
async fn what_is_no_store_is_refused_untouched() {
    type Harm = fn(&Path);
    fn overwrite(path: &Path, from: usize, length: usize) {
        let mut bytes = fs::read(path).unwrap();
        bytes[from..from + length].fill(0x5A);
        fs::write(path, bytes).unwrap();
    }
    fn snapshot(folder: &Path) -> PathBuf {
        let is_snapshot = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("snap.");
        files(folder).into_keys().find(is_snapshot).unwrap()
    }
    let cases: [(&str, Harm); 9] = [
        ("a foreign file called db", |folder| {
            fs::remove_dir_all(folder).unwrap();
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("db"), "a word document").unwrap();
        }),
        ("no conf", |folder| fs::remove_file(folder.join("conf")).unwrap()),
        ("garbage in conf", |folder| fs::write(folder.join("conf"), "segment_size: banana").unwrap()),
        ("no db", |folder| fs::remove_file(folder.join("db")).unwrap()),
        ("an empty db", |folder| fs::write(folder.join("db"), "").unwrap()),
        ("a db of zeros", |folder| fs::write(folder.join("db"), [0; 100]).unwrap()),
        ("garbage at the start of db", |folder| overwrite(&folder.join("db"), 0, 4096)),
        ("garbage at the second segment", |folder| overwrite(&folder.join("db"), 512 * 1024, 20)),
        ("garbage in the snapshot", |folder| overwrite(&snapshot(folder), 3, 9)),
    ];
    let sound = Sled::new();
    for _ in 0..2 {
        let store = sound.try_open().await.unwrap();
        for i in 0..40 {
            store.append(words(SessionId::new(), &format!("{i}").repeat(20_000))).await.unwrap();
        }
    }
    for (name, harm) in cases {
        let damaged = crash_image(&sound);
        harm(&damaged.path());
        let before = files(&damaged.path());
        let refused = damaged.try_open().await.unwrap_err();
        assert!(matches!(refused, StoreError::Unreadable { .. }), "{name}: {refused}");
        assert!(files(&damaged.path()) == before, "{name}: files were changed");
    }
}

#[tokio::test]
async fn a_path_that_cannot_be_a_folder_is_refused() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("notes.txt");
    fs::write(&file, "mine").unwrap();
    let refused = SledStore::open(&file, BOT).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unreadable { .. }), "{refused}");
    let refused = SledStore::open(&file.join("below"), BOT).await.unwrap_err();
    assert!(matches!(refused, StoreError::Failed { .. }), "{refused}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[tokio::test]
async fn other_formats_are_refused() {
    let folder = Sled::new();
    folder.try_open().await.unwrap().append(words(SessionId::new(), "kept")).await.unwrap();
    for (format, newer) in [("2", true), ("0", false), ("one", false)] {
        folder.engine().open_tree("meta").unwrap().insert("format", format).unwrap();
        let before: Vec<_> =
            folder.engine().export().into_iter().map(|(_, name, rows)| (name, rows.count())).collect();
        match folder.try_open().await.unwrap_err() {
            StoreError::NewerFormat { found: 2, known: 1, .. } if newer => {}
            StoreError::Unreadable { .. } if !newer => {}
            other => panic!("{format}: {other}"),
        }
        let after: Vec<_> =
            folder.engine().export().into_iter().map(|(_, name, rows)| (name, rows.count())).collect();
        assert_eq!(after, before);
        assert_eq!(folder.engine().open_tree("meta").unwrap().get("format").unwrap().unwrap(), format);
    }
    let foreign = Sled::new();
    foreign.engine().insert("theirs", "data").unwrap();
    let refused = foreign.try_open().await.unwrap_err();
    assert!(matches!(refused, StoreError::Unreadable { .. }), "{refused}");
}

#[tokio::test]
async fn a_first_opening_that_was_cut_short_is_no_damage() {
    let folder = Sled::new();
    folder.engine().open_tree("meta").unwrap();
    folder.try_open().await.unwrap();
}

#[test]
fn its_debug_form_tells_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let folder = Sled::new();
    let store = runtime.block_on(folder.open());
    runtime.block_on(store.accept(vec![raw(123_456)], at(0))).unwrap();
    assert!(!format!("{store:?}").contains("123456"));
}
