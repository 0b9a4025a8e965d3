//! What is particular to redb: which damage of its file is seen before anything is changed.

use std::fs;

use figaro_config::EngineKind;

use figaro_config::StoreUrl;
use figaro_store::StoreError;
use figaro_store::whole::{copy, export_to};

use super::disk::{Disk, Harm, is_refused_untouched, overwrite, with_long_messages};
use super::{Backend, CHAT, note};

#[tokio::test]
async fn what_is_no_store_is_refused_untouched() {
    let cases: [Harm; 3] = [
        ("a foreign file of its name", |folder| {
            fs::write(folder.join("store.redb"), "a word document").unwrap();
        }),
        ("a file of zeros", |folder| fs::write(folder.join("store.redb"), [0; 100]).unwrap()),
        ("garbage at the start", |folder| overwrite(&folder.join("store.redb"), 0, 4096)),
    ];
    is_refused_untouched(&with_long_messages(EngineKind::Redb).await, &cases).await;
}

/// A flipped bit in a store that was closed, in each of many places: nobody takes it for what was written.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_page_of_a_closed_store_is_seen_by_all_who_read_it() {
    let sound = Disk::new(EngineKind::Redb);
    let store = sound.open().await;
    for number in 0..40 {
        store
            .notes()
            .add(&note(CHAT, "n", &format!("{}{number}", "x".repeat(300)), number), 1_000)
            .await
            .unwrap();
    }
    drop(store);
    let whole = fs::read(sound.path().join("store.redb")).unwrap();
    let places: Vec<usize> = (0..whole.len()).filter(|at| whole[*at..].starts_with(b"xxxxxxx")).collect();
    assert!(places.len() > 1_000);
    let mut seen = 0;
    for at in places.iter().step_by(places.len() / 12) {
        let damaged = sound.crash_image();
        let mut bytes = whole.clone();
        bytes[*at] ^= 1;
        fs::write(damaged.path().join("store.redb"), bytes).unwrap();
        let target = StoreUrl::new(EngineKind::Redb, damaged.home().join("copy"));
        // Old pages that nothing refers to any more are no damage.
        if let Ok(store) = damaged.try_open().await {
            assert!(
                store
                    .notes()
                    .of_chat(CHAT)
                    .unwrap()
                    .iter()
                    .all(|note| note.content.starts_with(&"x".repeat(300)))
            );
            continue;
        }
        seen += 1;
        let copied = copy(&damaged.url(), &target, |_| {});
        let exported = export_to(&damaged.url(), Vec::new());
        for failed in [copied.unwrap_err(), exported.unwrap_err()] {
            assert!(failed.to_string().contains("cannot be read"), "{failed}");
        }
        assert!(!target.folder().unwrap().exists(), "nothing was begun");
        let refused = damaged.try_open().await.unwrap_err();
        assert!(matches!(refused, StoreError::Unreadable { .. }), "{refused}");
    }
    assert!(seen > 0);
}
