//! What a turn's request is made of, and how much of it the provider has seen before. The real bot against the offline
//! Telegram and model: `cargo bench --bench prompt` prints
//!
//! - the tokens (o200k_base, of the JSON as it is sent) of the system prompt and of each tool of a plain turn;
//! - over a chat of 60 messages with calls of tools, a search for a tool and answers of 800 characters: the share of each
//!   request that stands at the beginning of the next one too, in tokens. Providers charge less for what they have seen
//!   at the beginning of a request. They put tools before instructions before the conversation; so it is serialised here;
//! - the same where what was said is summarised on the way;
//! - the same where facts are taken from what is said, and messages are pinned, as the conversation goes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking"
)]

mod support;

use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

use figaro_offline::Runtime;
use figaro_offline::model::{ModelReply, ModelRequest, OfflineModel, ReplyPart, ReplyScript};
use figaro_offline::telegram::{OfflineTelegram, Person, TelegramOptions};
use serde_json::{Value, json};
use tiktoken_rs::CoreBPE;

use support::{OWNER, listener, start_bot_with};

const WAIT_TIMEOUT: Duration = Duration::from_secs(30);
/// Questions and answers.
const MESSAGES: usize = 60;
const ANSWER_CHARS: usize = 800;
/// Words of about the length that they have in answers.
const WORDS: [&str; 24] = [
    "however", "the", "bridge", "over", "river", "was", "built", "by", "masons", "from", "several", "towns",
    "and", "it", "carried", "carts", "until", "a", "flood", "took", "two", "of", "its", "arches",
];

/// What happens in a conversation beside questions and answers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Plain,
    /// Tools are called.
    Calls,
    /// Facts are remembered, and messages pinned.
    Facts,
}

/// What somebody does, for facts about them.
const VERBS: [&str; 15] = [
    "live in", "work at", "collect", "paint", "study", "play", "drive a", "own a", "speak", "teach", "hate",
    "bake", "grow", "prefer", "read",
];

struct World {
    telegram: OfflineTelegram,
    model: OfflineModel,
    script: Arc<ReplyScript>,
    runtime: Runtime,
    bot: Child,
    _folder: tempfile::TempDir,
}

impl Drop for World {
    fn drop(&mut self) {
        self.bot.kill().unwrap();
        self.bot.wait().unwrap();
        self.runtime.stop();
    }
}

#[tokio::main]
async fn main() {
    drop(rustls::crypto::ring::default_provider().install_default());
    let words = tiktoken_rs::o200k_base().unwrap();
    let world = World::start().await;
    world.turn("hi", vec![ModelReply::text("Hello!")]).await;
    by_tool(&world.model.requests()[0], &words);
    drop(world);
    let kinds = [
        ("without calls", Kind::Plain, "0"),
        ("with calls and a search for a tool", Kind::Calls, "0"),
        ("without calls, summaries every 10 messages", Kind::Plain, "10"),
        ("with facts and pins that arrive", Kind::Facts, "0"),
    ];
    for (what, kind, summary_every) in kinds {
        let world = World::with(summary_every, kind).await;
        world.chat(kind).await;
        let shares = shares(&world.model.requests(), &words);
        println!(
            "identical share of the request before, {MESSAGES} messages, answers of {ANSWER_CHARS} characters, {what}"
        );
        print_shares(shares);
    }
}

impl World {
    async fn start() -> Self {
        Self::with("0", Kind::Plain).await
    }

    /// A bot that summarises after so many messages, and remembers facts where they are to arrive.
    async fn with(summary_every: &str, kind: Kind) -> Self {
        let runtime = Runtime::system();
        let telegram =
            OfflineTelegram::start(listener().await, TelegramOptions::default(), &runtime).unwrap();
        telegram.add_user(Person::new(OWNER, "Ann"));
        telegram.add_private(OWNER).unwrap();
        let script = Arc::new(ReplyScript::new());
        let model = OfflineModel::start(listener().await, script.clone(), &runtime).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let bot = {
            let limit = if kind == Kind::Facts { "50" } else { "0" };
            let settings = [
                ("TELEGRAM_RATES", "off"),
                ("SUMMARY_EVERY", summary_every),
                ("MEMORY_LIMIT", limit),
                ("MEMORY_DELAY", "0"),
            ];
            start_bot_with(&telegram, &model, folder.path(), &settings)
        };
        Self { telegram, model, script, runtime, bot, _folder: folder }
    }

    /// One question and its answer.
    async fn turn(&self, question: &str, passes: Vec<ModelReply>) {
        let before = self.telegram.view(|view| view.bot_messages(OWNER).len());
        passes.into_iter().for_each(|reply| self.script.push(reply));
        self.telegram.say(OWNER, OWNER, question).unwrap();
        let seen = |view: &figaro_offline::telegram::TelegramView<'_>| {
            (view.bot_messages(OWNER).len() > before).then_some(())
        };
        self.telegram.wait_until(WAIT_TIMEOUT, seen).await.expect("the bot answers");
    }

    /// Every fourth question has the model call a tool; the fourth of them one that it has to find first. Where facts arrive, every
    /// second question says one, and every fifth is followed by a pin.
    async fn chat(&self, kind: Kind) {
        let calls = kind == Kind::Calls;
        for at in 0..MESSAGES / 2 {
            if kind == Kind::Facts && at % 2 == 1 {
                self.fact(at).await;
                continue;
            }
            if kind == Kind::Facts && at % 5 == 4 {
                self.turn(&format!("/pin The toll of bridge {at} is {} coins", at * 7), Vec::new()).await;
            }
            let mut passes = Vec::new();
            if calls && at % 4 == 3 {
                let note = json!({"key": "bridges", "content": format!("bridge number {at}")});
                passes.push(ModelReply::turn(vec![call("add_note", note)]));
            }
            if calls && at == 13 {
                passes.push(ModelReply::turn(vec![call("find_tools", json!({"query": "roll a dice"}))]));
            }
            passes.push(ModelReply::text(&text(at, ANSWER_CHARS)));
            self.turn(&format!("And what of bridge number {at}? {}", text(at + 7, 60)), passes).await;
        }
    }
}

impl World {
    /// A question in which a fact is said, which is remembered before the next one.
    async fn fact(&self, at: usize) {
        let fact = format!("I {} {}", VERBS[at / 2 % VERBS.len()], WORDS[at % WORDS.len()]);
        let item =
            json!({"change": "create", "message": "N1", "quote": fact, "content": fact, "memories": []});
        self.script.extract_when(&fact, ModelReply::text(&json!({"items": [item]}).to_string()));
        let asked = self.model.extraction_requests().len();
        let question = format!("{fact}. And what of bridge number {at}? {}", text(at + 7, 60));
        self.turn(&question, vec![ModelReply::text(&text(at, ANSWER_CHARS))]).await;
        for _ in 0..400 {
            if self.model.extraction_requests().len() > asked {
                break;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        // The answer has to be read and stored.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn call(name: &str, arguments: Value) -> ReplyPart {
    ReplyPart::Call { name: name.to_owned(), arguments }
}

/// Words that no other text begins with.
fn text(seed: usize, chars: usize) -> String {
    let mut text = format!("Bridge {seed}:");
    for at in 0.. {
        if text.len() >= chars {
            break;
        }
        text.push(' ');
        text.push_str(WORDS[(at * (seed + 5) + seed * seed + at / 7) % WORDS.len()]);
    }
    text
}

fn by_tool(request: &ModelRequest, words: &CoreBPE) {
    let count = |text: &str| words.encode_ordinary(text).len();
    let tools = request.body["tools"].as_array().unwrap();
    let mut costs: Vec<(usize, &str)> = tools
        .iter()
        .map(|tool| (count(&tool.to_string()), tool["name"].as_str().or(tool["type"].as_str()).unwrap()))
        .collect();
    costs.sort_by(|a, b| b.cmp(a));
    let (system, sum) = (count(request.instructions()), costs.iter().map(|(cost, _)| cost).sum::<usize>());
    println!("tokens of a plain turn (target: 2,500 in all): {}", system + sum);
    println!("  {system:>5} system prompt");
    println!("  {sum:>5} {} tools", costs.len());
    for (cost, name) in costs {
        println!("  {cost:>5}   {name}");
    }
}

/// Of each request but the last the share that the next one begins with.
fn shares(requests: &[ModelRequest], words: &CoreBPE) -> Vec<f64> {
    let serialised: Vec<Vec<u32>> =
        requests.iter().map(|request| words.encode_ordinary(&serialise(request))).collect();
    let share = |pair: &[Vec<u32>]| {
        let same = pair[0].iter().zip(&pair[1]).take_while(|(a, b)| a == b).count();
        same as f64 / pair[0].len() as f64 * 100.0
    };
    serialised.windows(2).map(share).collect()
}

fn serialise(request: &ModelRequest) -> String {
    let input: Vec<String> = request.input().iter().map(Value::to_string).collect();
    format!("{}\n{}\n{}", request.body["tools"], request.instructions(), input.join("\n"))
}

fn print_shares(mut shares: Vec<f64>) {
    if std::env::args().any(|argument| argument == "--each") {
        println!("  {}", shares.iter().map(|share| format!("{share:.0}")).collect::<Vec<_>>().join(" "));
    }
    shares.sort_by(f64::total_cmp);
    let at = |percent: usize| shares[(shares.len() - 1) * percent / 100];
    println!("  min {:.0} %   p10 {:.0} %   median {:.0} % (target: 85 %)", at(0), at(10), at(50));
}
