//! What is particular to redb: which damage of its file is seen before anything is changed.

use std::fs;

use figaro::config::EngineKind;

use super::disk::{Harm, is_refused_untouched, overwrite, with_long_messages};

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
