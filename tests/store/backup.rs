//! `figaro backup` and `figaro restore`: a running bot becomes a file and a store again, whole or not at all.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use age::secrecy::ExposeSecret;
use age::x25519::Identity;
use figaro_config::EngineKind::{Redb, Sled};
use figaro_config::{EngineKind, StoreUrl};
use figaro_offline::model::ModelReply;

use super::command::{talked, url, with};
use super::export::{done, refused, run};
use crate::support::calls::{asked, says};
use crate::support::output::words;
use crate::support::postgres::PostgresServer;
use crate::support::records::Records;
use crate::support::wait::{eventually, recorded};
use crate::support::{ANN, Bot, World};

fn new_store(world: &World, kind: EngineKind, folder: &str) -> StoreUrl {
    StoreUrl::new(kind, world.folder.path().join(folder))
}

/// The texts of messages in a store.
fn messages(url: &StoreUrl) -> Vec<String> {
    let text = |(_, value): (_, Vec<u8>)| {
        serde_json::from_slice::<serde_json::Value>(&value).unwrap()["text"].as_str().unwrap().to_owned()
    };
    Records::of(url).all("messages").into_iter().map(text).collect()
}

/// A bot that numbers its answers, with its store kept by this engine.
async fn running(kind: EngineKind) -> (World, Bot) {
    let world = numbering().await;
    let bot = with(&world, kind).spawn();
    bot.ready().await;
    (world, bot)
}

/// A world whose model says `answer 1`, `answer 2` and so on.
async fn numbering() -> World {
    let world = World::new().await;
    for number in 1..=300 {
        world.script.push(ModelReply::text(&format!("answer {number}.")));
    }
    world
}

#[tokio::test]
async fn a_running_bot_is_backed_up_and_restored_on_the_other_engine() {
    for (from, to) in [(Redb, Sled), (Sled, Redb)] {
        let world = talked(from).await;
        let bot = with(&world, from).spawn();
        bot.ready().await;
        let store = format!("{from}:./data");
        let said = done(&world, &["backup", "all.backup", "--store", &store]).await;
        assert!(said.contains("✓") && said.contains(" is backed up in all.backup: "), "{said}");
        let file = world.folder.path().join("all.backup");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o77, 0, "for this account alone");
        assert!(
            !fs::read_to_string(world.folder.path().join("all.backup"))
                .is_ok_and(|text| text.contains("Ann"))
        );
        bot.ends_well().await;
        assert!(!world.folder.path().join("data/figaro.sock").exists(), "the socket goes with the bot");

        let new = format!("{to}:./new");
        let said = done(&world, &["restore", "all.backup", "--store", &new]).await;
        assert!(said.contains("is restored in ") && said.contains("and compared"), "{said}");
        let place = new_store(&world, to, "new");
        for table in ["messages", "sessions", "notes"] {
            let restored = Records::of(&place).all(table);
            assert_eq!(restored, Records::of(&url(&world, from)).all(table), "{table}");
            assert!(!restored.is_empty(), "{table}");
        }
        let again = refused(&world, &["restore", "all.backup", "--store", &new]).await;
        assert!(again.contains("left as it is"), "{again}");
        let bot = world.bot().set("STORE_URL", &new).spawn();
        bot.ready().await;
        let request = asked(&world, "Which film?", ModelReply::text("Alien.")).await;
        assert!(request.body.to_string().contains("hello"), "the history came along");
        says(&world, ANN, "Alien.").await;
        bot.ends_well().await;
    }
}

#[tokio::test]
async fn a_backup_of_a_stopped_bot_is_an_export_in_another_form() {
    let world = talked(Redb).await;
    done(&world, &["backup", "all.backup"]).await;
    done(&world, &["export", "all.jsonl"]).await;
    let before = Records::of(&url(&world, Redb)).everything();
    for from in ["all.backup", "all.jsonl"] {
        let to = format!("sled:./{from}.store");
        done(&world, &["restore", from, "--store", &to]).await;
        let restored = Records::of(&new_store(&world, Sled, &format!("{from}.store"))).everything();
        assert_eq!(restored, before, "{from}");
    }
    // A new backup takes the place of the old one.
    let old = fs::read(world.folder.path().join("all.backup")).unwrap();
    Records::of(&url(&world, Redb)).put("notes", b"1", "{}");
    done(&world, &["backup", "all.backup"]).await;
    assert_ne!(fs::read(world.folder.path().join("all.backup")).unwrap(), old);
}

#[tokio::test]
async fn a_backup_under_load_has_what_was_answered_before_it_and_nothing_half() {
    for (from, to) in [(Redb, Sled), (Sled, Redb)] {
        let (world, bot) = running(from).await;
        let is_over = AtomicBool::new(false);
        let asking = async {
            let mut number = 0;
            while !is_over.load(Ordering::Relaxed) {
                number += 1;
                world.say(ANN, ANN, &format!("question {number}"));
                world.answers(ANN, number).await;
            }
        };
        let store = format!("{from}:./data");
        let backing_up = async {
            for round in 0..4 {
                world.answers(ANN, round * 3 + 1).await;
                recorded().await;
                let answered = world.bot_texts(ANN).len();
                let file = format!("{round}.backup");
                done(&world, &["backup", &file, "--store", &store]).await;
                let sent = world.bot_texts(ANN).len();
                let new = format!("{to}:./new{round}");
                done(&world, &["restore", &file, "--store", &new]).await;
                done(&world, &["store", "check", &new]).await;
                let place = new_store(&world, to, &format!("new{round}"));
                let texts = messages(&place);
                let is_there = |number: usize| texts.contains(&format!("answer {number}."));
                let has = (1..).take_while(|number| is_there(*number)).count();
                assert!(has + 1 >= answered && has <= sent + 1, "{answered} ≤ {has} ≤ {sent}: {texts:?}");
            }
            is_over.store(true, Ordering::Relaxed);
        };
        tokio::join!(asking, backing_up);
        bot.ends_well().await;
        let left: Vec<_> = fs::read_dir(world.folder.path().join("data"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("fresh")), "{left:?}");
    }
}

#[tokio::test]
async fn an_encrypted_backup_opens_with_its_key_alone() {
    let world = talked(Redb).await;
    let keys = [Identity::generate(), Identity::generate(), Identity::generate()];
    for (number, key) in keys.iter().enumerate() {
        let text = format!("# created by age-keygen\n{}\n", key.to_string().expose_secret());
        fs::write(world.folder.path().join(format!("key{number}.txt")), text).unwrap();
    }
    let [ann, bob, _] = keys.each_ref().map(|key| key.to_public().to_string());
    let said = done(&world, &["backup", "all.age", "--recipient", &ann, "--recipient", &bob]).await;
    assert!(said.contains("encrypted"), "{said}");
    let bytes = fs::read(world.folder.path().join("all.age")).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1"));
    let before = Records::of(&url(&world, Redb)).everything();
    for number in 0..2 {
        let (key, folder) = (format!("key{number}.txt"), format!("new{number}"));
        let to = format!("redb:./{folder}");
        done(&world, &["restore", "all.age", "--identity", &key, "--store", &to]).await;
        assert_eq!(Records::of(&new_store(&world, Redb, &folder)).everything(), before);
    }
    let to = ["--store", "redb:./other"];
    let without = refused(&world, &[&["restore", "all.age"], &to[..]].concat()).await;
    assert!(without.contains("all.age: it is encrypted") && without.contains("--identity"), "{without}");
    let other = refused(&world, &[&["restore", "all.age", "--identity", "key2.txt"], &to[..]].concat()).await;
    assert!(other.contains("other keys"), "{other}");
    let no_key = refused(&world, &[&["restore", "all.age", "--identity", "all.age"], &to[..]].concat()).await;
    assert!(no_key.contains("no key of age"), "{no_key}");
    // The setting has them, too.
    let recipe = with(&world, Redb).set("BACKUP_RECIPIENT", &ann).arg("backup").arg("set.age");
    assert!(recipe.run().await.status.success());
    assert!(fs::read(world.folder.path().join("set.age")).unwrap().starts_with(b"age-encryption.org/v1"));
    assert!(!world.folder.path().join("other").exists(), "nothing was begun");
}

#[tokio::test]
async fn what_is_no_backup_or_a_damaged_one_makes_no_store() {
    let world = talked(Redb).await;
    let folder = world.folder.path();
    done(&world, &["backup", "all.backup"]).await;
    let whole = fs::read(folder.join("all.backup")).unwrap();
    let restored = async |name: &str, bytes: &[u8]| {
        fs::write(folder.join(name), bytes).unwrap();
        refused(&world, &["restore", name, "--store", &format!("redb:./{name}.store")]).await
    };
    for cut in [0, 1, 10, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
        let words = restored(&format!("cut{cut}"), &whole[..cut]).await;
        assert!(words.starts_with(&format!("cut{cut}: ")), "{words}");
    }
    for at in [3, whole.len() / 3, whole.len() / 2, whole.len() - 6] {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        fs::write(folder.join("bent"), &bytes).unwrap();
        let to = format!("redb:./bent{at}.store");
        let output = run(&world, &["restore", "bent", "--store", &to]).await;
        assert_eq!(output.status.code(), Some(2), "{at}: {:?}", words(&output));
        // No bot opens what was begun.
        if folder.join(format!("bent{at}.store")).exists() {
            let bot = world.bot().set("STORE_URL", &to).run().await;
            assert_eq!(bot.status.code(), Some(2), "{at}: {:?}", words(&bot));
        }
    }
    for bytes in [b"hello".as_slice(), b"\x1f\x8b\x08", b"age-encryption.org/v1\n", b"{}\n"] {
        let words = restored("other", bytes).await;
        assert!(words.starts_with("other: "), "{words}");
    }
    assert!(refused(&world, &["restore", "none"]).await.starts_with("none: "));
    assert!(refused(&world, &["backup", "data"]).await.contains("it is a folder"));
    assert!(refused(&world, &["backup", "/dev/null"]).await.contains("it is no file"));
    assert!(refused(&world, &["backup", "none/all"]).await.starts_with("none/all: "));
    assert!(refused(&world, &["backup", "x", "--store", "redb:./none"]).await.contains("there is no store"));
    for recipient in ["age1", "ssh-ed25519", "AGE-SECRET-KEY-1"] {
        let words = refused(&world, &["backup", "x", "--recipient", recipient]).await;
        assert!(words.contains("recipient") && words.contains("age-keygen"), "{words}");
        assert!(!words.contains("SECRET"), "{words}");
    }
    let beside = refused(&world, &["restore", "all.backup", "--store", "sled:./data"]).await;
    assert!(beside.contains("there is a store already"), "{beside}");
    assert!(!folder.join("x").exists() && !folder.join("x.partial").exists());
}

/// Waits until a backup has begun to write.
async fn begins(partial: &Path) {
    let begun = async || fs::metadata(partial).is_ok_and(|file| file.len() > 0).then_some(());
    eventually(|| "no backup begins", begun).await;
}

#[tokio::test]
async fn a_kill_leaves_the_old_file_or_a_whole_new_one() {
    let (world, bot) = running(Redb).await;
    let note = |number: usize| format!("{number} {}", "a long story ".repeat(300));
    for number in 1..=15 {
        world.say(ANN, ANN, &note(number));
        world.answers(ANN, number).await;
    }
    bot.ends_well().await;
    let file = world.folder.path().join("all.backup");
    fs::write(&file, "the old one").unwrap();
    let is_whole = async || {
        let text = fs::read(&file).unwrap();
        if text == b"the old one" {
            return false;
        }
        let fresh = tempfile::tempdir_in(world.folder.path()).unwrap();
        let store = format!("redb:{}/new", fresh.path().display());
        done(&world, &["restore", "all.backup", "--store", &store]).await;
        true
    };
    let mut done_within = 0;
    for step in 0..12 {
        let mut child = with(&world, Redb).arg("backup").arg("all.backup").command();
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        tokio::time::sleep(Duration::from_millis(step * 8)).await;
        child.kill().unwrap();
        child.wait().unwrap();
        done_within += usize::from(is_whole().await);
    }
    assert!(done_within < 12, "no kill came in time");
    // A killed one is in nobody's way.
    done(&world, &["backup", "all.backup"]).await;
    assert!(is_whole().await);

    // The bot is killed while it sends.
    fs::write(&file, "the old one").unwrap();
    let bot = with(&world, Redb).spawn();
    bot.ready().await;
    let partial = world.folder.path().join("all.backup.partial");
    let asking = async { run(&world, &["backup", "all.backup"]).await };
    let killing = async {
        begins(&partial).await;
        bot.kill();
    };
    let (output, ()) = tokio::join!(asking, killing);
    if !output.status.success() {
        let (_, errors) = words(&output);
        assert!(errors.contains("the bot broke the backup off"), "{errors}");
        assert_eq!(fs::read(&file).unwrap(), b"the old one");
        assert!(!partial.exists());
    }
    assert!(world.folder.path().join("data/figaro.sock").exists(), "it was killed");
    // The socket that it left is no bot, and the next bot makes its own.
    done(&world, &["backup", "all.backup"]).await;
    let bot = with(&world, Redb).spawn();
    bot.ready().await;
    done(&world, &["backup", "all.backup"]).await;
    bot.ends_well().await;
}

#[tokio::test]
async fn a_backup_goes_through_a_pipe_and_back() {
    let world = talked(Redb).await;
    let bot = with(&world, Redb).spawn();
    bot.ready().await;
    let output = run(&world, &["backup", "-"]).await;
    assert!(output.status.success());
    let file = world.folder.path().join("piped");
    fs::write(&file, &output.stdout).unwrap();
    let mut restoring = with(&world, Redb).arg("restore").arg("-").arg("--store").arg("sled:./new").command();
    let restored = restoring.stdin(fs::File::open(&file).unwrap()).output().unwrap();
    assert!(restored.status.success(), "{:?}", words(&restored));
    assert!(messages(&new_store(&world, Sled, "new")).contains(&"Hello Ann.".to_owned()));
    bot.ends_well().await;
}

#[tokio::test]
async fn a_database_is_backed_up_while_its_bots_run() {
    let Some(server) = PostgresServer::get() else { return };
    let world = numbering().await;
    let url = server.url(&server.database());
    let StoreUrl::Database(database) = &url else { panic!("{url}") };
    let bot = world.bot().set("STORE_URL", database.exposed()).spawn();
    bot.ready().await;
    world.say(ANN, ANN, "before");
    world.answers(ANN, 1).await;
    recorded().await;
    done(&world, &["backup", "all.backup", "--store", database.exposed()]).await;
    world.say(ANN, ANN, "after");
    world.answers(ANN, 2).await;
    let to = "redb:./new";
    done(&world, &["restore", "all.backup", "--store", to]).await;
    let texts = messages(&new_store(&world, Redb, "new"));
    assert!(texts.iter().any(|text| text.contains("before")), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains("after")), "{texts:?}");
    bot.ends_well().await;
    let bot = world.bot().set("STORE_URL", to).spawn();
    bot.ready().await;
    bot.ends_well().await;
}
