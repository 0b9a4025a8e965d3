//! A store that comes back with less than it had: what damage may do, and that it is never silent.

use std::fs;
use std::path::Path;
use std::time::Duration;

use figaro_store::engine;
use figaro_store::whole::{accept_loss, loss};
use figaro_store::{Store, StoreError};

use super::disk::{Disk, files, for_every_engine};
use super::{Backend, CHAT, note};

/// The count kept beside a store may be a second behind.
const LAG: Duration = Duration::from_millis(1100);

/// Adds notes of these numbers, each in a commit of its own.
async fn add_notes(store: &Store, numbers: std::ops::Range<u32>) {
    for number in numbers {
        let note = note(CHAT, "n", &format!("note {number} {}", "x".repeat(300)), number.into());
        store.notes().add(&note, 1_000).await.unwrap();
    }
}

fn notes(store: &Store) -> usize {
    store.notes().of_chat(CHAT).unwrap().len()
}

fn put_back(from: &Disk, to: &Disk, is_wanted: impl Fn(&Path) -> bool) {
    for path in files(&to.path()).into_keys().filter(|path| is_wanted(path)) {
        fs::remove_file(path).unwrap();
    }
    for (path, bytes) in files(&from.path()).into_iter().filter(|(path, _)| is_wanted(path)) {
        let place = to.path().join(path.strip_prefix(from.path()).unwrap());
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, bytes).unwrap();
    }
}

fn is_mark(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "mark")
}

async fn what_was_lost_is_said_and_given_up_only_when_told(folder: &Disk) {
    let store = folder.open().await;
    add_notes(&store, 0..3).await;
    tokio::time::sleep(LAG).await;
    let older = folder.crash_image();
    add_notes(&store, 3..5).await;
    drop(store);
    put_back(&older, folder, |path| !is_mark(path));
    for _ in 0..2 {
        match folder.try_open().await.unwrap_err() {
            StoreError::Lost { loss, .. } => assert!(loss.starts_with("the last 2 of its "), "{loss}"),
            other => panic!("{other}"),
        }
    }
    let engine = engine::open(&folder.url()).unwrap();
    assert!(loss(&*engine).unwrap().is_some());
    accept_loss(&*engine).unwrap();
    assert_eq!(loss(&*engine).unwrap(), None);
    drop(engine);
    let store = folder.open().await;
    assert_eq!(notes(&store), 3);
    add_notes(&store, 5..6).await;
    let store = folder.reopen(store).await;
    assert_eq!(notes(&store), 4);
}

async fn a_store_that_is_gone_is_no_new_one(folder: &Disk) {
    let store = folder.open().await;
    add_notes(&store, 0..3).await;
    drop(store);
    for path in files(&folder.path()).into_keys().filter(|path| !is_mark(path)) {
        fs::remove_file(path).unwrap();
    }
    let refused = folder.try_open().await.unwrap_err();
    assert!(refused.to_string().contains("it is empty, but had"), "{refused}");
    assert!(refused.to_string().contains("--accept-loss"), "{refused}");
    accept_loss(&*engine::open(&folder.url()).unwrap()).unwrap();
    assert_eq!(notes(&folder.open().await), 0);
}

async fn another_store_in_its_place_is_seen(folder: &Disk) {
    add_notes(&folder.open().await, 0..1).await;
    let other = Disk::new(folder.kind());
    add_notes(&other.open().await, 0..50).await;
    put_back(&other, folder, |path| !is_mark(path));
    let refused = folder.try_open().await.unwrap_err();
    assert!(refused.to_string().contains("it is not the store that was here"), "{refused}");
}

async fn a_count_that_is_behind_or_unreadable_is_no_loss(folder: &Disk) {
    let store = folder.open().await;
    tokio::time::sleep(LAG).await;
    let older = folder.crash_image();
    add_notes(&store, 0..3).await;
    drop(store);
    put_back(&older, folder, is_mark);
    assert_eq!(notes(&folder.open().await), 3);
    for path in files(&folder.path()).into_keys().filter(|path| is_mark(path)) {
        fs::write(path, [0; 300]).unwrap();
    }
    assert_eq!(notes(&folder.open().await), 3);
}

async fn a_count_that_is_no_file_is_named(folder: &Disk) {
    drop(folder.open().await);
    fs::create_dir(folder.path().join(format!("{}.mark", folder.kind()))).unwrap();
    let refused = folder.try_open().await.unwrap_err().to_string();
    assert!(refused.contains(".mark beside it, which says how far it was durable"), "{refused}");
}

/// What a fault of the disk leaves of a store that was not closed: all that was durable, or a refusal.
async fn damage_is_never_silent(folder: &Disk) {
    const NOTES: u32 = 40;
    let store = folder.open().await;
    add_notes(&store, 0..NOTES).await;
    tokio::time::sleep(LAG).await;
    let image = folder.crash_image();
    drop(store);
    assert_eq!(notes(&image.crash_image().open().await), NOTES as usize, "the crash alone did no harm");
    let whole = fs::read(store_of(&image)).unwrap();
    let used = whole.iter().rposition(|byte| *byte != 0).unwrap() as u64;
    let mut refused = 0;
    for round in 0..60 {
        let damaged = image.crash_image();
        let path = store_of(&damaged);
        let mut bytes = whole.clone();
        // Spread over all that was written.
        let at = usize::try_from(used * (2 * round + 1) / 120).unwrap();
        match round % 2 {
            0 => bytes[at] ^= 0x10,
            _ => {
                let block = at / 512 * 512;
                let end = (block + 512).min(bytes.len());
                bytes[block..end].fill(0);
            }
        }
        fs::write(&path, bytes).unwrap();
        match damaged.try_open().await {
            Err(_) => refused += 1,
            Ok(store) => {
                // Records that cannot be read are named, also in the log.
                let found = match store.notes().of_chat(CHAT) {
                    Ok(found) => found.len() as u64 + store.health().await.unwrap().unreadable,
                    Err(_) => NOTES.into(),
                };
                assert_eq!(found, u64::from(NOTES), "{path:?}, damaged at {at}, round {round}");
            }
        }
    }
    assert!(refused > 0, "some damage matters");
}

fn store_of(folder: &Disk) -> std::path::PathBuf {
    let names = ["store.redb", "db"].map(|name| folder.path().join(name));
    names.into_iter().find(|path| path.exists()).unwrap()
}

for_every_engine! {
    what_was_lost_is_said_and_given_up_only_when_told
    a_store_that_is_gone_is_no_new_one
    another_store_in_its_place_is_seen
    a_count_that_is_behind_or_unreadable_is_no_loss
    a_count_that_is_no_file_is_named
    damage_is_never_silent
}
