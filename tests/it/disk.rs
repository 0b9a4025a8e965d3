//! A disk that takes no more writes while the bot runs. What a full one does with ENOSPC, a limit on the size of files
//! does with EFBIG: the system refuses the write, and the bot goes on running.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use figaro::demo::model::Reply;
use figaro::demo::telegram::{Failure, View};
use serde_json::json;

use crate::support::scene::text;
use crate::support::{ANN, BOB, Bot, World};

/// Part of what owners are told.
const PAUSED: &str = "I cannot write to my disk";
const RESUMED: &str = "My disk takes writes again";

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

async fn told(world: &World, words: &str) {
    let has =
        |view: &View<'_>| view.bot_messages(ANN).into_iter().any(|message| text(message).contains(words));
    world.see(words, |view| has(view).then_some(())).await;
}

/// A pause is said once to the owners and never to others, and everybody gets one answer, in order.
#[tokio::test]
async fn a_full_disk_pauses_the_bot_which_goes_on_by_itself() {
    let world = World::new().await;
    let bot = start(&world).await;
    world.when("before", Reply::text("answer before"));
    world.told(BOB, BOB, "question before").await;
    // That it was delivered is on disk, too.
    world.caught_up().await;
    limit(&bot, "1");
    let later = ["one", "two", "three"];
    for word in later {
        world.when(&format!("question {word}"), Reply::text(&format!("answer {word}")));
        world.say(BOB, BOB, &format!("question {word}"));
    }
    told(&world, PAUSED).await;
    limit(&bot, "unlimited");
    told(&world, RESUMED).await;
    let answers = |view: &View<'_>| {
        let texts: Vec<String> = view.bot_messages(BOB).into_iter().map(|m| text(m).to_owned()).collect();
        texts.iter().any(|text| text == "answer three").then_some(texts)
    };
    let texts = world.see("the last answer", answers).await;
    let kept = |text: &String| text.contains("Your message is kept");
    assert!(texts.iter().filter(|text| kept(text)).count() <= 1, "{texts:?}");
    let answers: Vec<&String> = texts.iter().filter(|text| !kept(text)).collect();
    assert_eq!(answers, ["answer before", "answer one", "answer two", "answer three"]);
    world.when("after", Reply::text("answer after"));
    assert_eq!(text(&world.ask("and after").await), "answer after");
    let of_owner = world.bot_texts(ANN);
    for words in [PAUSED, RESUMED] {
        assert_eq!(of_owner.iter().filter(|text| text.contains(words)).count(), 1, "{of_owner:?}");
    }
    assert!(bot.stop().success());
}

#[tokio::test]
async fn a_paused_bot_can_be_stopped_and_loses_nothing() {
    let world = World::new().await;
    let bot = start(&world).await;
    limit(&bot, "1");
    world.when("question", Reply::text("forty-two"));
    world.say(ANN, ANN, "question");
    told(&world, PAUSED).await;
    assert!(bot.stop().success());
    let bot = start(&world).await;
    told(&world, "forty-two").await;
    assert!(bot.stop().success());
    assert_eq!(world.bot_texts(ANN).iter().filter(|text| *text == "forty-two").count(), 1);
}

#[tokio::test]
async fn a_stop_is_heard_while_the_owners_are_being_told_of_a_pause() {
    let world = World::new().await;
    let mut bot = start(&world).await;
    // Words to the person may come before those to the owners.
    world.telegram.fail("sendMessage", Failure::Hang, 2);
    limit(&bot, "1");
    world.when("question", Reply::text("forty-two"));
    world.say(ANN, ANN, "question");
    let telling = |view: &View<'_>| {
        let mut calls = view.calls_of("sendMessage").into_iter();
        calls.any(|call| call.args["text"].as_str().is_some_and(|text| text.contains(PAUSED))).then_some(())
    };
    world.see("words to the owners on their way", telling).await;
    limit(&bot, "unlimited");
    bot.signal("TERM");
    assert!(bot.ended().await.success());
    assert!(bot.log().contains("ending at once"), "{}", bot.log());
    // What is left of the planned faults is used up here.
    drop(rustls::crypto::ring::default_provider().install_default());
    let address = format!("{}/bot{}/sendMessage", world.telegram.url(), world.telegram.token());
    let http = reqwest::Client::builder().timeout(Duration::from_millis(500)).build().unwrap();
    drop(http.post(address).json(&json!({"chat_id": ANN, "text": "x"})).send().await);
    let bot = start(&world).await;
    told(&world, "forty-two").await;
    assert!(bot.stop().success());
}

#[tokio::test]
async fn a_bot_that_cannot_start_again_ends_so_that_a_supervisor_starts_another() {
    let world = World::new().await;
    let mut bot = start(&world).await;
    limit(&bot, "1");
    world.say(ANN, ANN, "question");
    told(&world, PAUSED).await;
    // What is no store is not opened.
    let store = world.folder.path().join("data");
    std::fs::rename(store.join("db"), store.join("db.damaged")).unwrap();
    std::fs::write(store.join("db"), "none").unwrap();
    limit(&bot, "unlimited");
    assert_eq!(bot.ended().await.code(), Some(1));
    assert!(bot.log().contains("the store had failed, and a new start did too"), "{}", bot.log());
}
