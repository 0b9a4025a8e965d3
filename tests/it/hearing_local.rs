//! A Whisper model in a folder. The tests of a real one run where `FIGARO_HEARING` names its folder, with `tests/hearing/run`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::Say;
use figaro_provider::ProviderError;
use figaro_provider::local_transcribe::LocalTranscriber;
use figaro_provider::transcribe::{Sound, Transcriber, Transcript};
use serde_json::json;

use crate::support::calls::says;
use crate::support::output::words;
use crate::support::scene::text;
use crate::support::speech::Speech;
use crate::support::{ANN, World};

const SOUNDS: &str = "tests/hearing/sounds";
/// Largest word error rate of English, in percent.
const MAX_ERRORS: f64 = 15.0;
/// Number of damaged sounds.
const MUTATIONS: u64 = 20;

fn transcriber(folder: &Path) -> LocalTranscriber {
    LocalTranscriber::new(PathBuf::from(env!("CARGO_BIN_EXE_figaro")), folder.to_owned())
}

/// Folder of the real model.
#[expect(clippy::disallowed_methods, reason = "tests/hearing/run names the model that it fetched")]
fn real_folder() -> String {
    std::env::var("FIGARO_HEARING").expect("FIGARO_HEARING names the folder of whisper-base")
}

fn real() -> LocalTranscriber {
    transcriber(Path::new(&real_folder()))
}

fn sound(bytes: Vec<u8>) -> Sound {
    Sound { name: "sound.ogg".to_owned(), mime: "audio/ogg".to_owned(), seconds: 3, bytes }
}

async fn heard(transcriber: &LocalTranscriber, bytes: Vec<u8>) -> Result<String, ProviderError> {
    transcriber.transcribe(sound(bytes)).await.map(|Transcript { text, .. }| text)
}

/// Words of a text, in small letters and without signs.
fn plain_words(text: &str) -> Vec<String> {
    let letters =
        |word: &str| word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    text.split_whitespace().map(letters).filter(|word: &String| !word.is_empty()).collect()
}

/// Number of words that are wrong, missing or too many.
fn errors(wanted: &[String], given: &[String]) -> usize {
    let mut row: Vec<usize> = (0..=given.len()).collect();
    for (at, wanted) in wanted.iter().enumerate() {
        let mut corner = row[0];
        row[0] = at + 1;
        for (at, given) in given.iter().enumerate() {
            let change = corner + usize::from(wanted != given);
            corner = row[at + 1];
            row[at + 1] = change.min(row[at] + 1).min(corner + 1);
        }
    }
    *row.last().unwrap()
}

/// Time of ended children on the processors.
fn children_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    Duration::from_millis(fields[13..15].iter().map(|ticks| ticks.parse::<u64>().unwrap() * 10).sum())
}

/// Processes that this one started.
fn children() -> Vec<PathBuf> {
    let own = std::process::id().to_string();
    let is_own = |folder: &PathBuf| {
        let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
        status.lines().any(|line| line.strip_prefix("PPid:").is_some_and(|parent| parent.trim() == own))
    };
    fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path())).filter(is_own).collect()
}

/// Watches the children of this process. Returns their most memory, in MB.
fn watch(is_over: Arc<AtomicBool>) -> thread::JoinHandle<u64> {
    thread::spawn(move || {
        let mut peak = 0;
        while !is_over.load(Ordering::Relaxed) {
            for child in children() {
                let status = fs::read_to_string(child.join("status")).unwrap_or_default();
                let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
                let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
                peak = peak.max(kilobytes.unwrap_or(0) / 1_000);
            }
            thread::sleep(Duration::from_millis(20));
        }
        peak
    })
}

#[tokio::test]
#[ignore = "needs the model that tests/hearing/run fetches"]
async fn a_real_model_hears_sentences() {
    let transcriber = real();
    let is_over = Arc::new(AtomicBool::new(false));
    let watching = watch(is_over.clone());
    let sentences = fs::read_to_string(format!("{SOUNDS}/sentences.txt")).unwrap();
    let mut rates: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let (before, mut count) = (children_time(), 0_u32);
    for line in sentences.lines() {
        let (name, wanted) = line.split_once('\t').unwrap();
        // Those that others have recorded are beside the model.
        let own = fs::read(format!("{SOUNDS}/{name}.ogg"));
        let spoken =
            own.unwrap_or_else(|_| fs::read(format!("{}/../samples/{name}.wav", real_folder())).unwrap());
        let given = heard(&transcriber, spoken).await.unwrap();
        let (wanted, given) = (plain_words(wanted), plain_words(&given));
        let wrong = errors(&wanted, &given);
        println!("{name}: {wrong} of {}: {}", wanted.len(), given.join(" "));
        let rate = rates.entry(name.split_once('-').unwrap().0).or_default();
        *rate = (rate.0 + wrong, rate.1 + wanted.len());
        count += 1;
    }
    let sentence = (children_time() - before).as_secs_f64() / f64::from(count);
    let ten = fs::read(format!("{SOUNDS}/ten-seconds.ogg")).unwrap();
    let (before, begun) = (children_time(), Instant::now());
    let text = heard(&transcriber, ten).await.unwrap();
    let (took, core) = (begun.elapsed().as_secs_f64(), (children_time() - before).as_secs_f64());
    is_over.store(true, Ordering::Relaxed);
    let peak = watching.join().unwrap();
    let percent = |(wrong, all): &(usize, usize)| 100.0 * *wrong as f64 / *all as f64;
    for (language, rate) in &rates {
        println!("{language}: word error rate {:.0} %", percent(rate));
    }
    println!("a sentence takes {sentence:.1} s of a core");
    println!("10 s of speech take {core:.1} s of a core, and {took:.1} s in all: {text}");
    println!("the child takes {peak} MB at most; afterwards {} children are left", children().len());
    assert!(percent(&rates["en"]) <= MAX_ERRORS);
    assert!(children().is_empty(), "its memory is back at once");
}

#[tokio::test]
#[ignore = "needs the model that tests/hearing/run fetches"]
async fn a_real_model_outlives_damaged_sounds() {
    let transcriber = real();
    let speech = fs::read(format!("{SOUNDS}/en-1.ogg")).unwrap();
    assert_eq!(heard(&transcriber, silence(3)).await.as_deref(), Ok(""));
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("no sound", b"Not a sound at all. ".repeat(500)),
        ("no head", speech[600..].to_vec()),
    ] {
        let error = heard(&transcriber, bytes).await.unwrap_err();
        assert!(matches!(error, ProviderError::Unreadable(_)), "{name}: {error}");
    }
    let half = heard(&transcriber, speech[..speech.len() * 2 / 3].to_vec()).await.unwrap();
    assert!(half.starts_with("The meeting has moved"), "{half}");
    let speech = fs::read(format!("{SOUNDS}/ten-seconds.ogg")).unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let watching = watch(is_over.clone());
    let mut results: BTreeMap<&str, u32> = BTreeMap::new();
    let begun = Instant::now();
    for seed in 0..MUTATIONS {
        let label = match heard(&transcriber, mutated(&speech, seed)).await {
            Ok(_) => "heard",
            Err(error) => error.label(),
        };
        *results.entry(label).or_default() += 1;
    }
    is_over.store(true, Ordering::Relaxed);
    println!("{results:?} in {} s, {} MB at most", begun.elapsed().as_secs(), watching.join().unwrap());
    assert!(results.keys().all(|label| ["heard", "unreadable", "too_long"].contains(label)), "{results:?}");
}

/// Changes some bytes of a sound, by a generator of random numbers (xorshift).
fn mutated(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for _ in 0..=next(6) {
        let at = next(bytes.len());
        bytes[at] = u8::try_from(next(256)).unwrap();
    }
    if next(3) == 0 {
        bytes.truncate(next(bytes.len()));
    }
    bytes
}

/// Silence of this length in seconds, as WAV.
fn silence(seconds: u32) -> Vec<u8> {
    let length = seconds * 32_000;
    let mut file =
        [b"RIFF".as_slice(), &(36 + length).to_le_bytes(), b"WAVEfmt \x10\0\0\0\x01\0\x01\0"].concat();
    file.extend(16_000_u32.to_le_bytes());
    file.extend(32_000_u32.to_le_bytes());
    file.extend(b"\x02\0\x10\0data");
    file.extend(length.to_le_bytes());
    file.resize(file.len() + length as usize, 0);
    file
}

/// Makes a folder with the small files of a model, and two that are none.
fn false_model(folder: &Path) {
    fs::create_dir(folder).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let config =
        json!({"d_model": 8, "decoder_layers": 1, "decoder_attention_heads": 2, "vocab_size": 51_865});
    write("config.json", &config.to_string());
    let special = ["endoftext", "startoftranscript", "en", "transcribe", "notimestamps"];
    let special: Vec<_> = special
        .iter()
        .zip(1..)
        .map(|(name, id)| json!({"content": format!("<|{name}|>"), "id": id}))
        .collect();
    write("tokenizer.json", &json!({"added_tokens": special, "model": {"vocab": {"a": 0}}}).to_string());
    write("encoder_model.onnx", "no model");
    write("decoder_model_merged.onnx", "no model");
}

#[tokio::test]
async fn the_check_says_what_is_wrong_with_a_folder() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Yes."));
    fs::create_dir(world.folder.path().join("empty")).unwrap();
    false_model(&world.folder.path().join("false"));
    let cases = [
        ("local:./none", "TRANSCRIBER: there is no folder ./none"),
        (
            "local:./empty",
            "TRANSCRIBER: the folder ./empty has no file encoder_model_quantized.onnx or encoder_model.onnx",
        ),
        ("local:./false", "./false/encoder_model.onnx cannot be used"),
    ];
    for (value, wanted) in cases {
        let output = world.bot().set("TRANSCRIBER", value).arg("check").run().await;
        let (said, errors) = words(&output);
        assert!(!output.status.success() && said.contains(wanted), "{value}: {said} {errors}");
    }
}

#[tokio::test]
async fn a_model_that_cannot_be_used_is_told_and_nothing_else_waits() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    false_model(&world.folder.path().join("false"));
    let bot = world.bot().set("TRANSCRIBER", "local:./false").spawn();
    bot.ready().await;
    let speech = fs::read(format!("{SOUNDS}/en-1.ogg")).unwrap();
    world.telegram.send(Say::new(ANN, ANN, "").sound("voice", 3, speech.as_slice())).unwrap();
    let told = world.answers(ANN, 1).await.pop().unwrap();
    assert!(text(&told).starts_with("I could not hear that just now."), "{told}");
    world.say(ANN, ANN, "Hello");
    says(&world, ANN, "I see.").await;
    bot.ends_well().await;
    assert!(children().iter().all(|child| !is_listener(child)));
}

fn is_listener(child: &Path) -> bool {
    let command = fs::read(child.join("cmdline")).unwrap_or_default();
    command.split(|byte| *byte == 0).nth(1) == Some(b"hear".as_slice())
}

#[tokio::test]
#[ignore = "needs the model that tests/hearing/run fetches"]
async fn a_real_model_hears_what_people_say_to_the_bot() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let folder = real_folder();
    let bot = world.bot().set("TRANSCRIBER", &format!("local:{folder}")).spawn();
    bot.ready().await;
    let speech = fs::read(format!("{SOUNDS}/en-2.ogg")).unwrap();
    world.telegram.send(Say::new(ANN, ANN, "").sound("voice", 3, speech.as_slice())).unwrap();
    let request = world.asks(1).await;
    assert!(request.user_text().contains("remind me to water the plants"), "{}", request.user_text());
    says(&world, ANN, "remind me to water the plants").await;
    world.telegram.send(Say::new(ANN, ANN, "").sound("voice", 3, &speech[600..])).unwrap();
    says(&world, ANN, "the file is damaged, or in a format that I do not know").await;
    bot.ends_well().await;
    let output = world.bot().set("TRANSCRIBER", &format!("local:{folder}")).arg("check").run().await;
    assert!(words(&output).0.contains("local:whisper-base hears, in "), "{output:?}");
}

#[tokio::test]
#[ignore = "it takes a core for half a minute: tests/hearing/run"]
async fn a_service_hears_a_long_sound_in_parts() {
    const SECONDS: usize = 1_700;
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let speech = Speech::start().await;
    let bot = world
        .bot()
        .set("TRANSCRIBER", "compatible:whisper-large")
        .set("COMPATIBLE_BASE_URL", &format!("{}/v1", speech.origin))
        .spawn();
    bot.ready().await;
    ["One.", "", "Three.", "", "", "Six."].iter().for_each(|words| speech.says(words));
    // Half an hour, nearly, of 8 bits, 4,000 times a second.
    let (length, rate) = (4_000 * SECONDS as u32, 4_000_u32.to_le_bytes());
    let mut long =
        [b"RIFF".as_slice(), (length + 36).to_le_bytes().as_slice(), b"WAVEfmt \x10\0\0\0\x01\0\x01\0"]
            .concat();
    long.extend(
        [rate.as_slice(), rate.as_slice(), b"\x01\0\x08\0data", length.to_le_bytes().as_slice()].concat(),
    );
    long.extend((0..length).map(|at| (at % 251) as u8));
    world.telegram.send(Say::new(ANN, ANN, "").sound("audio", SECONDS as u32, long.clone())).unwrap();
    let request = world.asks(1).await;
    assert!(request.user_text().contains("One. Three. Six."), "{}", request.user_text());
    let heard = speech.heard();
    let names: Vec<&str> = heard.iter().map(|part| part.name.as_str()).collect();
    assert_eq!((names, speech.faults()), (vec!["part.wav"; 6], Vec::new()));
    let bytes: usize = heard.iter().map(|part| part.bytes.len() - 44).sum();
    assert!(bytes.abs_diff(SECONDS * 32_000) < 1_000, "{bytes}");
    says(&world, ANN, "I see.").await;
    // The words so far stay, if the service fails later.
    speech.says("Begin.");
    speech.fails(500);
    world.telegram.send(Say::new(ANN, ANN, "").sound("audio", SECONDS as u32, long)).unwrap();
    let request = world.asks(2).await;
    assert!(request.user_text().contains("Begin. […]"), "{}", request.user_text());
    says(&world, ANN, "Begin. […]").await;
    // A file that cannot be cut is told in a sentence.
    world.telegram.send(Say::new(ANN, ANN, "").sound("audio", SECONDS as u32, b"no sound at all")).unwrap();
    says(&world, ANN, "I could not hear that: the file is damaged").await;
    bot.ends_well().await;
}
