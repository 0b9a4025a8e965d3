//! Generated interleavings of a question, its edits, parts of answers, the effect of a tool and kills: one answer stands, to
//! the last wording, and nothing is done twice. `FIGARO_EDIT_CASES` sets how many are tried.

use std::sync::Arc;
use std::time::Duration;

use figaro_offline::Runtime;
use figaro_offline::model::{Brain, ModelReply, ModelRequest, OfflineModel};
use figaro_offline::telegram::TelegramView;
use serde_json::{Value, json};

use crate::support::bot::Recipe;
use crate::support::scene::{buttons, labels, number, text};
use crate::support::{ANN, Bot, TIMEOUT, World, listener};

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

fn begun(view: &TelegramView<'_>) -> Vec<String> {
    let texts = view.bot_messages(ANN).into_iter().map(text);
    texts.map(|text| text.split('.').next().unwrap_or_default().to_owned()).collect()
}

/// A bot whose question is edited, and what has happened to it so far.
struct Edited<'a> {
    world: &'a World,
    recipe: Recipe,
    bot: Bot,
    question: i64,
    number: u32,
    kills: usize,
    presses: usize,
}

impl Edited<'_> {
    fn edit(&mut self, step: u64) {
        self.number += 1 + u32::try_from(step).unwrap();
        let words = format!("wording {}.", self.number);
        self.world.telegram.edit(ANN, ANN, self.question, &words).unwrap();
    }

    fn kill(self) -> Self {
        self.bot.kill();
        Self { bot: self.recipe.spawn(), kills: self.kills + 1, ..self }
    }

    /// Presses ◀ under the newest answer that has it: there may be none yet, as the first edit may still be on its way.
    fn press(&mut self) {
        let messages = self.world.telegram.messages(ANN);
        let back = |m: &Value| Some((m.clone(), buttons(m).into_iter().find(|(label, _)| label == "◀")?.1));
        if let Some((card, data)) = messages.iter().rev().find_map(back) {
            drop(self.world.telegram.press(ANN, ANN, number(&card["message_id"]), &data));
            self.presses += 1;
        }
    }

    /// Waits until only the answer to the last wording stands, apart from what kills may leave; returns all messages.
    async fn settles(&self) -> Vec<String> {
        let wanted = wanted(self.number);
        // The rest of a longer answer is deleted after the edit.
        let settled = |view: &TelegramView<'_>| {
            Some(begun(view)).filter(|now| has_all(now, &wanted) && now.len() <= wanted.len() + self.kills)
        };
        let now = self.world.telegram.wait_until(TIMEOUT, settled).await;
        now.unwrap_or_else(|| {
            let now = self.world.telegram.view(begun);
            panic!("{now:?}, wanted {wanted:?}, {} kills\n{}", self.kills, self.bot.log())
        })
    }
}

/// Runs one interleaving. Returns the number of messages beside the answer that a kill has left, and of presses.
async fn case(seed: u64) -> (usize, usize) {
    let world = World::new().await;
    let runtime = Runtime::system();
    let model = OfflineModel::start(listener().await, Arc::new(Numbered), &runtime).unwrap();
    let recipe = world.bot().set("OPENAI_BASE_URL", model.url());
    let mut numbers = Numbers(seed);
    let bot = recipe.spawn();
    bot.ready().await;
    let number = u32::try_from(numbers.below(3)).unwrap();
    let question = world.say(ANN, ANN, &format!("wording {number}.")).message_id;
    let mut edited = Edited { world: &world, recipe, bot, question, number, kills: 0, presses: 0 };
    for _ in 0..2 + numbers.below(5) {
        tokio::time::sleep(Duration::from_millis(numbers.below(120))).await;
        match numbers.below(5) {
            0 | 1 => edited.edit(numbers.below(2)),
            2 => edited = edited.kill(),
            3 => edited.press(),
            _ => {}
        }
    }
    edited.edit(0);
    let beside = edited.settles().await.len() - wanted(edited.number).len();
    world.say(ANN, ANN, "/notes");
    let notes = world.see("the notes", |view| {
        let card = view.bot_messages(ANN).into_iter().find(|m| text(m).starts_with("No"))?;
        Some(labels(card))
    });
    let notes = notes.await;
    assert!(notes.is_empty() || notes == ["done (1)"], "seed {seed}: {notes:?}");
    assert_eq!(model.violations(), Vec::<String>::new());
    runtime.stop();
    (beside, edited.presses)
}

/// Returns `true` if all messages of the answer are there, in order.
fn has_all(now: &[String], wanted: &[String]) -> bool {
    let own: Vec<&String> = now.iter().filter(|text| wanted.contains(text)).collect();
    own.len() == wanted.len() && own.iter().zip(wanted).all(|(one, other)| *one == other)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_answer_stands_and_nothing_is_done_twice() {
    let set = |name: &str| std::env::var_os(name).and_then(|value| value.to_str()?.parse::<u64>().ok());
    let (cases, first) = (set("FIGARO_EDIT_CASES").unwrap_or(8), set("FIGARO_EDIT_SEED").unwrap_or(1));
    let (mut beside, mut presses) = (0, 0);
    for seed in first..first + cases {
        let of_case = case(seed).await;
        beside += of_case.0;
        presses += of_case.1;
    }
    println!(
        "{cases} interleavings with {presses} presses; {beside} messages stand beside an answer after a kill"
    );
}
