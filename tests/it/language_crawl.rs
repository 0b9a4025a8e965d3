//! Every command of a chat is given and every button of its cards pressed: not a word comes in another language than the one
//! that the chat has set.

use std::collections::BTreeSet;

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::ApiCall;
use figaro_prompts::texts::{Locales, Texts};
use serde_json::{Value, json};

use super::task_tools::{LEAP, recurring, start};
use crate::support::calls::call;
use crate::support::scene::{buttons, number};
use crate::support::{ANN, World};

/// Of a longer text parts of so many bytes tell languages apart.
const MIN_BYTES: usize = 5;

const COMMANDS: [&str; 18] = [
    "/start",
    "/help",
    "/config",
    "/model",
    "/notes",
    "/records",
    "/forget",
    "/export",
    "/privacy",
    "/tasks",
    "/timezone",
    "/usage",
    "/status",
    "/stop",
    "/allow",
    "/deny",
    "/nonsense",
    "/new",
];

/// What stands between the placeholders of the texts of a language.
fn parts(texts: &Texts) -> BTreeSet<String> {
    let mut parts = BTreeSet::new();
    // Languages are called by their own names everywhere.
    for (_, text) in texts.entries().filter(|(key, _)| !key.starts_with("language_name")) {
        for line in text.lines() {
            let fixed = line.split('{').enumerate();
            let fixed = fixed.map(|(at, part)| {
                if at == 0 { part } else { part.split_once('}').map_or(part, |(_, behind)| behind) }
            });
            parts.extend(fixed.map(|part| part.trim().to_owned()).filter(|part| part.len() >= MIN_BYTES));
        }
    }
    parts
}

/// What a button does, whatever it does it to.
fn kind(data: &str) -> String {
    let fields = data.split([':', '~']).map(|field| {
        let is_id = field.len() >= 10 && field.chars().all(|c| c.is_ascii_alphanumeric())
            || field.parse::<i64>().is_ok();
        if is_id { "#" } else { field }
    });
    fields.collect::<Vec<_>>().join(":")
}

/// All that a call shows to people, by itself and on its buttons.
fn shown(call: &ApiCall) -> Vec<String> {
    let mut shown: Vec<String> =
        call.args.get("text").and_then(Value::as_str).map(str::to_owned).into_iter().collect();
    let rows = call.args.get("reply_markup").map(|markup| &markup["inline_keyboard"]);
    let keys = rows.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_array).flatten();
    shown.extend(keys.filter_map(|key| key["text"].as_str()).map(str::to_owned));
    let commands = call.args.get("commands").and_then(Value::as_array).into_iter().flatten();
    shown.extend(commands.filter_map(|command| command["description"].as_str()).map(str::to_owned));
    shown
}

#[tokio::test]
async fn a_chat_in_portuguese_sees_no_english_word_of_figaros() {
    no_english_in("pt", "português").await;
}

#[tokio::test]
async fn a_chat_in_german_sees_no_english_word_of_figaros() {
    no_english_in("de", "Deutsch").await;
}

#[tokio::test]
async fn a_chat_in_arabic_sees_no_english_word_of_figaros() {
    no_english_in("ar", "العربية").await;
}

#[tokio::test]
async fn a_chat_in_chinese_sees_no_english_word_of_figaros() {
    no_english_in("zh", "中文").await;
}

async fn no_english_in(tag: &str, name: &str) {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Pronto."));
    let _bot = start(&world, &[]).await;
    world.told(ANN, ANN, &format!("/config language {name}")).await;
    let note = json!({"key": "compras", "content": "leite"});
    call(&world, (ANN, ANN), "uma nota", "add_note", note).await;
    call(&world, (ANN, ANN), "uma tarefa", "schedule_task", recurring("Cante", LEAP)).await;
    let begin = world.telegram.calls().len();
    let mut pressed = BTreeSet::new();
    for command in COMMANDS {
        let card = world.told(ANN, ANN, command).await;
        let id = number(&card["message_id"]);
        loop {
            let now =
                world.telegram.messages(ANN).into_iter().find(|message| message["message_id"] == id).unwrap();
            let new = buttons(&now).into_iter().find(|(_, data)| !pressed.contains(&kind(data)));
            let Some((_, data)) = new else { break };
            pressed.insert(kind(&data));
            // Others that set a language would end what is looked for, and an agent whose answers have a form would not answer
            // the marker.
            let is_left_out = ["config:set:language", "config:clear:language", "forget:all:"]
                .iter()
                .any(|it| data.rsplit('>').next().unwrap_or_default().starts_with(it));
            if !is_left_out && !data.ends_with("extractor") {
                world.forged(ANN, &now, &data).await;
                world.caught_up().await;
            }
        }
    }
    assert!(pressed.len() >= 25, "few buttons: {pressed:?}");
    let locales = Locales::default();
    let ours: String = locales.of(Some(tag)).entries().map(|(_, text)| format!("{text}\n")).collect();
    let english: Vec<String> =
        parts(locales.of(Some("en"))).into_iter().filter(|part| !ours.contains(part.as_str())).collect();
    for call in world.telegram.calls().iter().skip(begin) {
        for text in shown(call) {
            let found = english.iter().find(|part| text.contains(part.as_str()));
            assert_eq!(found, None, "{tag}: {} shows: {text}", call.method);
        }
    }
}
