//! Generated interleavings of a question, its edits, parts of answers, the effect of a tool and kills: one answer stands, to
//! the last wording, and nothing is done twice. `FIGARO_EDIT_CASES` sets how many are tried.

use std::sync::Arc;
use std::time::Duration;

use figaro_offline::Runtime;
use figaro_offline::model::{Brain, ModelReply, ModelRequest, OfflineModel};
use serde_json::json;

use crate::support::scene::{buttons, labels, text};
use crate::support::{ANN, Bot, World, listener};

/// Answers each wording with its number, every third at length, and every second after a call that has an effect.
struct Numbered;

impl Brain for Numbered {
    fn answer(&self, request: &ModelRequest) -> ModelReply {
        let asked = request.user_text();
        let asked = asked.split("(Not from a person.)").next().unwrap_or_default();
        let number = asked.rsplit("wording ").next().and_then(|rest| rest.split('.').next()?.parse().ok());
        let number: u32 = number.unwrap_or_default();
        if number.is_multiple_of(2) && request.tool_results().is_empty() {
            return ModelReply::call("add_note", json!({"key": "done", "content": "the effect"}));
        }
        ModelReply::text(&answer(number)).paced(400, Duration::from_millis(3))
    }
}

fn answer(number: u32) -> String {
    let part = |part: u32| format!("Answer {number}, part {part}. {}", "And so it goes on. ".repeat(200));
    match number % 3 {
        0 => (1..=3).map(part).collect::<Vec<_>>().join("\n\n"),
        _ => format!("Answer {number}."),
    }
}

/// Beginnings of the messages that an answer takes.
fn wanted(number: u32) -> Vec<String> {
    match number % 3 {
        0 => (1..=3).map(|part| format!("Answer {number}, part {part}")).collect(),
        _ => vec![format!("Answer {number}")],
    }
}

/// A generator of numbers that is the same for the same seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn begun(world: &World) -> Vec<String> {
    let texts = world.bot_texts(ANN);
    texts.iter().map(|text| text.split('.').next().unwrap_or_default().to_owned()).collect()
}

async fn pause(numbers: &mut Numbers) {
    tokio::time::sleep(Duration::from_millis(numbers.below(120))).await;
}

/// Runs one interleaving. Returns the number of messages beside the answer that a kill has left.
async fn case(seed: u64) -> usize {
    let world = World::new().await;
    let runtime = Runtime::system();
    let model = OfflineModel::start(listener().await, Arc::new(Numbered), &runtime).unwrap();
    let recipe = || world.bot().set("OPENAI_BASE_URL", model.url());
    let mut numbers = Numbers(seed);
    let mut bot: Option<Bot> = Some(recipe().spawn());
    bot.as_ref().unwrap().ready().await;
    let (mut number, mut kills) = (u32::try_from(numbers.below(3)).unwrap(), 0);
    let sent = world.say(ANN, ANN, &format!("wording {number}.")).message_id;
    for _ in 0..2 + numbers.below(5) {
        pause(&mut numbers).await;
        match numbers.below(5) {
            0 | 1 => {
                number += 1 + u32::try_from(numbers.below(2)).unwrap();
                world.telegram.edit(ANN, ANN, sent, &format!("wording {number}.")).unwrap();
            }
            2 => {
                if let Some(running) = bot.take() {
                    running.kill();
                    kills += 1;
                }
                bot = Some(recipe().spawn());
            }
            3 => {
                let shown = world
                    .telegram
                    .messages(ANN)
                    .into_iter()
                    .rev()
                    .find(|m| labels(m).iter().any(|l| l == "◀"));
                if let Some(card) = shown {
                    let (_, data) = buttons(&card).into_iter().find(|(label, _)| label == "◀").unwrap();
                    drop(world.telegram.press(ANN, ANN, card["message_id"].as_i64().unwrap(), &data));
                }
            }
            _ => {}
        }
    }
    number += 1;
    world.telegram.edit(ANN, ANN, sent, &format!("wording {number}.")).unwrap();
    let wanted = wanted(number);
    let mut now = Vec::new();
    for _ in 0..1500 {
        now = begun(&world);
        // What is left of a longer answer is deleted after the edit.
        if has_all(&now, &wanted) && now.len() <= wanted.len() + kills {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let log = || bot.as_ref().map(Bot::log).unwrap_or_default();
    let own: Vec<&String> = now.iter().filter(|text| wanted.contains(text)).collect();
    assert_eq!(own.len(), wanted.len(), "seed {seed}: {now:?}, wanted {wanted:?}\n{}", log());
    let beside = now.len() - own.len();
    assert!(beside <= kills, "seed {seed}: {now:?}, wanted {wanted:?}, {kills} kills\n{}", log());
    world.say(ANN, ANN, "/notes");
    let notes = world.see("the notes", |view| {
        let card = view.bot_messages(ANN).into_iter().find(|m| text(m).starts_with("No"))?;
        Some(labels(card))
    });
    let notes = notes.await;
    assert!(notes.is_empty() || notes == ["done (1)"], "seed {seed}: {notes:?}");
    assert_eq!(model.violations(), Vec::<String>::new());
    runtime.stop();
    beside
}

/// Returns `true` if all messages of the answer are there, in order.
fn has_all(now: &[String], wanted: &[String]) -> bool {
    let own: Vec<&String> = now.iter().filter(|text| wanted.contains(text)).collect();
    own.len() == wanted.len() && own.iter().zip(wanted).all(|(one, other)| *one == other)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_answer_stands_and_nothing_is_done_twice() {
    let cases = std::env::var("FIGARO_EDIT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(8);
    let first: u64 = std::env::var("FIGARO_EDIT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut beside = 0;
    for seed in first..first + cases {
        beside += case(seed).await;
    }
    println!("{cases} interleavings; {beside} messages stand beside an answer after a kill");
}
