//! `figaro export` and `figaro import`: a store becomes lines of JSON and a store again, whole or not at all.

use std::fs;
use std::process::{Output, Stdio};

use figaro_base::ids::ChatId;
use figaro_config::EngineKind::{Redb, Sled};
use figaro_config::StoreUrl;
use figaro_offline::model::ModelReply;
use serde_json::{Value, json};

use super::command::{talked, url, with};
use crate::support::calls::asked;
use crate::support::calls::says;
use crate::support::output::words;
use crate::support::records::Records;
use crate::support::{ANN, World};

pub async fn run(world: &World, args: &[&str]) -> Output {
    args.iter().fold(with(world, Redb), |bot, arg| bot.arg(arg)).run().await
}

pub async fn done(world: &World, args: &[&str]) -> String {
    let output = run(world, args).await;
    let (said, errors) = words(&output);
    assert!(output.status.success(), "{said}{errors}");
    assert_eq!(errors, "");
    said
}

pub async fn refused(world: &World, args: &[&str]) -> String {
    let output = run(world, args).await;
    let (said, errors) = words(&output);
    assert_eq!(output.status.code(), Some(2), "{said}{errors}");
    let message = errors.strip_prefix("figaro: ").unwrap_or_else(|| panic!("no refusal: {errors}"));
    assert_eq!(message.lines().count(), 1, "{message}");
    message.to_owned()
}

/// The lines of a file, without those at its begin and end, which differ from export to export.
fn records(text: &str) -> Vec<Value> {
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line.get("table").is_some()).collect()
}

#[tokio::test]
async fn a_store_becomes_lines_and_a_store_of_any_engine_again() {
    for (from, to) in [(Sled, Redb), (Redb, Sled)] {
        let world = talked(from).await;
        Records::of(&url(&world, from)).damage("calls");
        let before = Records::of(&url(&world, from)).everything();
        let (file, new) = (world.folder.path().join("all.jsonl"), format!("{to}:./new"));
        let said = done(&world, &["export", "all.jsonl", "--store", &format!("{from}:./data")]).await;
        assert!(said.contains("exporting ") && said.contains("✓"), "{said}");
        let text = fs::read_to_string(&file).unwrap();
        let messages: Vec<_> =
            records(&text).into_iter().filter(|line| line["table"] == "messages").collect();
        assert!(messages.iter().any(|line| line["value"]["text"] == "Hello Ann."), "{messages:?}");
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions()) & 0o77,
            0
        );

        let said = done(&world, &["import", "all.jsonl", "--store", &new]).await;
        assert!(said.contains("and compared"), "{said}");
        let place = StoreUrl::new(to, world.folder.path().join("new"));
        assert_eq!(Records::of(&place).everything(), before, "all came, the unreadable too");
        assert_eq!(Records::of(&url(&world, from)).everything(), before, "nothing went");
        assert!(refused(&world, &["import", "all.jsonl", "--store", &new]).await.contains("left as it is"));
        assert!(refused(&world, &["export", "all.jsonl"]).await.contains("whole export already"));
        let bot = world.bot().set("STORE_URL", &new).spawn();
        bot.ready().await;
        let request = asked(&world, "Which film?", ModelReply::text("Alien.")).await;
        assert!(request.body.to_string().contains("hello"), "the history came along");
        says(&world, ANN, "Alien.").await;
        bot.ends_well().await;
    }
}

#[tokio::test]
async fn what_was_cut_short_goes_on_and_nothing_half_is_a_store() {
    let world = talked(Redb).await;
    done(&world, &["export", "all.jsonl"]).await;
    let file = world.folder.path().join("all.jsonl");
    let whole = fs::read_to_string(&file).unwrap();
    let ends: Vec<_> = whole.match_indices('\n').map(|(at, _)| at + 1).collect();
    // In the first line, after it, in a record, after a record, before the last line, in it.
    let middle = ends[ends.len() / 2];
    for cut in [0, 9, ends[0], middle + 7, middle, ends[ends.len() - 2], whole.len() - 2] {
        fs::write(&file, &whole[..cut]).unwrap();
        if cut > ends[0] {
            let said = refused(&world, &["import", "all.jsonl", "--store", "redb:./new"]).await;
            assert!(said.contains("ends early"), "{cut}: {said}");
            let bot = world.bot().set("STORE_URL", "redb:./new").run().await;
            assert!(words(&bot).1.contains("figaro import"), "{cut}: {bot:?}");
            let said = refused(&world, &["store", "check", "redb:./new"]).await;
            assert!(said.contains("not whole yet"), "{cut}: {said}");
        }
        done(&world, &["export", "all.jsonl"]).await;
        assert_eq!(records(&fs::read_to_string(&file).unwrap()), records(&whole), "{cut}");
    }
    done(&world, &["import", "all.jsonl", "--store", "redb:./new"]).await;
    let place = StoreUrl::new(Redb, world.folder.path().join("new"));
    assert_eq!(Records::of(&place).everything(), Records::of(&url(&world, Redb)).everything());

    // As if the import had been killed in the middle of a table.
    let half = Records::of(&place);
    half.remove("meta", b"format");
    half.put("meta", b"copying", "true");
    let (last, _) = half.all("messages").pop().unwrap();
    half.remove("messages", &last);
    drop(half);
    done(&world, &["import", "all.jsonl", "--store", "redb:./new"]).await;
    assert_eq!(Records::of(&place).everything(), Records::of(&url(&world, Redb)).everything());

    // A store that no bot has opened yet.
    done(&world, &["export", "again.jsonl", "--store", "redb:./new"]).await;
    let again = world.folder.path().join("again.jsonl");
    let text = fs::read_to_string(&again).unwrap();
    fs::write(&again, &text[..text.len() / 2]).unwrap();
    done(&world, &["export", "again.jsonl", "--store", "redb:./new"]).await;
    assert_eq!(records(&fs::read_to_string(&again).unwrap()), records(&text));

    // A store that has gone on since is another one.
    fs::write(&file, &whole[..middle]).unwrap();
    let bot = with(&world, Redb).spawn();
    bot.ready().await;
    asked(&world, "More", ModelReply::text("More words.")).await;
    says(&world, ANN, "More words.").await;
    bot.ends_well().await;
    assert!(refused(&world, &["export", "all.jsonl"]).await.contains("another state"));
    assert_eq!(fs::read_to_string(&file).unwrap(), whole[..middle]);
}

#[tokio::test]
async fn what_is_no_export_or_was_changed_is_refused() {
    let world = talked(Redb).await;
    done(&world, &["export", "all.jsonl"]).await;
    let whole = fs::read_to_string(world.folder.path().join("all.jsonl")).unwrap();
    let line = whole.lines().find(|line| line.contains("Hello Ann.")).unwrap();
    let mut newer: Value = serde_json::from_str(whole.lines().next().unwrap()).unwrap();
    newer["figaro_export"] = json!(2);
    let cases = [
        (String::new(), "no export of Figaro's"),
        ("{}\n".to_owned(), "no export of Figaro's"),
        ("a word document".to_owned(), "no export of Figaro's"),
        (format!("{newer}\n"), "another version of Figaro"),
        (whole.replace("Hello Ann.", "Hello Bob."), "messages"),
        (whole.replace(&format!("{line}\n"), ""), "messages"),
        (whole.replace(&format!("{line}\n"), &format!("{line}\n{line}\nwhat?\n")), "cannot be read"),
        (whole.replace(line, &line.replace("\"messages\"", "\"diaries\"")), "diaries"),
        (whole.replace(line, &line.replace("\"key\":\"", "\"key\":\"x")), "no key"),
        (format!("{whole}{whole}"), "something follows the last line"),
    ];
    for (at, (text, reason)) in cases.into_iter().enumerate() {
        let name = format!("{at}.jsonl");
        fs::write(world.folder.path().join(&name), text).unwrap();
        let new = format!("redb:./new{at}");
        let said = refused(&world, &["import", &name, "--store", &new]).await;
        assert!(said.contains(reason), "{at}: {said}");
        if at < 4 {
            assert!(!world.folder.path().join(format!("new{at}")).exists(), "nothing was begun");
        } else {
            let bot = world.bot().set("STORE_URL", &new).run().await;
            assert!(words(&bot).1.contains("not whole yet"), "{at}: {bot:?}");
        }
    }
    assert!(
        refused(&world, &["import", "nowhere.jsonl", "--store", "redb:./n"]).await.contains("nowhere.jsonl")
    );
    assert!(refused(&world, &["import", "all.jsonl"]).await.contains("a store already"), "the bot's own");
    assert!(refused(&world, &["export", "x.jsonl", "--store", "redb:./nowhere"]).await.contains("no store"));
    assert!(refused(&world, &["import", "/dev/zero", "--store", "redb:./n"]).await.contains("too long"));
    assert!(refused(&world, &["export", "/dev/zero"]).await.contains("no file"));
    fs::write(world.folder.path().join("mine.txt"), "my words").unwrap();
    assert!(refused(&world, &["export", "mine.txt"]).await.contains("left as it is"));
    assert_eq!(fs::read_to_string(world.folder.path().join("mine.txt")).unwrap(), "my words");
    let bot = with(&world, Redb).spawn();
    bot.ready().await;
    assert!(refused(&world, &["export", "y.jsonl"]).await.contains("in use"));
    bot.ends_well().await;
}

#[tokio::test]
async fn a_stream_goes_from_one_to_the_other() {
    let world = talked(Redb).await;
    let exported = run(&world, &["export", "-"]).await;
    assert!(exported.status.success(), "{exported:?}");
    fs::write(world.folder.path().join("piped"), &exported.stdout).unwrap();
    let input = fs::File::open(world.folder.path().join("piped")).unwrap();
    let import = world.bot().arg("import").arg("-").arg("--store").arg("sled:./new");
    let imported = import.command().stdin(Stdio::from(input)).output().unwrap();
    assert!(imported.status.success(), "{imported:?}");
    let new = StoreUrl::new(Sled, world.folder.path().join("new"));
    let bot = figaro_base::ids::BotId(world.telegram.bot_id());
    let store = figaro_store::Store::open(&new, bot).await.unwrap();
    assert_eq!(store.notes().of_chat(ChatId(ANN)).unwrap().len(), 1);
}
