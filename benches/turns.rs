//! How much of a turn's time is Figaro's own: the real release binary against the offline Telegram and model, which note
//! when they are asked and when they answer. `cargo bench --bench turns` prints
//!
//! - the time from the model's first words to the first visible ones, in a private chat and in one of others;
//! - what 50 chats at once wait for Figaro beyond the model's own time, from their message to the answer, with the pace of
//!   the rate limiter lifted: on a store in memory, and on one on disk beside the time of a bare fsync there;
//! - the same while a conversation is summarised after every 4 messages, and while every question is read for facts about whoever
//!   asks, each beside a bot that does neither, in alternating rounds;
//! - what the rate limiter at Telegram's own pace adds.
//!
//! Everything runs on the same machine, the two servers among it: their time is in the figures.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking"
)]

mod support;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use figaro_base::shutdown::TaskTracker;
use figaro_offline::Runtime;
use figaro_offline::model::{Gate, ModelReply, ModelRequest, OfflineModel};
use figaro_offline::telegram::{OfflineTelegram, Person, TelegramOptions};
use tokio::sync::mpsc;

use support::watch::{Seen, What, watch};
use support::{OWNER, fsyncs, listener, percentile, print, start_bot_with};

const WAIT_TIMEOUT: Duration = Duration::from_secs(30);
const FIRST_WORDS: usize = 60;
const CHATS: i64 = 50;
const ROUNDS: usize = 20;
/// The model pauses so long before each word, the first too: that is its own time.
const WORD: Duration = Duration::from_millis(20);
/// How long a model thinks.
const THINKS: Duration = Duration::from_millis(600);
/// At the pace of Telegram a chat asks so seldom that all of them stay below it.
const SELDOM: Duration = Duration::from_secs(6);
/// Work in the background, the variable that sets it, and the value with which it is done all the time; 0 turns it off.
const WORKS: [(&str, &str, &str); 2] =
    [("summaries", "SUMMARY_EVERY", "4"), ("reading of facts", "MEMORY_LIMIT", "50")];

/// It may hold a fact, and is read for one where memories are kept. The offline model proposes none, so that requests stay the same.
const QUESTION: &str = "Since spring I live in Riga with two dogs.";

/// What a chat hears of its turn.
#[derive(Debug)]
enum Heard {
    Asked(Instant, Gate),
    Drafted(Instant),
    Answered(Instant),
}

type Chats = Arc<Mutex<HashMap<i64, mpsc::UnboundedSender<Heard>>>>;

struct World {
    telegram: OfflineTelegram,
    model: OfflineModel,
    chats: Chats,
    runtime: Runtime,
    bot: std::process::Child,
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
    let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let folder = |within: &tempfile::TempDir, name: &str| {
        let folder = within.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        folder
    };
    let world = World::start(&folder(&disk, "first"), 1, "off").await;
    let times = first_words(&world, OWNER).await;
    print("first visible words after the model's first (target: p50 20 ms)", times);
    let times = first_words(&world, 0).await;
    print("the same after a question from a chat that the bot is no member of (target: 100 ms)", times);
    drop(world);
    println!("what {CHATS} chats at once wait beyond the model's own time (target: p50 5 ms, gate lifted)");
    let pause = Duration::ZERO;
    for (words, within) in [("store in memory", &memory), ("store on disk", &disk)] {
        let world = World::start(&folder(within, "many"), CHATS, "off").await;
        print(words, turns(&world, pause).await);
    }
    print("a bare fsync on that disk", fsyncs(disk.path()));
    let world = World::start(&folder(&disk, "checks"), 1, "off").await;
    print("the offline model's own check of a request, a part of the above", checks(&world).await);
    drop(world);
    for (work, variable, often) in WORKS {
        let off = WORKS.map(|(_, variable, _)| (variable, "0"));
        let on = off.map(|(one, off)| (one, if one == variable { often } else { off }));
        let [idle, busy] = [(format!("no {work}"), off), (work.to_owned(), on)];
        beside(work, (&folder(&disk, &idle.0), &idle.1), (&folder(&disk, &busy.0), &busy.1)).await;
    }
    println!("and at a pace below Telegram's, a question every {} s", SELDOM.as_secs());
    for (words, rates) in [("gate lifted", "off"), ("gate at Telegram's pace", "telegram")] {
        let world = World::start(&folder(&disk, words), CHATS, rates).await;
        print(words, turns(&world, SELDOM).await);
    }
}

impl World {
    async fn start(folder: &Path, chats: i64, rates: &str) -> Self {
        Self::with(folder, chats, &[("TELEGRAM_RATES", rates), ("MEMORY_LIMIT", "0")]).await
    }

    async fn with(folder: &Path, chats: i64, settings: &[(&str, &str)]) -> Self {
        let runtime = Runtime::system();
        let telegram =
            OfflineTelegram::start(listener().await, TelegramOptions::default(), &runtime).unwrap();
        let heard: Chats = Chats::default();
        for chat in OWNER..OWNER + chats {
            telegram.add_user(Person::new(chat, "Someone"));
            telegram.add_private(chat).unwrap();
        }
        let brain = brain(Arc::clone(&heard));
        let model = OfflineModel::start(listener().await, Arc::new(brain), &runtime).unwrap();
        listen(&telegram, Arc::clone(&heard));
        let settings = [&[("ACCESS", "open")], settings].concat();
        let bot = start_bot_with(&telegram, &model, folder, &settings);
        Self { telegram, model, chats: heard, runtime, bot }
    }

    fn join(&self, chat: i64) -> mpsc::UnboundedReceiver<Heard> {
        let (heard, hears) = mpsc::unbounded_channel();
        self.chats.lock().unwrap().insert(chat, heard);
        hears
    }
}

/// Answers when the chat that asks opens the gate. A question names its chat.
fn brain(chats: Chats) -> impl Fn(&ModelRequest) -> ModelReply + Send + Sync {
    move |request| {
        let asked = Instant::now();
        let said = request.user_text();
        let chat = said.rsplit("chat=").next().and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        let gate = Gate::new();
        tell(&chats, chat.unwrap_or(OWNER), Heard::Asked(asked, gate.clone()));
        let words = "Some words of an answer that grows as it is written. ".repeat(4);
        let reply = ModelReply::text(&words).behind(&gate);
        if said.contains("slowly") { reply.paced(0, WORD) } else { reply }
    }
}

fn tell(chats: &Chats, chat: i64, heard: Heard) {
    if let Some(listener) = chats.lock().unwrap().get(&chat) {
        drop(listener.send(heard));
    }
}

/// Passes on when drafts with words and answers reach Telegram.
fn listen(telegram: &OfflineTelegram, chats: Chats) {
    let mut seen = watch(telegram);
    TaskTracker::new().spawn("listen", async move {
        while let Some(Seen { chat, at, what }) = seen.recv().await {
            let heard = match what {
                What::Draft(_) => Heard::Drafted(at),
                What::Message => Heard::Answered(at),
            };
            tell(&chats, chat, heard);
        }
    });
}

async fn next(hears: &mut mpsc::UnboundedReceiver<Heard>) -> Heard {
    tokio::time::timeout(WAIT_TIMEOUT, hears.recv())
        .await
        .expect("something happens in time")
        .expect("it is open")
}

/// Sends a question typed after the bot's name in a chat that it is no member of.
async fn ask_elsewhere(world: &World) {
    let query = world.telegram.inline_query(OWNER, "slowly please chat=0 ").unwrap();
    let offered =
        world.telegram.wait_until(WAIT_TIMEOUT, |view| view.query_answer(&query)).await.expect("an offer");
    let result = offered["results"][0]["id"].as_str().expect("a result").to_owned();
    world.telegram.choose(&query, &result).unwrap();
}

/// Asks in this chat; 0 stands for one that the bot is no member of.
async fn first_words(world: &World, chat: i64) -> Vec<Duration> {
    let mut hears = world.join(chat);
    let mut times = Vec::new();
    for round in 0..=FIRST_WORDS {
        match chat {
            0 => ask_elsewhere(world).await,
            _ => drop(world.telegram.say(chat, chat, &format!("slowly please chat={chat} ")).unwrap()),
        }
        let mut opened = None;
        let mut seen = None;
        loop {
            match next(&mut hears).await {
                Heard::Asked(_, gate) => {
                    // Some think for long, some answer at once.
                    tokio::time::sleep(Duration::from_millis(u64::try_from(round % 6).unwrap() * 90)).await;
                    opened = Some(Instant::now());
                    gate.open();
                }
                Heard::Drafted(at) => seen = seen.or(Some(at)),
                Heard::Answered(_) => break,
            }
        }
        let time = seen.expect("a draft with words") - opened.expect("the model was asked");
        let time = time.saturating_sub(WORD);
        // The first turn opens connections.
        if round > 0 {
            times.push(time);
        }
    }
    times
}

/// Every chat asks again and again; what each turn took beyond what the model thought.
async fn turns(world: &World, pause: Duration) -> Vec<Duration> {
    let rounds = if pause.is_zero() { ROUNDS } else { 4 };
    let mut all = Vec::new();
    let (done, mut times) = mpsc::unbounded_channel();
    for chat in OWNER..OWNER + CHATS {
        let mut hears = world.join(chat);
        let (telegram, done) = (world.telegram.clone(), done.clone());
        let share = u32::try_from(chat - OWNER).unwrap();
        let stagger = if pause.is_zero() { THINKS } else { pause } / u32::try_from(CHATS).unwrap() * share;
        drop(tokio::spawn(async move {
            tokio::time::sleep(stagger).await;
            for round in 0..=rounds {
                let said = Instant::now();
                telegram.say(chat, chat, &format!("{QUESTION} chat={chat} ")).unwrap();
                let Heard::Asked(asked, gate) = next(&mut hears).await else { panic!("nobody was asked") };
                tokio::time::sleep(THINKS).await;
                let opened = Instant::now();
                gate.open();
                let answered = loop {
                    if let Heard::Answered(at) = next(&mut hears).await {
                        break at;
                    }
                };
                if round > 0 {
                    done.send((asked - said) + (answered - opened)).unwrap();
                }
                tokio::time::sleep(pause).await;
            }
        }));
    }
    drop(done);
    while let Some(time) = times.recv().await {
        all.push(time);
    }
    assert_eq!(all.len(), rounds * usize::try_from(CHATS).unwrap(), "every turn ended");
    all
}

/// A bot's folder and settings.
type Recipe<'a> = (&'a Path, &'a [(&'a str, &'a str)]);

/// Turns of a bot that works in the background all the time beside those of one that never does.
async fn beside(work: &str, idle: Recipe<'_>, busy: Recipe<'_>) {
    let pace = [("TELEGRAM_RATES", "off")];
    let [idle, busy] = [idle, busy].map(|(folder, work)| (folder, [&pace[..], work].concat()));
    let worlds = (World::with(idle.0, CHATS, &idle.1).await, World::with(busy.0, CHATS, &busy.1).await);
    let (mut idle, mut busy) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        idle.extend(turns(&worlds.0, Duration::ZERO).await);
        busy.extend(turns(&worlds.1, Duration::ZERO).await);
    }
    let calls =
        |world: &World| world.model.summary_requests().len() + world.model.extraction_requests().len();
    println!(
        "and with {work}, {} calls of the model against {} without, in alternating rounds (target: p50 at most 5 % higher)",
        calls(&worlds.1),
        calls(&worlds.0),
    );
    let middle = |times: &[Duration]| {
        let mut times = times.to_vec();
        times.sort();
        percentile(&times, 0.5).as_secs_f64()
    };
    let (own, of_idle) = (middle(&busy) / middle(&idle) - 1.0, middle(&idle) + THINKS.as_secs_f64());
    let whole = (middle(&busy) + THINKS.as_secs_f64()) / of_idle - 1.0;
    print(&format!("without {work}"), idle);
    print(&format!("with {work}"), busy);
    println!("  p50 higher by {:.1} % of Figaro's own time, {:.2} % of the turn", own * 100.0, whole * 100.0);
}

/// How long the offline model takes from a request's arrival until it counts as asked.
async fn checks(world: &World) -> Vec<Duration> {
    let mut hears = world.join(OWNER);
    world.telegram.say(OWNER, OWNER, &format!("a question chat={OWNER} ")).unwrap();
    let Heard::Asked(_, gate) = next(&mut hears).await else { panic!("nobody was asked") };
    gate.open();
    let body = world.model.requests().pop().expect("a request").body;
    drop(rustls::crypto::ring::default_provider().install_default());
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut times = Vec::new();
    while times.len() < 100 {
        let request = http.post(format!("{}/responses", world.model.url())).bearer_auth("sk").json(&body);
        let began = Instant::now();
        let sending = tokio::spawn(request.send());
        let (asked, gate) = loop {
            if let Heard::Asked(at, gate) = next(&mut hears).await {
                break (at, gate);
            }
        };
        times.push(asked - began);
        gate.open();
        drop(sending.await);
    }
    times
}
