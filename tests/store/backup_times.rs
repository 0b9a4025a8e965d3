//! Backups at the times of `BACKUP_AT`: the first at once, the newest ones kept, owners told of those that fail.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use figaro_config::EngineKind::{Redb, Sled};
use figaro_config::StoreUrl;

use super::command::{talked, with};
use super::export::done;
use crate::support::output::{refused, words};
use crate::support::records::Records;
use crate::support::wait::eventually;
use crate::support::{ANN, World};

/// The backups in a folder, the oldest first.
fn backups(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let is_one = |file: &PathBuf| {
        let name = file.file_name().unwrap().to_str().unwrap();
        name.starts_with("figaro-") && name.ends_with(".jsonl.gz")
    };
    let mut found: Vec<_> = entries.filter(is_one).collect();
    found.sort();
    found
}

async fn until(what: &str, mut seen: impl FnMut() -> bool) {
    eventually(|| format!("there is not {what}"), async || seen().then_some(())).await;
}

#[tokio::test]
async fn a_bot_makes_its_backups_and_keeps_the_newest() {
    for kind in [Redb, Sled] {
        let world = talked(kind).await;
        let folder = world.folder.path().join("safe");
        fs::create_dir(&folder).unwrap();
        for other in ["figaro-notes.jsonl.gz", "figaro-20200101T000000Z.txt", "mine.backup"] {
            fs::write(folder.join(other), "").unwrap();
        }
        let old = folder.join("figaro-20200101T000000Z.jsonl.gz");
        fs::write(&old, "").unwrap();
        let recipe = with(&world, kind).set("BACKUP_FOLDER", "safe").set("BACKUP_KEEP", "2");
        let bot = recipe.clone().set("BACKUP_AT", "* * * * * *").spawn();
        bot.ready().await;
        until("two backups and not the old one", || backups(&folder).len() >= 2 && !old.exists()).await;
        let first = backups(&folder)[0].clone();
        until("a newer one in place of the first", || !first.exists()).await;
        bot.ends_well().await;
        let kept = backups(&folder);
        assert_eq!(kept.len(), 2 + 1, "with the owner's file of a like name: {kept:?}");
        let newest = kept.iter().rfind(|file| !file.ends_with("figaro-notes.jsonl.gz")).unwrap();
        assert_eq!(fs::metadata(newest).unwrap().permissions().mode() & 0o77, 0);
        let from = format!("safe/{}", newest.file_name().unwrap().to_str().unwrap());
        done(&world, &["restore", &from, "--store", "redb:./new"]).await;
        let new = StoreUrl::new(Redb, world.folder.path().join("new"));
        let texts = Records::of(&new).all("messages");
        assert!(texts.iter().any(|(_, value)| String::from_utf8_lossy(value).contains("Hello Ann.")));
        assert!(!folder.join("figaro.partial").exists());

        // A backup that is not due is not made at a start.
        let bot = recipe.spawn();
        bot.ready().await;
        bot.ends_well().await;
        assert_eq!(backups(&folder), kept);
        let check = recipe.clone().arg("check").run().await;
        let (said, _) = words(&check);
        assert!(said.contains("✓ backups: 2 files in safe, the newest of "), "{said}");
    }
}

#[tokio::test]
async fn owners_are_told_of_a_backup_that_fails_and_the_bot_goes_on() {
    let world = World::new().await;
    fs::write(world.folder.path().join("safe"), "no folder").unwrap();
    let recipe = with(&world, Redb).set("BACKUP_FOLDER", "safe").set("BACKUP_AT", "* * * * * *");
    let bot = recipe.clone().spawn();
    bot.ready().await;
    let owner = ANN;
    until("the word to the owner", || {
        world.bot_texts(owner).iter().any(|text| text.contains("scheduled backup in safe"))
    })
    .await;
    let told = || world.bot_texts(owner).iter().filter(|text| text.contains("scheduled backup")).count();
    bot.logged_times("the scheduled backup of the store was not made", 3).await;
    assert_eq!(told(), 1, "once a day");
    fs::remove_file(world.folder.path().join("safe")).unwrap();
    until("a backup", || !backups(&world.folder.path().join("safe")).is_empty()).await;
    bot.ends_well().await;
    let (said, _) = words(&recipe.arg("check").run().await);
    assert!(said.contains("✓ backups: "), "{said}");
}

#[tokio::test]
async fn wrong_settings_of_backups_are_told_at_the_start() {
    let world = World::new().await;
    for (name, value, said) in [
        ("BACKUP_AT", "every day", "is no cron expression"),
        ("BACKUP_KEEP", "0", "is not a whole number from 1 to 1000"),
        ("BACKUP_RECIPIENT", "age1x", "is no recipient of age"),
        ("STORE_URL", "postgres://nobody@127.0.0.1:1/none", "is for a store in a folder"),
    ] {
        let recipe = with(&world, Redb).set("BACKUP_FOLDER", "safe").set(name, value);
        let words = refused(&world, &recipe).await;
        assert!(words.contains(said), "{name}: {words}");
    }
    assert!(!world.folder.path().join("safe").exists());
}
