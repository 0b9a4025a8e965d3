//! What documents cost: `cargo bench --bench documents` prints, for the files of a folder by kind,
//!
//! - the time in which `figaro extract`, a process for each file as in the bot, reads them, by MB of file and of text;
//! - the bytes of memory that the index of their text takes, and the bytes of disk of the store, by MB of text;
//! - the time of the first search, which builds the index, and of further ones.
//!
//! `BENCH_DOCUMENTS` names the folder; without it, the one into which `tests/documents/run` fetches. `BENCH_FIGARO` names another
//! build, such as `target/dist/figaro`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking"
)]

mod support;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use chrono::{DateTime, NaiveDate};
use figaro_base::ids::{BotId, ChatId, UserId};
use figaro_domain::document::{Document, DocumentSource, Extracted, Extraction};
use figaro_memory::{DocumentSearch, PassageQuery};
use figaro_store::Store;

use support::{percentile, store_url};

const CHAT: ChatId = ChatId(1);
const QUESTIONS: [&str; 5] = [
    "What does the table show?",
    "Who is the author?",
    "How is the error computed?",
    "total revenue",
    "license",
];
const ROUNDS: usize = 40;

#[derive(Default)]
struct Kind {
    files: usize,
    bytes: u64,
    text: usize,
    took: Duration,
    unread: usize,
}

#[tokio::main]
async fn main() {
    let folder = std::env::var_os("BENCH_DOCUMENTS").map_or_else(fetched, PathBuf::from);
    let Ok(entries) = fs::read_dir(&folder) else {
        println!("no folder {}: tests/documents/run fetches one", folder.display());
        return;
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut kinds, mut read) = (BTreeMap::<String, Kind>::new(), Vec::new());
    for path in files.iter().filter(|path| path.extension().is_some()) {
        let of = kinds.entry(path.extension().unwrap().to_string_lossy().into_owned()).or_default();
        of.files += 1;
        of.bytes += fs::metadata(path).unwrap().len();
        match extract(path, of) {
            Ok(extracted) => {
                of.text += extracted.passages.iter().map(|passage| passage.text.len()).sum::<usize>();
                read.push(extracted);
            }
            Err(_reason) => of.unread += 1,
        }
    }
    println!("kind   files  unread   KB of file   KB of text   ms by MB of file   ms by MB of text");
    for (kind, of) in &kinds {
        let by = |bytes: f64| of.took.as_secs_f64() * 1e3 / (bytes / 1e6);
        println!(
            "{kind:5} {:6} {:7} {:12.0} {:12.0} {:18.0} {:18.0}",
            of.files,
            of.unread,
            of.bytes as f64 / 1e3,
            of.text as f64 / 1e3,
            by(of.bytes as f64),
            by(of.text as f64),
        );
    }
    index(&read).await;
}

/// Returns the folder of `tests/documents/run`.
fn fetched() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/documents")
}

/// Reads a file as the bot does, in a child process.
fn extract(path: &Path, of: &mut Kind) -> Extraction {
    let program = std::env::var_os("BENCH_FIGARO");
    let program = program.unwrap_or_else(|| OsString::from(env!("CARGO_BIN_EXE_figaro")));
    let begun = Instant::now();
    let mut command = Command::new(program);
    command.arg("extract").arg(path.file_name().unwrap()).env_clear();
    command.env("MIMALLOC_ARENA_RESERVE", "0").env("RAYON_NUM_THREADS", "1");
    let output = command.stdin(Stdio::from(File::open(path).unwrap())).output().unwrap();
    of.took += begun.elapsed();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Prints what the text of all documents takes, as those of one chat.
async fn index(read: &[Extracted]) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = Store::open(&store_url(folder.path().join("data")), BotId(1)).await.unwrap();
    let text: usize = read.iter().flat_map(|one| &one.passages).map(|passage| passage.text.len()).sum();
    for extracted in read {
        store.documents().add(document(extracted), &extracted.passages).await.unwrap();
    }
    let search = DocumentSearch::new(store.documents());
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let query = PassageQuery {
            chat: CHAT,
            document: None,
            text: QUESTIONS[round % QUESTIONS.len()],
            today: NaiveDate::from_ymd_opt(2026, 11, 1).unwrap(),
            limit: 8,
        };
        let begun = Instant::now();
        search.search(query).await.unwrap();
        times.push(begun.elapsed());
    }
    let (first, mut later) = (times[0], times[1..].to_vec());
    later.sort();
    let disk: u64 = walk(folder.path());
    let by_megabyte = |bytes: f64| bytes / (text as f64 / 1e6) / 1e6;
    println!("one chat with the text of {} documents, {:.1} MB", read.len(), text as f64 / 1e6);
    println!("  the index takes {:.2} MB of memory by MB of text", by_megabyte(search.bytes() as f64));
    println!("  the store takes {:.2} MB of disk by MB of text", by_megabyte(disk as f64));
    println!(
        "  the first search, which builds the index: {:.0} ms; {} further ones: p50 {:.2} ms, p95 {:.2} ms",
        first.as_secs_f64() * 1e3,
        later.len(),
        percentile(&later, 0.5).as_secs_f64() * 1e3,
        percentile(&later, 0.95).as_secs_f64() * 1e3,
    );
}

/// Returns the size of all files in a folder, in bytes.
fn walk(folder: &Path) -> u64 {
    let sizes = fs::read_dir(folder).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let about = entry.metadata().unwrap();
        if about.is_dir() { walk(&entry.path()) } else { about.len() }
    });
    sizes.sum()
}

fn document(extracted: &Extracted) -> Document {
    let source = DocumentSource { telegram: None, session: None, turn: None, sender: UserId::telegram(1) };
    Document::new(CHAT, "", extracted, source, DateTime::UNIX_EPOCH)
}
