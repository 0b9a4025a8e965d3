//! Documents that other programs wrote, in the folder that `FIGARO_DOCUMENTS` names; `tests/documents/run` fetches them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, NaiveDate};
use figaro_base::ids::{BotId, ChatId, UserId};
use figaro_domain::document::{Document, DocumentSource, Extracted, Extraction, Passage, Unreadable};
use figaro_memory::{DocumentSearch, FoundPassage, PassageQuery};
use figaro_store::Store;
use serde::Deserialize;

/// Damaged files, most memory of a reader in MB, and most time for one.
const DAMAGED: u64 = 300;
const MAX_PEAK: f64 = 300.0;
const MAX_TIME: Duration = Duration::from_secs(30);
/// Passages among which the words have to be.
const FOUND: usize = 8;
/// Least share of questions whose passage is found.
const LEAST: f64 = 0.98;

#[derive(Debug, Deserialize)]
struct Asked {
    file: String,
    question: String,
    page: Option<String>,
    words: String,
}

/// Text of a file, with the time and memory that reading it took.
struct Read {
    extraction: Extraction,
    took: Duration,
    /// Most memory of the process, in MB.
    peak: f64,
}

fn read(path: &Path) -> Read {
    read_as(path, fs::read(path).unwrap())
}

/// Reads bytes as the file with this name.
fn read_as(path: &Path, bytes: Vec<u8>) -> Read {
    let name = path.file_name().unwrap();
    let begun = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_figaro"));
    command.arg("extract").arg(name).env_clear();
    command.env("MIMALLOC_ARENA_RESERVE", "0").env("RAYON_NUM_THREADS", "1");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let sending = thread::spawn(move || drop(stdin.write_all(&bytes)));
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let watching = thread::spawn(move || {
        let mut peak = 0.0_f64;
        while let Ok(status) = fs::read_to_string(&status) {
            let Some(line) = status.lines().find(|line| line.starts_with("VmHWM:")) else { break };
            peak = peak.max(line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 1.024 / 1000.0);
            thread::sleep(Duration::from_millis(5));
        }
        peak
    });
    let output = child.wait_with_output().unwrap();
    let took = begun.elapsed();
    sending.join().unwrap();
    // A reader that breaks off writes nothing: the bot says that the file is damaged or too large.
    let extraction = match output.stdout.as_slice() {
        [] => Err(Unreadable::Damaged),
        json => serde_json::from_slice(json).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    };
    Read { extraction, took, peak: watching.join().unwrap() }
}

fn document(name: &str, extracted: &Extracted) -> Document {
    let source = DocumentSource { telegram: None, session: None, turn: None, sender: UserId::telegram(1) };
    Document::new(ChatId(1), name, extracted, source, DateTime::UNIX_EPOCH)
}

/// A text without what readers may show otherwise: blanks, hyphens, separators of cells.
fn plain(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_whitespace() && !"-‐‑|\u{ad}\u{fffd}".contains(*c))
        .collect::<String>()
        .to_lowercase()
}

fn has(passage: &Passage, asked: &Asked) -> bool {
    let is_there = match asked.page.as_deref().map(|page| page.parse::<u32>()) {
        Some(Ok(page)) => passage.part == page,
        Some(Err(_sheet)) => passage.place.starts_with(asked.page.as_deref().unwrap()),
        None => true,
    };
    is_there && plain(&passage.text).contains(&plain(&asked.words))
}

#[derive(Default)]
struct Kind {
    files: usize,
    bytes: u64,
    took: Duration,
    peak: f64,
    asked: usize,
    read: usize,
    found: usize,
    first: usize,
}

impl Kind {
    /// Asks the questions about a document.
    async fn ask(&mut self, path: &Path, extracted: &Extracted, questions: &[&Asked]) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let store = Store::in_memory(BotId(1));
        let document = document(name, extracted);
        store.documents().add(document, &extracted.passages).await.unwrap();
        let search = DocumentSearch::new(store.documents());
        for asked in questions {
            if !extracted.passages.iter().any(|passage| has(passage, asked)) {
                println!("{name}: not read: {:?} at {:?}", asked.words, asked.page);
                continue;
            }
            self.read += 1;
            let query = PassageQuery {
                chat: ChatId(1),
                document: None,
                text: &asked.question,
                today: NaiveDate::from_ymd_opt(2026, 11, 1).unwrap(),
                limit: FOUND,
            };
            let found: Vec<FoundPassage> = search.search(query).await.unwrap();
            match found.iter().position(|found| has(&found.passage, asked)) {
                Some(at) => {
                    self.found += 1;
                    self.first += usize::from(at == 0);
                }
                None => println!("{name}: not found: {:?} -> {:?}", asked.question, asked.words),
            }
        }
    }
}

/// Prints the figures of each kind, and returns how many questions were asked and found.
fn print(kinds: &BTreeMap<String, Kind>) -> (usize, usize) {
    println!("\nkind   files     KB   ms/MB  peak MB  asked  read  found  first");
    let (mut all, mut found) = (0, 0);
    for (kind, of) in kinds {
        let megabytes = of.bytes as f64 / 1e6;
        println!(
            "{kind:5} {:6} {:6.0} {:7.0} {:8.0} {:6} {:5} {:6} {:6}",
            of.files,
            megabytes * 1e3,
            of.took.as_secs_f64() * 1e3 / megabytes,
            of.peak,
            of.asked,
            of.read,
            of.found,
            of.first,
        );
        all += of.asked;
        found += of.found;
    }
    (all, found)
}

/// Damages a file: bytes are changed, a piece is repeated or taken out, or the end is missing.
fn damaged(mut bytes: Vec<u8>, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut below = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % end.max(1)
    };
    for _ in 0..=below(8) {
        let (at, length) = (below(bytes.len()), below(2_000));
        let piece = at..(at + length).min(bytes.len());
        match below(12) {
            0 => bytes.truncate(at.max(1)),
            1 => drop(bytes.splice(piece.clone(), Vec::new())),
            2 => {
                let twice = bytes[piece.clone()].repeat(2);
                drop(bytes.splice(piece, twice));
            }
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 0x55),
        }
    }
    bytes
}

#[test]
#[ignore = "needs the documents: tests/documents/run"]
fn no_damage_takes_a_reader_beyond_its_limits() {
    let mut files = files();
    files.retain(|path| path.extension().is_some_and(|kind| kind != "txt" && kind != "csv"));
    let (mut peak, mut slowest, mut read_at_all) = (0.0_f64, Duration::ZERO, 0);
    for seed in 0..DAMAGED {
        let path = &files[usize::try_from(seed).unwrap() % files.len()];
        let done = read_as(path, damaged(fs::read(path).unwrap(), seed));
        assert!(
            done.peak <= MAX_PEAK && done.took <= MAX_TIME,
            "{}, {seed}: {:.0} MB, {:?}",
            path.display(),
            done.peak,
            done.took
        );
        (peak, slowest) = (peak.max(done.peak), slowest.max(done.took));
        read_at_all += usize::from(done.extraction.is_ok());
    }
    println!("{DAMAGED} damaged files: {read_at_all} read in part, at most {peak:.0} MB and {slowest:.1?}");
}

/// Returns the files that `tests/documents/run` fetched.
fn files() -> Vec<PathBuf> {
    let folder =
        PathBuf::from(std::env::var_os("FIGARO_DOCUMENTS").expect("FIGARO_DOCUMENTS names the folder"));
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test]
#[ignore = "needs the documents: tests/documents/run"]
async fn real_documents_are_read_and_what_stands_in_them_is_found() {
    let asked = include_str!("../documents/questions.json");
    let asked: Vec<Asked> = serde_json::from_str(asked).unwrap();
    let mut kinds: BTreeMap<String, Kind> = BTreeMap::new();
    for path in files() {
        let (name, kind) =
            (path.file_stem().unwrap().to_str().unwrap(), path.extension().unwrap().to_str().unwrap());
        let Read { extraction, took, peak } = read(&path);
        let of = kinds.entry(kind.to_owned()).or_default();
        of.files += 1;
        of.bytes += fs::metadata(&path).unwrap().len();
        of.took += took;
        of.peak = of.peak.max(peak);
        let questions: Vec<&Asked> = asked.iter().filter(|asked| asked.file == name).collect();
        of.asked += questions.len();
        match extraction {
            Ok(extracted) => of.ask(&path, &extracted, &questions).await,
            Err(reason) => println!("{name}.{kind}: {reason}"),
        }
        if took > Duration::from_secs(3) {
            println!("{name}.{kind}: {:.1} s", took.as_secs_f64());
        }
    }
    let (all, found) = print(&kinds);
    println!("{found} of {all} found among {FOUND} passages: {:.1} %", 100.0 * found as f64 / all as f64);
    assert!(found as f64 >= LEAST * all as f64, "{found} of {all}");
}
