//! A store in a folder, kept by one of the engines: its lock, and what every engine refuses to open.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use figaro_base::ids::{BotId, SessionId};
use figaro_config::{EngineKind, StoreUrl};
use figaro_store::engine::{self};
use figaro_store::{Store, StoreError};
use tempfile::TempDir;

use super::{BOT, Backend, at, raw, words};
use crate::support::records::Records;

/// A store in a folder of its own.
pub(super) struct Disk {
    kind: EngineKind,
    folder: TempDir,
}

impl Disk {
    pub(super) fn new(kind: EngineKind) -> Self {
        Self { kind, folder: TempDir::new().unwrap() }
    }

    pub(super) fn kind(&self) -> EngineKind {
        self.kind
    }

    /// The folder around the store's.
    pub(super) fn home(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(super) fn url(&self) -> StoreUrl {
        StoreUrl::new(self.kind, self.path())
    }

    pub(super) async fn try_open(&self) -> Result<Store, StoreError> {
        Store::open(&self.url(), BOT).await
    }

    /// The same records past the store, which is closed.
    pub(super) fn records(&self) -> Records {
        Records::of(&self.url())
    }

    /// The files as they are now, as a crash would leave them.
    pub(super) fn crash_image(&self) -> Self {
        let image = Self::new(self.kind);
        for (path, bytes) in files(&self.path()) {
            let copy = image.path().join(path.strip_prefix(self.path()).unwrap());
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::write(copy, bytes).unwrap();
        }
        image
    }
}

#[async_trait]
impl Backend for Disk {
    async fn open_for(&self, bot: BotId) -> Store {
        Store::open(&self.url(), bot).await.unwrap()
    }
}

/// The files of a folder and of those in it, and what is in them.
pub(super) fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
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

/// What can be done to a store while it is closed, and what that is called.
pub(super) type Harm = (&'static str, fn(&Path));

/// Fills a part of a file with nonsense.
pub(super) fn overwrite(path: &Path, from: usize, length: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[from..from + length].fill(0x5A);
    fs::write(path, bytes).unwrap();
}

/// After each of these, the store is refused and its files stay as they are.
pub(super) async fn is_refused_untouched(sound: &Disk, cases: &[Harm]) {
    for (name, harm) in cases {
        let damaged = sound.crash_image();
        harm(&damaged.path());
        let before = files(&damaged.path());
        let refused = damaged.try_open().await.unwrap_err();
        assert!(matches!(refused, StoreError::Unreadable { .. }), "{name}: {refused}");
        assert!(files(&damaged.path()) == before, "{name}: files were changed");
    }
}

/// A store that was opened twice and holds some long messages.
pub(super) async fn with_long_messages(kind: EngineKind) -> Disk {
    let sound = Disk::new(kind);
    for _ in 0..2 {
        let store = sound.try_open().await.unwrap();
        for i in 0..40 {
            store.conversations().append(words(SessionId::new(), &format!("{i}").repeat(20_000))).unwrap();
        }
    }
    sound
}

async fn a_second_opening_is_refused(folder: &Disk) {
    let store = folder.try_open().await.unwrap();
    let refused = folder.try_open().await.unwrap_err();
    assert!(
        matches!(&refused, StoreError::InUse(place) if *place == folder.path().display().to_string()),
        "{refused}"
    );
    store.conversations().append(words(SessionId::new(), "still fine")).unwrap();
    drop(store);
    folder.try_open().await.unwrap();
}

async fn a_path_that_cannot_be_a_folder_is_refused(folder: &Disk) {
    let file = folder.home().join("notes.txt");
    fs::write(&file, "mine").unwrap();
    let refused = Store::open(&StoreUrl::new(folder.kind, &file), BOT).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unreadable { .. }), "{refused}");
    let refused = Store::open(&StoreUrl::new(folder.kind, file.join("below")), BOT).await.unwrap_err();
    assert!(matches!(refused, StoreError::Failed { .. }), "{refused}");
    assert!(refused.to_string().contains("notes.txt/below"), "the folder is named: {refused}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

async fn other_formats_are_refused(folder: &Disk) {
    folder.try_open().await.unwrap().conversations().append(words(SessionId::new(), "kept")).unwrap();
    let all = |records: Records| ["messages", "sessions", "meta"].map(|table| records.all(table));
    for (format, number) in [("3", Some(3)), ("1", Some(1)), ("0", Some(0)), ("one", None)] {
        folder.records().put("meta", b"format", format);
        let before = all(folder.records());
        match folder.try_open().await.unwrap_err() {
            StoreError::OtherFormat { found, known: 2, .. } if number == Some(found) => {}
            StoreError::Unreadable { .. } if number.is_none() => {}
            other => panic!("{format}: {other}"),
        }
        assert_eq!(all(folder.records()), before);
    }
}

async fn anothers_database_is_refused(folder: &Disk) {
    let mut engine = engine::open(&folder.url()).unwrap();
    engine.create_tables(&["theirs"]).unwrap();
    drop(engine);
    let refused = folder.try_open().await.unwrap_err();
    assert!(matches!(refused, StoreError::Unreadable { .. }), "{refused}");
    let mut engine = engine::open(&folder.url()).unwrap();
    assert_eq!(engine.tables().unwrap().len(), 1, "nothing was made in it");
    engine.create_tables(&["meta"]).unwrap();
    drop(engine);
    let refused = folder.try_open().await.unwrap_err();
    assert!(matches!(refused, StoreError::Unreadable { .. }), "its format is not known: {refused}");
}

async fn a_first_opening_that_was_cut_short_is_no_damage(folder: &Disk) {
    drop(engine::open(&folder.url()).unwrap());
    folder.try_open().await.unwrap();
    let other = Disk::new(folder.kind);
    engine::open(&other.url()).unwrap().create_tables(&["meta"]).unwrap();
    other.try_open().await.unwrap();
}

async fn bots_share_a_store_and_nothing_in_it(folder: &Disk) {
    let store = folder.open().await;
    let german = figaro_domain::chat::ConfigPatch {
        language: Some(Some("de".into())),
        ..figaro_domain::chat::ConfigPatch::default()
    };
    store.settings().change_chat_config(super::CHAT, german).await.unwrap();
    store.inbox().accept(vec![raw(1)], at(0)).unwrap();
    drop(store);
    let other = folder.open_for(BotId(78)).await;
    assert_eq!(other.settings().chat_config(super::CHAT).unwrap().language, None);
    assert_eq!(other.inbox().unsettled().unwrap(), []);
    drop(other);
    assert_eq!(
        folder.open().await.settings().chat_config(super::CHAT).unwrap().language.as_deref(),
        Some("de")
    );
}

async fn its_debug_form_tells_nothing(folder: &Disk) {
    let store = folder.open().await;
    store.inbox().accept(vec![raw(123_456)], at(0)).unwrap();
    assert!(!format!("{store:?}").contains("123456"));
}

macro_rules! for_every_engine {
    ($($behaviour:ident)+) => {
        mod on_redb {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                super::$behaviour(&super::Disk::new(figaro_config::EngineKind::Redb)).await;
            })+
        }

        mod on_sled {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                super::$behaviour(&super::Disk::new(figaro_config::EngineKind::Sled)).await;
            })+
        }
    };
}
pub(super) use for_every_engine;

for_every_engine! {
    a_second_opening_is_refused
    a_path_that_cannot_be_a_folder_is_refused
    other_formats_are_refused
    anothers_database_is_refused
    a_first_opening_that_was_cut_short_is_no_damage
    bots_share_a_store_and_nothing_in_it
    its_debug_form_tells_nothing
}
