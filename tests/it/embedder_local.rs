//! A model in a folder that turns texts into numbers. The tests of a real one run where `FIGARO_EMBEDDER` names its folder,
//! which `tests/embedder/run` sees to.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use figaro_base::clock::Clock;
use figaro_base::shutdown::TaskTracker;
use figaro_provider::embed::local::LocalEmbedder;
use figaro_provider::embed::{EmbedError, EmbedPurpose, Embedded, Embedder};

use serde_json::Value;

use crate::embedder::dot;
use crate::languages_of_memory::{Pair, conversation, languages, memory};
use crate::support::World;

/// How alike the first text and each of the others are.
fn likeness(embedded: &Embedded) -> Vec<f32> {
    embedded.vectors[1..].iter().map(|other| dot(&embedded.vectors[0], other)).collect()
}

/// An embedder of this folder, and what drops its model.
fn open(folder: &Path) -> (LocalEmbedder, TaskTracker) {
    let background = TaskTracker::new();
    (LocalEmbedder::open(folder, Clock::system(), background.clone()).unwrap(), background)
}

#[tokio::test]
async fn a_folder_that_lacks_something_or_has_something_else_is_refused_by_name() {
    let world = World::new().await;
    let folder = world.folder.path().join("model");
    let opened = || LocalEmbedder::open(&folder, Clock::system(), TaskTracker::new()).map(drop).unwrap_err();
    assert!(opened().contains("there is no folder"));
    fs::create_dir(&folder).unwrap();
    assert!(opened().contains("has no file that ends in .onnx"));
    fs::write(folder.join("a.onnx"), "not a model").unwrap();
    assert!(opened().contains("has no vocab.txt or tokenizer.json"));
    fs::write(folder.join("vocab.txt"), "[PAD]\n[UNK]\n[CLS]\nwords").unwrap();
    fs::write(folder.join("b.onnx"), "nor this").unwrap();
    assert!(opened().contains("has several models"));
    fs::remove_file(folder.join("b.onnx")).unwrap();
    fs::write(folder.join("config.json"), "{").unwrap();
    assert!(opened().contains("config.json is not JSON"));
    fs::remove_file(folder.join("config.json")).unwrap();

    let told =
        async || open(&folder).0.embed(EmbedPurpose::Question, &["words"]).await.unwrap_err().to_string();
    let error = told().await;
    assert!(
        error.contains("vocab.txt has no [SEP]") && error.contains(&folder.display().to_string()),
        "{error}"
    );
    fs::write(folder.join("vocab.txt"), "[PAD]\n[UNK]\n[CLS]\n[SEP]\nwords").unwrap();
    let error = told().await;
    assert!(error.contains("a.onnx cannot be used"), "{error}");
}

/// The folder of a real model.
#[expect(clippy::disallowed_methods, reason = "tests/embedder/run says where the model is")]
pub fn real() -> PathBuf {
    PathBuf::from(
        std::env::var("FIGARO_EMBEDDER").expect("FIGARO_EMBEDDER names the folder of all-MiniLM-L6-v2"),
    )
}

/// The memory of this process, in megabytes.
fn rss() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

#[tokio::test]
#[ignore = "needs a model of 23 MB: tests/embedder/run fetches it"]
async fn a_real_model_knows_what_is_alike() {
    let (embedder, _background) = open(&real());
    let cases = [
        ("I'm off sugar", ["Should I bake you a cake?", "The train to Leeds leaves at nine."]),
        ("My knee hurts when I climb stairs", ["She has joint pain", "He bought new curtains"]),
        ("Where did we park the car?", ["The vehicle is in the garage on level 3", "Dinner was lovely"]),
        ("Ann is allergic to peanuts", ["Can Ann eat this satay sauce?", "Ann is good at chess"]),
        (
            "Meeting moved to Friday",
            ["The appointment is now at the end of the week", "My favourite colour is green"],
        ),
        ("Ünser Hund ist krank", ["unser hund ist krank!!", "Die Rechnung wurde bezahlt"]),
    ];
    for (text, [near, far]) in cases {
        let likeness = likeness(&embedder.embed(EmbedPurpose::Passage, &[text, near, far]).await.unwrap());
        println!("{:.3} {:.3}  {text} / {near} / {far}", likeness[0], likeness[1]);
        assert!(likeness[0] > likeness[1] + 0.05, "{text}: {likeness:?}");
    }
    // As sentence-transformers has it for the same texts with the model's own weights, within what eight bits change.
    let pair = ["That is a happy person", "That is a very happy person"];
    let likeness = likeness(&embedder.embed(EmbedPurpose::Passage, &pair).await.unwrap());
    assert!((likeness[0] - 0.943).abs() < 0.01, "{likeness:?}");
}

#[tokio::test]
#[ignore = "needs a model of 23 MB: tests/embedder/run fetches it"]
async fn a_real_model_gives_the_same_alone_and_among_others_for_texts_of_any_length() {
    let (embedder, _background) = open(&real());
    let long = "The quick brown fox jumps over the lazy dog. ".repeat(2_000);
    let longer = format!("{long}And then something else happens.");
    let texts = [
        "",
        " ",
        "Hello",
        "A rather longer text about the weather in Riga, which was fine.",
        &long,
        &longer,
        "Hello",
    ];
    let all = embedder.embed(EmbedPurpose::Passage, &texts).await.unwrap();
    for (text, vector) in texts.iter().zip(&all.vectors) {
        let alone = embedder.embed(EmbedPurpose::Question, &[text]).await.unwrap();
        assert_eq!(vector.len(), 384);
        assert!((dot(vector, vector) - 1.0).abs() < 1e-5);
        let apart = vector.iter().zip(&alone.vectors[0]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 1e-4, "{apart} at {}", text.len());
    }
    assert_eq!(all.vectors[4], all.vectors[5], "of a long text its beginning counts");
    assert!(all.tokens < 3 * 512, "{}", all.tokens);
}

#[tokio::test]
#[ignore = "needs a model of 23 MB: tests/embedder/run fetches it"]
async fn a_real_model_is_loaded_when_needed_dropped_when_idle_and_serves_all_who_ask() {
    let (embedder, background) = open(&real());
    let name = embedder.name().to_owned();
    assert!(name.len() == "local:".len() + 12 && !embedder.is_loaded().await, "{name}");
    let before = rss();
    let first = embedder.embed(EmbedPurpose::Question, &["Is anybody there?"]).await.unwrap();
    let loaded = rss();
    assert!(embedder.is_loaded().await);
    let texts: Vec<String> =
        (0..100).map(|number| format!("Message {number}: we meet at {number} o'clock")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let begun = Instant::now();
    embedder.embed(EmbedPurpose::Passage, &texts).await.unwrap();
    let hundred = begun.elapsed();
    let asked = Instant::now();
    let many = async { embedder.embed(EmbedPurpose::Passage, &texts).await.unwrap() };
    let question = async {
        let embedded = embedder.embed(EmbedPurpose::Question, &["Is anybody there?"]).await.unwrap();
        (embedded, asked.elapsed())
    };
    let (_, (again, waited)) = tokio::join!(many, question);
    assert_eq!(again.vectors, first.vectors);
    assert!(waited < hundred / 4, "a question waits for one text, not for a hundred: {waited:?}");

    // Whoever gives up does not end the next one's call.
    let given_up =
        tokio::time::timeout(Duration::from_millis(1), embedder.embed(EmbedPurpose::Passage, &texts)).await;
    assert!(given_up.is_err());

    // Five minutes pass at once: the timer is the runtime's, and such a clock goes by it.
    drop(embedder);
    let clock = Clock::told_by(|| chrono::DateTime::UNIX_EPOCH);
    let idle = LocalEmbedder::open(&real(), clock, background.clone()).unwrap();
    idle.embed(EmbedPurpose::Question, &["once"]).await.unwrap();
    tokio::time::pause();
    tokio::time::sleep(Duration::from_secs(299)).await;
    assert!(idle.is_loaded().await, "not yet");
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(!idle.is_loaded().await, "dropped");
    tokio::time::resume();
    let dropped = rss();
    assert_eq!(
        idle.embed(EmbedPurpose::Question, &["Is anybody there?"]).await.unwrap().vectors,
        first.vectors
    );
    println!("{name}: 100 short texts in {} ms", hundred.as_millis());
    println!(
        "memory of the process: {before} MB before, {loaded} MB loaded, {dropped} MB after it was dropped"
    );
    background.stop();
    assert!(background.finish(Duration::from_secs(5)).await);
    assert_eq!(idle.embed(EmbedPurpose::Question, &["late"]).await, Err(EmbedError::Stopped));
}

/// Questions, and a message each that answers them in other words.
const PAIRS: [(&str, &str); 24] = [
    ("Should I bake you a cake?", "I'm off sugar since my last check-up."),
    ("Could you climb the tower with us?", "My knee hurts on stairs."),
    ("Where did we park?", "The vehicle is on level 3 of the garage."),
    ("Is Ann safe with satay sauce?", "Peanuts make her throat swell."),
    ("When is the appointment?", "They moved our meeting to Friday at ten."),
    ("What pet does Tom own?", "His hamster escaped from its cage."),
    ("How do I get online at your place?", "The wifi password is on the fridge."),
    ("Which instrument does Lea play?", "She practises the cello before breakfast."),
    ("Is grandma still in hospital?", "The doctors let her go home on Tuesday."),
    ("What colour should the kitchen be?", "I would love yellow walls where we cook."),
    ("Does he drink alcohol?", "Peter never touches wine or beer."),
    ("How was your holiday?", "Two weeks in Portugal, and it rained nearly every day."),
    ("What is her job?", "Maria teaches maths to teenagers."),
    ("Who looks after the kids?", "My neighbour babysits in the afternoons."),
    ("Do you get along with dogs?", "I was bitten by a terrier as a boy and keep away from them."),
    ("What should we buy him for his birthday?", "Dad wants new fishing rods as a present."),
    ("Are you religious?", "We go to church every Sunday."),
    ("Why was the flight late?", "Our plane waited three hours because of fog."),
    ("What food can I cook for Nina?", "She gave up meat and eats vegetables only."),
    ("How much rent do they pay?", "The flat costs them 900 euros a month."),
    ("Is the printer working?", "The machine jams whenever I want something on paper."),
    ("What made her so sad?", "Her cat died last night, and she cried for hours."),
    ("Are they a couple now?", "Jo and Sam got engaged in spring."),
    ("Which sport does your son do?", "He swims laps with his club at dawn."),
];

/// The parts of the pairs that are found among the best five and among all that is carried.
async fn rates(world: &World, embedder: &str) -> [usize; 2] {
    let args = ["--store", "./measured", "--batch", "asked.jsonl", "--budget", "1000", "--only", "retrieved"];
    let bot = world.bot().set("EMBEDDER", embedder).arg("memory").arg("recall").arg("--json");
    let output = args.iter().fold(bot, |bot, arg| bot.arg(arg)).run_long().await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut rates = [0, 0];
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let at = line["question_id"].as_str().unwrap().split_once('/').unwrap().1;
        let wanted = format!("pair-{at}");
        let place = line["items"].as_array().unwrap().iter().position(|item| item["id"] == wanted.as_str());
        rates[0] += usize::from(place.is_some_and(|place| place < 5));
        rates[1] += usize::from(place.is_some());
    }
    rates
}

#[tokio::test]
#[ignore = "needs a model of 23 MB: tests/embedder/run fetches it"]
async fn a_real_model_finds_messages_that_share_no_word_with_the_question() {
    let world = World::new().await;
    let mut english = languages().remove("en").unwrap();
    let pair = |(question, message): &(&str, &str)| Pair {
        question: (*question).to_owned(),
        message: (*message).to_owned(),
        shares: false,
    };
    english.pairs = PAIRS.iter().map(pair).collect();
    let (said, asked) = conversation("en", &english);
    fs::write(world.folder.path().join("said.jsonl"), said).unwrap();
    fs::write(world.folder.path().join("asked.jsonl"), asked.join("\n")).unwrap();
    memory(&world, &["import", "--store", "./measured", "said.jsonl"]).await;
    let folder = real();
    let folder = fs::canonicalize::<&Path>(&folder).unwrap();
    let without = rates(&world, "off").await;
    let with = rates(&world, &format!("local:{}", folder.display())).await;
    let percent = |count: usize| count * 100 / PAIRS.len();
    println!("questions that share no word with their message, among 1,000 others, within 1,000 tokens:");
    for (name, [best, all]) in [("words alone", without), ("words and meaning", with)] {
        println!("  {name}: {} % among the best five, {} % in the context", percent(best), percent(all));
    }
    assert!(percent(with[1]) >= 50 && with[1] >= 2 * without[1], "{without:?} {with:?}");
}
