//! Context packs and records: packs are files, checked and read again; a chat chooses some, and then the model keeps what people say in
//! their forms, is told of it when it bears on a question, and people see, draw, remove and forget it.

mod children;
mod files;
mod forgetting;
mod kills;
mod reminders;
mod rights;
mod saving;
mod telling;

use std::fs;
use std::path::Path;

use figaro_base::ids::ChatId;
use figaro_domain::record::Record;
use figaro_offline::model::{ModelReply, ModelRequest, OfflineModel, ReplyPart};
use figaro_offline::telegram::{Say, TelegramView};
use serde_json::{Value, json};

use super::memories::{proposes, remembering};
use super::task_tools::cards;
use crate::support::bot::Recipe;
use crate::support::calls::{call, calls, error, results, says};
use crate::support::output::{refused, words};
use crate::support::scene::{TEAM, buttons, labels, number, text};
use crate::support::{ANN, BOB, Bot, World};

const TOOLS: [&str; 3] = ["list_records", "remove_record", "save_record"];
pub const HERE: (i64, i64) = (ANN, ANN);

const SHOP: &str = "name: shop
title: Shop
description: Goods of a small shop
kinds:
  product:
    fields:
      name: {type: text, key: true}
      price: {type: number, unit: EUR, min: 0}
    triggers:
      en: [product, price]
";

/// `figaro packs` with these arguments, in a folder: its exit code and what it said.
fn packs(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let recipe = arguments.iter().fold(Recipe::new(folder).arg("packs"), |recipe, arg| recipe.arg(arg));
    let output = recipe.output();
    let (said, errors) = words(&output);
    (output.status.code(), said, errors)
}

pub fn write(folder: &Path, file: &str, text: &str) {
    let packs = folder.join("prompts/packs");
    fs::create_dir_all(&packs).unwrap();
    fs::write(packs.join(file), text).unwrap();
}

/// Someone has a chat choose a pack.
pub async fn choose(world: &World, who: (i64, i64), pack: &str) {
    let card = world.told(who.0, who.1, "/records@figaro_bot").await;
    assert_eq!(world.press(who.0, &card, pack).await, "Saved.", "{card}");
    world.shows(who.1, number(&card["message_id"]), "pack").await;
}

/// A world in whose private chats the care of the elderly is chosen by Ann.
async fn caring() -> (World, Bot) {
    let world = World::new().await;
    let bot = world.start_open().await;
    choose(&world, HERE, "Care of the elderly").await;
    (world, bot)
}

pub async fn save(world: &World, said: &str, kind: &str, fields: Value) -> Value {
    call(world, HERE, said, "save_record", json!({"kind": kind, "fields": fields})).await
}

/// Mary with a medicine.
async fn mary(world: &World) {
    let saved = save(world, "Mary Smith needs care", "patient", json!({"name": "Mary Smith"})).await;
    assert_eq!(saved["saved"], true, "{saved}");
    let medicine =
        json!({"patient": "mary smith", "name": "Metformin", "dose": "500 mg", "times": "8:00, 20:00"});
    let saved = save(world, "She takes metformin twice a day", "medication", medicine).await;
    assert_eq!(saved["fields"]["times"], "08:00, 20:00", "{saved}");
}

/// The request about these words.
pub async fn asked(world: &World, who: (i64, i64), words: &str) -> ModelRequest {
    let answer = format!("Answer to {words}");
    world.when(words, ModelReply::text(&answer));
    world.say(who.0, who.1, &format!("@figaro_bot {words}"));
    says(world, who.1, &answer).await;
    world.asked().into_iter().rev().find(|request| request.user_text().contains(words)).unwrap()
}

/// The records that stand in a request.
pub fn told(request: &ModelRequest) -> Vec<String> {
    let text = request.user_text();
    let part = text.split("<records>\n").nth(1).and_then(|rest| rest.split("\n</records>").next());
    part.map(|part| part.lines().skip(1).map(str::to_owned).collect()).unwrap_or_default()
}

async fn stored(world: &World, chat: i64) -> Vec<Record> {
    world.stored().await.records().of_chat(ChatId(chat)).unwrap()
}

/// Ann has the question with these words forgotten; gives what she is told then.
async fn forgets(world: &World, words: &str) -> Value {
    let card = world.told(ANN, ANN, &format!("/forget {words}")).await;
    let question = labels(&card).into_iter().find(|label| !label.contains("Dealt with")).unwrap();
    world.press(ANN, &card, &question).await;
    world.shows(ANN, number(&card["message_id"]), "Forget this message").await;
    world.press(ANN, &card, "Forget").await;
    world.shows(ANN, number(&card["message_id"]), "Forgotten").await
}

/// Somebody presses the button for reminders under the answer to these words.
pub async fn reminds(world: &World, (who, chat): (i64, i64), words: &str) {
    let answer = says(world, chat, &format!("Dealt with: {words}")).await;
    let toast = world.press(who, &answer, "⏰ Remind").await;
    assert!(toast.starts_with("⏰ I will remind"), "{toast}");
}
