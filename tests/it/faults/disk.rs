//! A disk that takes no more writes while the bot runs. What a full one does with ENOSPC, a limit on the size of files
//! does with EFBIG: the system refuses the write, and the bot goes on running.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{PlannedFailure, TelegramView};
use serde_json::json;

use super::Left;
use crate::support::records::data_file;
use crate::support::scene::text;
use crate::support::{ANN, BOB, Bot, World};

/// Part of what owners are told.
const PAUSED: &str = "I cannot write to my disk";
const RESUMED: &str = "I can write to my disk again";
/// Part of what people may be told while a pause begins.
const KEPT: &str = "Your message is kept";

/// A bot that outlives a refused write as it does on a full disk, open to everybody.
async fn start(world: &World) -> Bot {
    let ignore = "trap '' XFSZ; exec \"$0\"";
    let recipe = world.bot().set("ACCESS", "open").program(Path::new("/bin/sh"));
    let bot = recipe.arg("-c").arg(ignore).arg(env!("CARGO_BIN_EXE_figaro")).spawn();
    bot.ready().await;
    bot
}

/// Lets the bot write no file beyond so many bytes, or beyond none.
fn limit(bot: &Bot, bytes: &str) {
    let limit = format!("--fsize={bytes}:unlimited");
    let status = Command::new("prlimit").args(["--pid", &bot.pid().to_string(), &limit]).status();
    assert!(status.unwrap().success());
}

async fn told(world: &World, chat: i64, words: &str) {
    let has = |view: &TelegramView<'_>| {
        view.bot_messages(chat).into_iter().any(|message| text(message).contains(words))
    };
    world.see(words, |view| has(view).then_some(())).await;
}

/// What is to be seen, without the words that a person may be told once while a pause begins, and without what the log, which
/// is on the same disk, has nevertheless of calls of the store: which of them were under way is chance.
fn settled(world: &World, mut left: Left) -> Left {
    let all = left.person.len();
    left.person.retain(|text| !text.contains(KEPT));
    assert!(all - left.person.len() <= 1, "{:?}", world.bot_texts(BOB));
    let is_of_disk = |line: &str| {
        let line = line.to_lowercase();
        line.contains("file too large") || line.contains("the store could not")
    };
    let kept: Vec<&str> = left.log.lines().filter(|line| !is_of_disk(line)).collect();
    left.log = kept.join("\n");
    left
}

/// There is room again after a while: everybody gets one answer, in order.
pub async fn the_disk_is_full_for_a_while() -> Left {
    let world = World::new().await;
    let bot = start(&world).await;
    world.when("before", ModelReply::text("answer before"));
    world.told(BOB, BOB, "question before").await;
    // That it was delivered is on disk, too.
    world.caught_up().await;
    limit(&bot, "1");
    for word in ["one", "two", "three"] {
        // The model may have been asked before the disk refused its answer; it is asked again then.
        for _ in 0..2 {
            world.when(&format!("question {word}"), ModelReply::text(&format!("answer {word}")));
        }
        world.say(BOB, BOB, &format!("question {word}"));
    }
    told(&world, ANN, PAUSED).await;
    limit(&bot, "unlimited");
    told(&world, ANN, RESUMED).await;
    told(&world, BOB, "answer three").await;
    world.when("after", ModelReply::text("answer after"));
    world.told(BOB, BOB, "and after").await;
    settled(&world, Left::stopped(&world, BOB, bot).await)
}

/// What was said is answered once after the next start.
pub async fn the_bot_is_stopped_while_the_disk_is_full() -> Left {
    let world = World::new().await;
    let bot = start(&world).await;
    limit(&bot, "1");
    // The model may be asked before the disk refuses its answer, and is asked again then.
    (0..2).for_each(|_| world.when("question", ModelReply::text("forty-two")));
    world.say(BOB, BOB, "question");
    told(&world, ANN, PAUSED).await;
    bot.ends_well().await;
    let bot = start(&world).await;
    told(&world, BOB, "forty-two").await;
    settled(&world, Left::stopped(&world, BOB, bot).await)
}

pub async fn the_bot_is_stopped_while_the_owner_is_being_told_of_a_full_disk() -> Left {
    let world = World::new().await;
    let mut bot = start(&world).await;
    // Words to the person may come before those to the owners.
    world.telegram.fail("sendMessage", PlannedFailure::Hang, 2);
    limit(&bot, "1");
    // The model may be asked before the disk refuses its answer, and is asked again then.
    (0..2).for_each(|_| world.when("question", ModelReply::text("forty-two")));
    world.say(BOB, BOB, "question");
    let telling = |view: &TelegramView<'_>| {
        let mut calls = view.calls_of("sendMessage").into_iter();
        calls.any(|call| call.args["text"].as_str().is_some_and(|text| text.contains(PAUSED))).then_some(())
    };
    world.see("words to the owners on their way", telling).await;
    limit(&bot, "unlimited");
    bot.signal("TERM");
    assert!(bot.ended().await.success());
    // What is left of the planned faults is used up here.
    drop(rustls::crypto::ring::default_provider().install_default());
    let address = format!("{}/bot{}/sendMessage", world.telegram.url(), world.telegram.token());
    let http = reqwest::Client::builder().timeout(Duration::from_millis(500)).build().unwrap();
    let before = world.bot_texts(ANN).len();
    drop(http.post(address).json(&json!({"chat_id": ANN, "text": "x"})).send().await);
    let own = world.bot_texts(ANN).len() - before;
    let bot = start(&world).await;
    told(&world, BOB, "forty-two").await;
    let mut left = settled(&world, Left::stopped(&world, BOB, bot).await);
    left.owner.drain(before..before + own);
    left
}

/// What stands where the store was is no store, and nothing is lost by leaving it alone.
pub async fn the_store_is_damaged_while_the_disk_is_full() -> Left {
    let world = World::new().await;
    let bot = start(&world).await;
    limit(&bot, "1");
    world.say(BOB, BOB, "question");
    told(&world, ANN, PAUSED).await;
    let store = world.folder.path().join("data");
    let file = data_file(&store);
    std::fs::rename(&file, file.with_extension("damaged")).unwrap();
    std::fs::write(&file, "none").unwrap();
    limit(&bot, "unlimited");
    settled(&world, Left::ended(&world, BOB, bot).await)
}
