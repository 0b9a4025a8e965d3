//! `/audit`: the log in words, a page at a time, for owners alone; in a group what is about it. And killed at any moment
//! while calls are made, the log is whole and has every call that Telegram got.

use std::sync::Arc;
use std::time::Duration;

use figaro_offline::Runtime;
use figaro_offline::model::{ModelReply, ModelRequest, OfflineModel, ReplyPart};
use serde_json::{Value, json};

use super::forgetting::files;
use crate::support::calls::{call, says};
use crate::support::output::words;
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, BOB, Bot, TIMEOUT, World, listener};

/// A world in whose log are two calls that were made and refused in Ann's own chat, one that was refused in a group, the
/// group that was let in, and four times Bob.
async fn logged() -> (World, Bot) {
    let world = World::new().await;
    world.team();
    let bot = world.start().await;
    let empty = world.told(ANN, ANN, "/audit").await;
    assert!(text(&empty).contains("No entries yet."), "{empty}");
    assert_eq!(labels(&empty), ["Only refused"]);
    call(&world, (ANN, ANN), "find it", "find_tools", json!({"query": "getChat"})).await;
    call(&world, (ANN, ANN), "look at this chat", "getChat", json!({})).await;
    let photo = json!({"photo": "http://127.0.0.1/x.png"});
    call(&world, (ANN, ANN), "show it", "sendPhoto", photo.clone()).await;
    world.told(ANN, TEAM, "/allow@figaro_bot").await;
    call(&world, (ANN, TEAM), "show it to the team", "sendPhoto", photo).await;
    for _ in 0..4 {
        world.told(ANN, ANN, &format!("/allow {BOB}")).await;
        world.told(ANN, ANN, &format!("/deny {BOB}")).await;
    }
    (world, bot)
}

#[tokio::test]
async fn owners_read_it_in_words_and_filter_it() {
    let (world, _bot) = logged().await;
    let card = world.told(ANN, ANN, "/audit").await;
    let shown = text(&card).to_owned();
    assert_eq!(shown.lines().count(), 9, "a title and eight rows: {shown}");
    assert!(shown.contains("Ann · shut out: Bob") && shown.contains("Ann · let in: Bob"), "{shown}");
    assert_eq!(labels(&card), ["Next ▶", "Only refused", "Save as a file"]);
    let id = number(&card["message_id"]);
    world.press(ANN, &card, "Next ▶").await;
    let older = world.shows(ANN, id, "allowed: Look at the chat").await;
    for words in [
        "the model · allowed: Look at the chat · in this chat",
        "the model · refused: Send a photo · in this chat · it opens an address that is not on the public web",
        "the model · refused: Send a photo · in Team · it opens an address that is not on the public web",
        "Ann · let in: Team",
    ] {
        assert!(text(&older).contains(words), "{words}: {older}");
    }
    assert_eq!(labels(&older), ["◀ Previous", "Only refused", "Save as a file"]);
    world.press(ANN, &older, "Only refused").await;
    let refused = world.shows(ANN, id, "Audit log: refused").await;
    assert_eq!(text(&refused).lines().count(), 7, "{refused}");
    assert!(!text(&refused).contains("allowed") && !text(&refused).contains("let in"), "{refused}");
    assert_eq!(labels(&refused), ["All", "Save as a file"]);
}

#[tokio::test]
async fn in_a_group_it_is_about_the_group_and_for_owners_and_nobody_gets_the_file() {
    let (world, _bot) = logged().await;
    let card = world.told(ANN, TEAM, "/audit@figaro_bot").await;
    let rows: Vec<&str> = text(&card).lines().skip(1).collect();
    assert!(rows.len() == 2 && rows[0].contains("Send a photo · in this chat"), "{card}");
    assert_eq!(labels(&card), ["Only refused"]);
    assert_eq!(world.forged(ANN, &card, "audit:export").await, "This is no longer up to date.");
    // Bob is shut out by now: he gets no answer, and his press none but that.
    world.told(ANN, ANN, &format!("/allow {BOB}")).await;
    let only = "Only an owner of the bot can do that.";
    assert_eq!(text(&world.told(BOB, TEAM, "/audit@figaro_bot").await), only);
    assert_eq!(text(&world.told(BOB, BOB, "/audit").await), only);
    assert_eq!(world.forged(BOB, &card, "audit:all:0").await, only);
}

#[tokio::test]
async fn it_is_saved_as_a_file_with_whether_the_chain_is_whole() {
    let (world, bot) = logged().await;
    let card = world.told(ANN, ANN, "/audit").await;
    world.press(ANN, &card, "Save as a file").await;
    let (name, log) = files(&world, ANN, 1).await.remove(0);
    let entries = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let places: Vec<u64> = entries.map(|entry| entry["seq"].as_u64().unwrap()).collect();
    assert_eq!((name.as_str(), places), ("audit.jsonl", (0..12).collect()));
    says(&world, ANN, "✓ 12 entries, and the chain is whole.").await;
    bot.ends_well().await;
    let records = world.records();
    let (key, value) = records.all("audit")[1].clone();
    let turned = String::from_utf8(value).unwrap().replace("call_denied", "call_allowed");
    records.put("audit", &key, turned);
    drop(records);
    let _bot = world.start().await;
    let card = world.told(ANN, ANN, "/audit").await;
    world.press(ANN, &card, "Save as a file").await;
    says(&world, ANN, "The chain is broken: of 12 entries, number 1 is the first").await;
}

/// Passes with a poll each, and an answer in the end.
fn polls(request: &ModelRequest) -> ModelReply {
    const PASSES: usize = 8;
    if request.tool_results().len() >= PASSES {
        return ModelReply::text("There they are.");
    }
    let options = json!([{"text": "Tea"}, {"text": "Coffee"}]);
    let arguments = json!({"question": "What?", "options": options});
    ModelReply::turn(vec![ReplyPart::Call { name: "sendPoll".into(), arguments }])
}

#[tokio::test]
async fn killed_at_any_moment_the_log_is_whole_and_has_every_call_that_telegram_got() {
    let world = World::new().await;
    let runtime = Runtime::system();
    let model = OfflineModel::start(listener().await, Arc::new(polls), &runtime).unwrap();
    let recipe = world.bot().set("OPENAI_BASE_URL", model.url());
    for round in 0..16_u64 {
        let bot = recipe.spawn();
        bot.ready().await;
        let before = world.telegram.view(|view| view.calls_of("sendPoll").len());
        world.say(ANN, ANN, &format!("polls, number {round}"));
        let began = world
            .telegram
            .wait_until(TIMEOUT, |view| (view.calls_of("sendPoll").len() > before).then_some(()))
            .await;
        assert!(began.is_some(), "no call in round {round}");
        // Every fourth time at once: the call has just reached Telegram, and nothing came of it yet.
        tokio::time::sleep(Duration::from_millis(round % 4 * round)).await;
        bot.kill();
        let calls = world.telegram.view(|view| view.calls_of("sendPoll").len());
        let output = recipe.clone().arg("audit").arg("verify").run().await;
        let (said, errors) = words(&output);
        assert!(output.status.success() && said.contains("the chain is whole"), "{round}: {said}{errors}");
        let output = recipe.clone().arg("audit").arg("--json").arg("--limit").arg("100000").run().await;
        let (log, _) = words(&output);
        let noted =
            log.lines().filter(|line| line.contains("call_allowed") && line.contains("sendPoll")).count();
        assert!(noted >= calls, "{noted} entries for {calls} calls in round {round}");
    }
    drop(model);
}
