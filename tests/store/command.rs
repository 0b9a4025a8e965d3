//! `figaro store`: a store moves from one engine to the other with all that is in it, is looked at, and gets smaller.

use std::fs;
use std::process::Output;

use figaro_base::ids::{BotId, ChatId};
use figaro_config::EngineKind::{Redb, Sled};
use figaro_config::{EngineKind, StoreUrl};
use figaro_domain::conversation::ConversationId;
use figaro_domain::external::ExternalName;
use figaro_offline::model::ModelReply;
use figaro_store::Store;
use serde_json::json;

use crate::support::calls::asked;
use crate::support::calls::{call, says};
use crate::support::output::words;
use crate::support::records::Records;
use crate::support::{ANN, World};

/// A session of the terminal in the store of [`talked`].
fn terminal() -> ExternalName {
    ExternalName::terminal("travel")
}

/// A world whose bot has talked, noted and stopped, with its store kept by this engine. It has a session of the terminal.
pub async fn talked(kind: EngineKind) -> World {
    let world = World::new().await;
    let bot = with(&world, kind).spawn();
    bot.ready().await;
    world.script.push(ModelReply::text("Hello Ann."));
    world.say(ANN, ANN, "hello");
    says(&world, ANN, "Hello Ann.").await;
    call(&world, (ANN, ANN), "a note", "add_note", json!({"key": "films", "content": "Alien"})).await;
    bot.ends_well().await;
    world.stored_by(kind).await.external().keep(&terminal()).await.unwrap();
    world
}

pub fn with(world: &World, kind: EngineKind) -> crate::support::bot::Recipe {
    world.bot().set("STORE_URL", &format!("{kind}:./data"))
}

pub fn url(world: &World, kind: EngineKind) -> StoreUrl {
    StoreUrl::new(kind, world.folder.path().join("data"))
}

async fn store(world: &World, args: &[&str]) -> Output {
    args.iter().fold(world.bot().arg("store"), |bot, arg| bot.arg(arg)).run().await
}

async fn done(world: &World, args: &[&str]) -> String {
    let output = store(world, args).await;
    let (said, errors) = words(&output);
    assert!(output.status.success(), "{said}{errors}");
    assert_eq!(errors, "");
    said
}

async fn refused(world: &World, args: &[&str]) -> String {
    let output = store(world, args).await;
    let (said, errors) = words(&output);
    assert_eq!(output.status.code(), Some(2), "{said}{errors}");
    let message = errors.strip_prefix("figaro: ").unwrap_or_else(|| panic!("no refusal: {errors}"));
    assert_eq!(message.lines().count(), 1, "{message}");
    message.to_owned()
}

#[tokio::test]
async fn a_store_moves_to_the_other_engine_and_back_with_all_that_is_in_it() {
    for (from, to) in [(Sled, Redb), (Redb, Sled)] {
        let world = talked(from).await;
        let before = Records::of(&url(&world, from)).everything();
        let (from_text, to_text) = (format!("{from}:./data"), format!("{to}:./data"));
        let said = done(&world, &["copy", &from_text, &to_text]).await;
        assert!(said.contains(&format!("copying {from_text}")) && said.contains("✓"), "{said}");
        assert_eq!(Records::of(&url(&world, to)).everything(), before, "all came");
        assert_eq!(Records::of(&url(&world, from)).everything(), before, "nothing went");
        let said = done(&world, &["check", &to_text]).await;
        assert!(said.contains("✓ all of it can be read") && said.contains(" kB on disk"), "{said}");
        // A second one would write into a store that is in use or was used.
        assert!(refused(&world, &["copy", &from_text, &to_text]).await.contains("left as it is"));
        let bot = with(&world, to).spawn();
        bot.ready().await;
        let request = asked(&world, "Which film?", ModelReply::text("Alien.")).await;
        assert!(request.user_text().contains("Which film?"));
        assert!(request.body.to_string().contains("hello"), "the history came along");
        says(&world, ANN, "Alien.").await;
        bot.ends_well().await;
        let moved = world.stored_by(to).await;
        assert_eq!(moved.notes().of_chat(ChatId(ANN)).unwrap().len(), 1);
        let (travel, work) = (moved.external().find(&terminal()).unwrap(), ExternalName::terminal("work"));
        assert!(travel.is_some() && Some(moved.external().keep(&work).await.unwrap()) != travel);
    }
}

#[tokio::test]
async fn a_copy_that_was_cut_short_goes_on_and_is_no_store_until_it_has_ended() {
    let world = talked(Sled).await;
    let before = Records::of(&url(&world, Sled)).everything();
    done(&world, &["copy", "sled:./data", "redb:./data"]).await;
    // As if it had been killed in the middle of a table.
    let records = Records::of(&url(&world, Redb));
    records.remove("meta", b"format");
    records.put("meta", b"copying", "true");
    let (last, _) = records.all("messages").pop().unwrap();
    records.remove("messages", &last);
    drop(records);
    let output = with(&world, Redb).run().await;
    assert!(words(&output).1.contains("figaro store copy"), "{output:?}");
    done(&world, &["copy", "sled:./data", "redb:./data"]).await;
    assert_eq!(Records::of(&url(&world, Redb)).everything(), before);
    // One that has been written to since is no copy.
    let records = Records::of(&url(&world, Redb));
    records.remove("meta", b"format");
    records.put("meta", b"copying", "true");
    let (first, _) = records.all("messages").remove(0);
    records.put("messages", &first, "{}");
    drop(records);
    assert!(refused(&world, &["copy", "sled:./data", "redb:./data"]).await.contains("messages"));
}

#[tokio::test]
async fn what_is_missing_in_use_or_damaged_is_said_and_nothing_is_made() {
    let world = talked(Redb).await;
    let absent = refused(&world, &["check", "redb:./nowhere"]).await;
    assert!(
        absent.contains(
            "there is no store redb:./nowhere: run this in the folder of the bot, or name the store"
        ),
        "{absent}"
    );
    assert!(refused(&world, &["copy", "sled:./nowhere", "redb:./other"]).await.contains("there is no store"));
    assert!(!world.folder.path().join("nowhere").exists() && !world.folder.path().join("other").exists());
    assert!(refused(&world, &["copy", "redb:./data", "redb:./data"]).await.contains("itself"));
    let bot = with(&world, Redb).spawn();
    bot.ready().await;
    for args in [&["check"][..], &["compact"], &["copy", "redb:./data", "sled:./copy"]] {
        assert!(refused(&world, args).await.contains("in use"), "{args:?}");
    }
    bot.ends_well().await;
    Records::of(&url(&world, Redb)).damage("messages");
    assert!(refused(&world, &["check"]).await.contains(": 1 record cannot be read"));
    // A sled store that has lost its log is still one: no other engine's is made beside it.
    done(&world, &["copy", "redb:./data", "sled:./other"]).await;
    fs::remove_file(world.folder.path().join("other/db")).unwrap();
    let output = world.bot().set("STORE_URL", "redb:./other").run().await;
    assert!(
        words(&output).1.contains("missing or empty") || words(&output).1.contains("it is empty, but had"),
        "{output:?}"
    );
    assert!(!world.folder.path().join("other/store.redb").exists());
}

/// What engines and the language say of damage, which nobody can do anything with.
const RAW: [&str; 9] =
    ["panick", "redb-", "btree", "unreachable", "I/O error", "corrupt", "magic", "Unsupported", "backtrace"];

#[tokio::test]
async fn damage_is_told_in_one_line_that_says_what_to_do() {
    let world = talked(Redb).await;
    let file = world.folder.path().join("data/store.redb");
    let whole = fs::read(&file).unwrap();
    let filled = |from: usize, until: usize| {
        let mut bytes = whole.clone();
        bytes[from..until].fill(0x5A);
        bytes
    };
    let harms = [
        filled(3000, 23_000),
        filled(4096, whole.len()),
        whole[..5000].to_vec(),
        b"SQLite format 3\0".repeat(1000),
        b"x".to_vec(),
    ];
    for (number, harm) in harms.iter().enumerate() {
        let all: [&[&str]; 3] = [&["check"], &["compact"], &["copy", "redb:./data", "sled:./copy"]];
        // They read a store in the same way.
        for args in all.into_iter().take(if number == 0 { 3 } else { 1 }) {
            fs::write(&file, harm).unwrap();
            let message = refused(&world, args).await;
            let raw = RAW.iter().find(|raw| message.contains(**raw));
            assert_eq!(raw, None, "harm {number}, {args:?}: {message}");
            assert!(message.contains("backup"), "harm {number}, {args:?}: {message}");
        }
        fs::write(&file, harm).unwrap();
        for recipe in
            [world.bot(), world.bot().arg("check")].into_iter().take(if number == 0 { 2 } else { 1 })
        {
            let output = recipe.set("STORE_URL", "redb:./data").run().await;
            let (said, errors) = words(&output);
            let raw = RAW.iter().find(|raw| said.contains(**raw) || errors.contains(**raw));
            assert_eq!((output.status.code(), raw), (Some(2), None), "harm {number}: {said}{errors}");
        }
    }
    assert!(!world.folder.path().join("copy").exists(), "nothing was begun");
}

#[tokio::test]
async fn what_a_damaged_store_has_lost_is_said_until_it_is_accepted() {
    let world = talked(Redb).await;
    let file = world.folder.path().join("data/store.redb");
    let older = fs::read(&file).unwrap();
    let bot = with(&world, Redb).spawn();
    bot.ready().await;
    asked(&world, "Remember this", ModelReply::text("Remembered.")).await;
    says(&world, ANN, "Remembered.").await;
    bot.ends_well().await;
    fs::write(&file, older).unwrap();
    let said = refused(&world, &["check"]).await;
    assert!(said.contains("has lost something: the last ") && said.contains("--accept-loss"), "{said}");
    assert!(refused(&world, &["copy", "redb:./data", "sled:./copy"]).await.contains("has lost something"));
    let output = with(&world, Redb).run().await;
    assert!(!output.status.success());
    assert!(words(&output).1.contains("figaro store check redb:./data --accept-loss"), "{output:?}");
    let said = done(&world, &["check", "--accept-loss"]).await;
    assert!(said.contains("goes on without what it has lost: the last "), "{said}");
    assert!(!done(&world, &["check"]).await.contains("lost"));
    let bot = with(&world, Redb).spawn();
    bot.ready().await;
    let request = asked(&world, "And now?", ModelReply::text("Here.")).await.body.to_string();
    assert!(request.contains("hello") && !request.contains("Remember this"), "{request}");
    says(&world, ANN, "Here.").await;
    bot.ends_well().await;
}

#[tokio::test]
async fn compacting_gives_space_back() {
    let world = talked(Redb).await;
    let records = Records::of(&url(&world, Redb));
    for number in 0..100_u8 {
        records.put("overheard", &[number], vec![number; 50_000]);
    }
    // Those that stay lie between those that go.
    (0..100_u8).filter(|number| number % 10 > 0).for_each(|number| records.remove("overheard", &[number]));
    drop(records);
    let size = || fs::metadata(world.folder.path().join("data/store.redb")).unwrap().len();
    let before = size();
    let said = done(&world, &["compact"]).await;
    assert!(size() < before / 2, "{said}");
    assert!(said.contains(" MB on disk before, "), "{said}");
    let world_again = world.stored_by(Redb).await;
    assert_eq!(world_again.notes().of_chat(ChatId(ANN)).unwrap().len(), 1);
}

#[tokio::test]
async fn a_store_of_the_other_engine_is_used_and_no_second_one_made_beside_it() {
    for (there, asked) in [(Sled, Redb), (Redb, Sled)] {
        let world = talked(there).await;
        let bot = with(&world, asked).spawn();
        bot.ready().await;
        bot.logged(&format!("STORE_URL={there}:./data")).await;
        let request = asked_again(&world).await;
        assert!(request.contains("hello"), "the history is there: {request}");
        bot.ends_well().await;
        assert!(!figaro_store::engine::has_store(&url(&world, asked)));
    }
}

#[tokio::test]
async fn a_store_of_another_bot_is_named() {
    let world = World::new().await;
    let here = ConversationId { chat: ChatId(ANN), topic: None };
    let store = Store::open(&url(&world, Redb), BotId(1)).await.unwrap();
    store.conversations().session(here, chrono::DateTime::UNIX_EPOCH).unwrap();
    drop(store);
    let bot = with(&world, Redb).spawn();
    bot.logged("but of another").await;
    bot.ready().await;
    asked(&world, "hello", ModelReply::text("Hello Ann.")).await;
    says(&world, ANN, "Hello Ann.").await;
    bot.ends_well().await;
    let bot = with(&world, Redb).spawn();
    bot.ready().await;
    assert_eq!(bot.log().matches("but of another").count(), 1, "said as long as it has none of its own");
}

async fn asked_again(world: &World) -> String {
    let request = asked(world, "And again?", ModelReply::text("Again.")).await.body.to_string();
    says(world, ANN, "Again.").await;
    request
}
