//! What is particular to sled: which damage of its files is seen before anything is changed.

use std::fs;
use std::path::{Path, PathBuf};

use figaro_config::EngineKind;
use figaro_store::StoreError;

use super::disk::{Harm, files, is_refused_untouched, overwrite, with_long_messages};

#[tokio::test]
async fn what_is_no_store_is_refused_untouched() {
    fn snapshot(folder: &Path) -> PathBuf {
        let is_snapshot = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("snap.");
        files(folder).into_keys().find(is_snapshot).unwrap()
    }
    let cases: [Harm; 9] = [
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
    is_refused_untouched(&with_long_messages(EngineKind::Sled).await, &cases).await;
}

/// A process that ends while sled writes a snapshot leaves a part of it, which sled itself takes for a whole one.
#[tokio::test]
async fn a_snapshot_that_was_cut_short_is_no_damage() {
    let folder = with_long_messages(EngineKind::Sled).await;
    let store = folder.try_open().await.unwrap();
    let leftover = folder.path().join("snap.000000000006891A.generating");
    fs::write(&leftover, "").unwrap();
    let refused = folder.try_open().await.unwrap_err();
    assert!(matches!(refused, StoreError::InUse(_)), "{refused}");
    assert!(leftover.exists(), "it may be the other process's");
    drop(store);
    folder.try_open().await.unwrap();
    assert!(!leftover.exists());
}
