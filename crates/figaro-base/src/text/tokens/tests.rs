//! o200k_base itself judges. The texts of the fifteen languages are in `tests/texts/`, a folder a language.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use proptest::prelude::*;
use tiktoken_rs::{CoreBPE, o200k_base_singleton};

use super::*;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/text/tokens/o200k_base.bin");
const TEXTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/texts");

fn judge() -> &'static CoreBPE {
    o200k_base_singleton()
}

fn made_of_o200k_base() -> Vec<u8> {
    let token = |number| (number, judge().decode_bytes(&[number]).unwrap());
    // The first 256 are the bytes.
    table::file((256..table::MERGES).map(token))
}

#[test]
#[ignore = "writes the table anew: cargo test -p figaro-base write_the_table -- --ignored"]
fn write_the_table() {
    fs::write(FILE, made_of_o200k_base()).unwrap();
}

#[test]
fn the_table_is_made_of_o200k_base() {
    assert!(fs::read(FILE).unwrap() == made_of_o200k_base(), "write it anew, see above");
}

/// Each text of the languages, by its path.
fn texts() -> Vec<(PathBuf, String)> {
    let list =
        |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let mut files: Vec<PathBuf> =
        list(Path::new(TEXTS)).iter().filter(|path| path.is_dir()).flat_map(|path| list(path)).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// The estimate for each token that there is.
fn ratio(text: &str) -> f64 {
    let count = |tokens: usize| f64::from(u32::try_from(tokens).unwrap());
    count(estimate_tokens(text)) / count(judge().count_ordinary(text))
}

#[test]
fn the_fifteen_languages_are_counted_in_full_and_at_most_a_quarter_over() {
    let texts = texts();
    assert_eq!(texts.len(), 15 * 4);
    let mut wrong = Vec::new();
    for (path, text) in &texts {
        let ratio = ratio(text);
        let name = path.strip_prefix(TEXTS).unwrap().display();
        println!(
            "{name:24} {:5} characters {:5} tokens, estimated {ratio:.3}",
            text.chars().count(),
            judge().count_ordinary(text)
        );
        if !(1.0..=1.25).contains(&ratio) {
            wrong.push(format!("{name}: {ratio:.3}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
#[ignore = "prints figures: cargo test --release --lib what_an_estimate_takes -- --ignored --nocapture"]
fn what_an_estimate_takes() {
    for (path, text) in texts() {
        let text = text.repeat(20);
        let best = (0..30).map(|_| {
            let began = Instant::now();
            assert!(estimate_tokens(&text) > 0);
            began.elapsed().as_nanos()
        });
        let per_kb = best.min().unwrap() * 1000 / u128::try_from(text.len()).unwrap();
        println!("{:24} {per_kb:6} ns per KB", path.strip_prefix(TEXTS).unwrap().display());
    }
}

#[test]
fn short_texts_are_counted_as_they_are() {
    let cases = [("", 0), ("hello world", 2), ("привет", 2), ("12345", 2), ("don't", 1), ("\u{1680b}", 4)];
    for (text, tokens) in cases {
        assert_eq!((estimate_tokens(text), judge().count_ordinary(text)), (tokens, tokens), "{text:?}");
    }
}

/// Letters and signs of one kind.
fn alphabets() -> Vec<Vec<char>> {
    let ranges = [
        ' '..='~',
        'a'..='z',
        'A'..='Z',
        '0'..='9',
        '!'..='/',
        '\u{c0}'..='\u{17f}',
        'α'..='ω',
        'а'..='я',
        '\u{400}'..='\u{52f}',
        'א'..='ת',
        '\u{621}'..='\u{64a}',
        '\u{904}'..='\u{94d}',
        '\u{e01}'..='\u{e4e}',
        '\u{3041}'..='\u{30ff}',
        '一'..='龥',
        '가'..='힣',
        '\u{1200}'..='\u{135a}',
        '\u{13a0}'..='\u{13f5}',
        '\u{2010}'..='\u{2bff}',
        '\u{1f300}'..='\u{1faff}',
        '\u{10000}'..='\u{1cfff}',
        '\u{e0020}'..='\u{e007f}',
    ];
    let listed = [
        " \n\t\r\u{a0}\u{3000}",
        "\u{200b}\u{200c}\u{200d}\u{feff}\u{2060}\u{202e}\u{ad}\u{fe0f}",
        "ae\u{300}\u{301}\u{327}o",
        "ABCDabcd0123+/=",
        "aZ9 я中ع\u{200d}😀अ.\n",
        "👍❤\u{fe0f}👨\u{200d}👩🏽🇺🇦 !",
        "{}[]\":,\\n \t1.5e-9tru",
        "https://w.a-b_c?d=%E2&#",
    ];
    ranges.into_iter().map(Iterator::collect).chain(listed.map(|listed| listed.chars().collect())).collect()
}

/// A stretch of text: letters at random with or without spaces, one letter again and again, a few again and again.
fn stretch() -> impl Strategy<Value = String> {
    let letters = prop::sample::select(alphabets()).prop_flat_map(|letters| {
        let some = |most| prop::collection::vec(prop::sample::select(letters.clone()), 1..most);
        (some(200), some(7), 0..4, 1..200_usize)
    });
    letters.prop_map(|(many, few, kind, length)| match kind {
        0 => many.into_iter().collect(),
        1 => many
            .into_iter()
            .enumerate()
            .flat_map(|(at, c)| [Some(c), (at % 6 == 5).then_some(' ')])
            .flatten()
            .collect(),
        2 => few[..1].iter().cycle().take(length).collect(),
        _ => few.iter().cycle().take(length).collect(),
    })
}

/// Of the same seed in every run: the table is one of hashes, and some text in a hundred thousand meets a false one.
fn same_cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        rng_seed: prop::test_runner::RngSeed::Fixed(200),
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}

#[test]
fn whatever_is_written_is_counted_in_full() {
    proptest!(same_cases(512), |(stretches in prop::collection::vec(stretch(), 1..6))| {
        let text = stretches.concat();
        prop_assert!(estimate_tokens(&text) >= judge().count_ordinary(&text), "{text:?}");
        prop_assert!(most_tokens(&text) >= estimate_tokens(&text));
    });
}

#[test]
fn code_and_data_are_counted_in_full() {
    let files = [
        "crates/figaro-base/src/text/tokens/mod.rs",
        "crates/figaro-provider/src/models.yaml",
        "offline/src/page/body.html",
        "Cargo.lock",
        "mcp-server/bot-api/methods.json",
        "README.md",
    ];
    for file in files {
        let text =
            fs::read_to_string(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(file)).unwrap();
        let text: String = text.chars().take(20_000).collect();
        let ratio = ratio(&text);
        assert!((1.0..=1.25).contains(&ratio), "{file}: {ratio:.3}");
        let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text.as_bytes());
        assert!(self::ratio(&encoded) >= 1.0, "{file} in base64");
    }
}
