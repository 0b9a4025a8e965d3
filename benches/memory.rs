//! What the memory of a chat costs: `cargo bench --bench memory` prints, for chats of 1,000, 10,000 and 100,000 messages,
//!
//! - how many messages a second are imported, with their index, by the real release binary;
//! - the time of the first question after a start, which reads the index, and of 1,000 further ones;
//! - the memory that the index takes while the chat is talked in, and the tokens of a context.
//!
//! `BENCH_EMBEDDER` names the folder of a local sentence model: then the rate at which it makes vectors of messages is printed too,
//! on one core (`taskset`). `BENCH_FIGARO` must be a build that has it, such as `target/dist/figaro`.
//!
//! The messages are made up, of words as common as in texts of people. How much is found is measured on public conversations:
//! `docs/memory.md`. What a request repeats of the one before is measured by `--bench prompt`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking"
)]

mod support;

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use support::percentile;

const CHATS: [usize; 3] = [1_000, 10_000, 100_000];
const QUESTIONS: usize = 1_001;
/// So many messages get vectors.
const EMBEDDED: usize = 2_000;
const BUDGET: &str = "3000";
const SPEAKERS: [&str; 4] = ["Ann", "Bob", "Carol", "Dmitri"];
/// Little words, the commonest of each text.
const LITTLE: [&str; 40] = [
    "the", "to", "and", "a", "of", "in", "I", "it", "is", "that", "you", "for", "was", "on", "with", "my",
    "we", "have", "are", "be", "at", "so", "but", "me", "not", "this", "they", "had", "he", "she", "what",
    "from", "as", "or", "all", "will", "do", "there", "how", "when",
];
/// So many words there are; the one of rank n comes about 1/n as often as the first (Zipf's law).
const WORDS: f64 = 30_000.0;
const SYLLABLES: [&str; 10] = ["ba", "do", "fe", "ki", "lu", "mo", "ne", "ra", "si", "tu"];

/// Numbers that are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn word(&mut self) -> String {
        let share = self.below(1 << 24) as f64 / f64::from(1 << 24);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 30,000")]
        let rank = WORDS.powf(share) as usize - 1;
        if let Some(little) = LITTLE.get(rank) {
            return (*little).to_owned();
        }
        rank.to_string().bytes().map(|digit| SYLLABLES[usize::from(digit - b'0')]).collect()
    }

    fn words(&mut self, count: usize) -> String {
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }
}

fn main() {
    if let Some(model) = std::env::var_os("BENCH_EMBEDDER") {
        vectors(&model);
    }
    for messages in CHATS {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        measure(folder.path(), messages);
    }
}

fn measure(folder: &Path, messages: usize) {
    println!("a chat of {messages} messages");
    let mut chance = Chance(messages as u64);
    said(folder, &mut chance, messages);
    let begun = Instant::now();
    memory(folder, &["import", "--store", "./data", "said.jsonl"]);
    let rate = messages as f64 / begun.elapsed().as_secs_f64();
    println!("  imported, from start to end of the process: {rate:.0} messages a second");

    let mut asked = String::new();
    for at in 0..QUESTIONS {
        let words = chance.below(10) + 5;
        let question = json!({"question_id": at, "conversation_id": "chat", "question": chance.words(words)});
        writeln!(asked, "{question}").unwrap();
    }
    std::fs::write(folder.join("asked.jsonl"), asked).unwrap();
    let args = ["recall", "--store", "./data", "--batch", "asked.jsonl", "--budget", BUDGET, "--json"];
    let lines: Vec<Value> =
        memory(folder, &args).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let times: Vec<Duration> = lines
        .iter()
        .map(|line| Duration::from_secs_f64(line["took_ms"].as_f64().unwrap() / 1000.0))
        .collect();
    let tokens: u64 = lines.iter().map(|line| line["tokens"].as_u64().unwrap()).sum();
    let mut warm = times[1..].to_vec();
    warm.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|share| ms(percentile(&warm, share)));
    println!("  the first question after a start: {:.1} ms", ms(times[0]));
    println!("  {} further ones: p50 {p50:.2} ms, p95 {p95:.2} ms, p99 {p99:.2} ms", warm.len());
    println!("  a context has {} tokens on average, of {BUDGET}", tokens / lines.len() as u64);

    let stats: Value =
        serde_json::from_str(&memory(folder, &["stats", "--store", "./data", "--json"])).unwrap();
    println!(
        "  the index takes {} bytes of memory, the store {} bytes of disk",
        stats["index_bytes"], stats["bytes_on_disk"]
    );
}

/// The first question has a vector made of each message, the second finds them made.
fn vectors(model: &OsStr) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = folder.path();
    said(folder, &mut Chance(1), EMBEDDED);
    memory(folder, &["import", "--store", "./data", "said.jsonl"]);
    let mut embedder = OsString::from("local:");
    embedder.push(model);
    let ask = || {
        let begun = Instant::now();
        let mut taskset = Command::new("taskset");
        taskset
            .current_dir(folder)
            .env_clear()
            .env("EMBEDDER", &embedder)
            .args(["--cpu-list", "0"])
            .arg(program());
        taskset.args([
            "memory",
            "recall",
            "--store",
            "./data",
            "--conversation",
            "chat",
            "Where is the ferry?",
        ]);
        let output = taskset.output().expect("taskset is installed (Debian: util-linux)");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        begun.elapsed()
    };
    let (first, second) = (ask(), ask());
    let rate = EMBEDDED as f64 / (first - second).as_secs_f64();
    println!("the local sentence model: {rate:.0} messages a second on one core");
}

/// Sittings of 20 messages, a day apart.
fn message(at: usize, chance: &mut Chance) -> Value {
    let time = chrono::DateTime::UNIX_EPOCH
        + chrono::TimeDelta::days(i64::try_from(at / 20).unwrap())
        + chrono::TimeDelta::minutes(i64::try_from(at % 20).unwrap());
    let words = chance.below(24) + 4;
    let speaker = SPEAKERS[chance.below(SPEAKERS.len())];
    json!({"id": at, "speaker": speaker, "text": chance.words(words), "timestamp": time.to_rfc3339()})
}

/// Writes the file of a conversation of so many messages.
fn said(folder: &Path, chance: &mut Chance, messages: usize) {
    let said: Vec<Value> = (0..messages).map(|at| message(at, chance)).collect();
    let line = json!({"conversation_id": "chat", "messages": said}).to_string();
    std::fs::write(folder.join("said.jsonl"), line).unwrap();
}

fn program() -> OsString {
    std::env::var_os("BENCH_FIGARO").unwrap_or_else(|| env!("CARGO_BIN_EXE_figaro").into())
}

/// Runs `figaro memory` in this folder and gives what it printed.
fn memory(folder: &Path, args: &[&str]) -> String {
    let output =
        Command::new(program()).current_dir(folder).env_clear().arg("memory").args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
