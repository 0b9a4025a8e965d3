//! What is particular to sled: which damage of its files is seen before anything is changed.

use std::fs;
use std::path::{Path, PathBuf};

use figaro::config::EngineKind;

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
