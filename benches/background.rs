//! What work adds that nobody waits for: facts, names and summaries, with the default settings. The real bot against the offline
//! Telegram and model; five people send 200 everyday messages, in sittings of one to six. `cargo bench --bench background`
//! prints for a model that does as it is told, and for one that never writes JSON,
//!
//! - the calls of the model for each message;
//! - the tokens (o200k_base, of the JSON as it is sent and of the answers) of answers and of each kind of work beside them.
//!
//! A minute of quiet takes one second here (`MEMORY_DELAY=1`).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark fails by panicking, and its counts are small"
)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use figaro_offline::Runtime;
use figaro_offline::model::{Brain, ModelReply, ModelRequest, OfflineModel};
use figaro_offline::telegram::{OfflineTelegram, Person, TelegramOptions, TelegramView};
use futures::future::join_all;
use tiktoken_rs::CoreBPE;

use support::{listener, start_bot_with};

const WAIT_TIMEOUT: Duration = Duration::from_secs(30);
/// Longer than the quiet after which messages are read.
const BETWEEN_SITTINGS: Duration = Duration::from_millis(1_600);
/// How many messages people send in a row.
const SITTINGS: [usize; 12] = [3, 1, 5, 2, 4, 1, 6, 3, 2, 5, 4, 4];
const PEOPLE: [&str; 5] = ["Ann", "Bob", "Cem", "Dora", "Eli"];
const EVERYDAY: [&str; 40] = [
    "hi!",
    "what's a quick dinner with eggs and spinach?",
    "thanks, sounds good",
    "how long do I boil the eggs?",
    "I'm vegetarian by the way, so no bacon",
    "translate 'see you on Thursday' into Portuguese",
    "and into French?",
    "perfect",
    "how warm will it be in Lisbon tomorrow?",
    "my sister lives there, we visit her in May",
    "remind me what the capital of Slovenia is",
    "ok",
    "write a short birthday wish for my colleague Rui",
    "a bit funnier please",
    "great, thank you!",
    "why is the sky blue?",
    "explain it to a child of five",
    "how many ml are in a cup?",
    "I play the cello in an amateur orchestra, any tips against cold fingers?",
    "what is 17% of 2,340?",
    "good morning",
    "summarise: the meeting moved to Tuesday at ten, bring the figures of the third quarter and call Jana before",
    "which of these is correct: affect or effect?",
    "give me three names for a grey cat",
    "the second one is nice",
    "how do I remove red wine from a carpet?",
    "it did not work, anything else?",
    "I work nights at the hospital this month, when should I sleep?",
    "what's a good podcast about history?",
    "is oat milk healthy?",
    "lol",
    "convert 5 miles into km",
    "my train is late again",
    "can you check this sentence: He go to school every days.",
    "what does 'serendipity' mean?",
    "I have moved to Porto last week",
    "a packing list for three days in the mountains?",
    "how do I say no politely to an invitation?",
    "good night",
    "who wrote The Master and Margarita?",
];

/// Answers in two or three sentences.
struct Plain {
    writes_json: bool,
}

impl Plain {
    fn unread(&self) -> Option<ModelReply> {
        (!self.writes_json).then(|| ModelReply::text("Sure! Here is what I think about that."))
    }
}

impl Brain for Plain {
    fn answer(&self, _request: &ModelRequest) -> ModelReply {
        ModelReply::text(
            "Here is a short answer that says the useful thing first. It goes on with a sentence that gives the reason and \
             one figure, and ends with what to do next, such as trying it with a little less salt the second time.",
        )
    }

    fn extract(&self, _request: &ModelRequest) -> Option<ModelReply> {
        self.unread()
    }

    fn summarise(&self, _request: &ModelRequest) -> Option<ModelReply> {
        self.unread()
    }
}

#[tokio::main]
async fn main() {
    drop(rustls::crypto::ring::default_provider().install_default());
    let words = tiktoken_rs::o200k_base().unwrap();
    for (what, writes_json, most) in
        [("a model that does as it is told", true, 1.15), ("a model that never writes JSON", false, 1.05)]
    {
        let model = run(writes_json).await;
        print(what, most, &model, &words);
    }
}

/// All that the model was asked while five people wrote.
async fn run(writes_json: bool) -> OfflineModel {
    let runtime = Runtime::system();
    let telegram = OfflineTelegram::start(listener().await, TelegramOptions::default(), &runtime).unwrap();
    let model = OfflineModel::start(listener().await, Arc::new(Plain { writes_json }), &runtime).unwrap();
    let ids: Vec<i64> = (21..).take(PEOPLE.len()).collect();
    for (id, name) in ids.iter().zip(PEOPLE) {
        telegram.add_user(Person::new(*id, name));
        telegram.add_private(*id).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("TELEGRAM_RATES", "off"),
        ("ACCESS", "open"),
        ("SESSION_NAMES", "on"),
        ("SUMMARY_EVERY", "50"),
        ("MEMORY_LIMIT", "50"),
        ("MEMORY_DELAY", "1"),
        // A service, as most are: where one question at a time is answered, the next one would end a name and begin it anew.
        ("LLM_SLOTS", "1000"),
    ];
    let mut bot = start_bot_with(&telegram, &model, folder.path(), &settings);
    join_all(ids.iter().enumerate().map(|(at, id)| talk(&telegram, *id, at))).await;
    tokio::time::sleep(BETWEEN_SITTINGS * 2).await;
    bot.kill().unwrap();
    bot.wait().unwrap();
    runtime.stop();
    model
}

/// One person sends all everyday messages, from another one on than the others.
async fn talk(telegram: &OfflineTelegram, id: i64, person: usize) {
    let mut sitting = SITTINGS.iter().cycle().skip(person);
    let mut left = 0;
    for at in 0..EVERYDAY.len() {
        if left == 0 {
            tokio::time::sleep(BETWEEN_SITTINGS).await;
            left = *sitting.next().unwrap();
        }
        left -= 1;
        let before = telegram.view(|view| view.bot_messages(id).len());
        telegram.say(id, id, EVERYDAY[(at + person * 8) % EVERYDAY.len()]).unwrap();
        let seen = |view: &TelegramView<'_>| (view.bot_messages(id).len() > before).then_some(());
        telegram.wait_until(WAIT_TIMEOUT, seen).await.expect("the bot answers");
    }
}

fn print(what: &str, most: f64, model: &OfflineModel, words: &CoreBPE) {
    let kinds = [
        ("answers", model.requests()),
        ("facts", model.extraction_requests()),
        ("names", model.naming_requests()),
        ("summaries", model.summary_requests()),
    ];
    let messages = PEOPLE.len() * EVERYDAY.len();
    let calls: usize = kinds.iter().map(|(_, requests)| requests.len()).sum();
    let tokens = |requests: &[ModelRequest]| -> usize {
        requests.iter().map(|request| words.encode_ordinary(&request.body.to_string()).len()).sum()
    };
    let all: usize = kinds.iter().map(|(_, requests)| tokens(requests)).sum();
    let each = calls as f64 / messages as f64;
    println!("{messages} everyday messages of {} people, {what}", PEOPLE.len());
    println!("  calls a message: {each:.2} (target: at most {most})");
    println!("  | calls for | number | tokens sent | share |");
    println!("  |---|---:|---:|---:|");
    for (kind, requests) in &kinds {
        let sent = tokens(requests);
        println!("  | {kind} | {} | {sent} | {:.1} % |", requests.len(), sent as f64 / all as f64 * 100.0);
    }
    let beside = all - tokens(&kinds[0].1);
    println!(
        "  beside answers: {:.1} % of the tokens (target: at most 15)",
        beside as f64 / all as f64 * 100.0
    );
}
