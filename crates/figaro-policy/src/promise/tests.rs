//! How well promises are told from other sentences. Both halves were written as models write; the patterns were written
//! and tuned on the development half only.

use std::collections::BTreeMap;
use std::time::Instant;

use super::*;

const DEVELOPMENT: &str = include_str!("development.txt");
const HELD_OUT: &str = include_str!("held_out.txt");

/// Promises found, promises missed, and what was wrongly taken for one.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    found: u32,
    missed: u32,
    wrong: u32,
}

impl Score {
    fn precision(self) -> f64 {
        f64::from(self.found) / f64::from(self.found + self.wrong).max(1.0)
    }

    fn recall(self) -> f64 {
        f64::from(self.found) / f64::from(self.found + self.missed).max(1.0)
    }
}

/// Language, whether it is a promise, and the answer, of a line.
fn labelled(line: &str) -> (&str, bool, String) {
    let mut parts = line.splitn(3, ' ');
    let (language, label, answer) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    assert!(matches!(label, "+" | "-"), "{line}");
    (language, label == "+", answer.replace("\\n", "\n"))
}

/// Prints the figures of a half and gives those of all its languages together.
fn score(name: &str, half: &str) -> Score {
    let mut scores: BTreeMap<&str, Score> = BTreeMap::new();
    for (language, is_promise, answer) in half.lines().map(labelled) {
        let found = promises(&answer);
        for row in [language, "all"] {
            let score = scores.entry(row).or_default();
            match (is_promise, found) {
                (true, true) => score.found += 1,
                (true, false) => score.missed += 1,
                (false, true) => score.wrong += 1,
                (false, false) => {}
            }
        }
        if found != is_promise {
            println!("{name}: {language} {} {answer:?}", if found { "wrong " } else { "missed" });
        }
    }
    for (language, score) in &scores {
        let (precision, recall) = (score.precision(), score.recall());
        println!("{name}: {language:3} precision {precision:.3} recall {recall:.3} {score:?}");
    }
    scores["all"]
}

#[test]
fn promises_are_told_from_other_sentences() {
    let development = score("development", DEVELOPMENT);
    let held_out = score("held out", HELD_OUT);
    assert!(development.precision() >= 0.95 && development.recall() >= 0.9, "{development:?}");
    assert!(held_out.precision() >= 0.99 && held_out.recall() >= 0.98, "{held_out:?}");
}

#[test]
fn each_language_has_enough_sentences() {
    let mut counts: BTreeMap<(&str, bool), u32> = BTreeMap::new();
    for (language, is_promise, _) in
        [DEVELOPMENT, HELD_OUT].iter().flat_map(|half| half.lines()).map(labelled)
    {
        *counts.entry((language, is_promise)).or_default() += 1;
    }
    assert_eq!(counts.len(), 2 * LANGUAGES.len());
    assert!(counts.values().all(|count| *count >= 40), "{counts:?}");
}

#[test]
fn no_pattern_matches_nothing() {
    for language in &LANGUAGES {
        let PromisePatterns { claims, when, timed, news, surely, elsewhere, .. } = &**language;
        let PromisePatterns { negations, breaks, conditions, requests, tags, figures, .. } = &**language;
        let all = [
            claims, when, timed, news, surely, elsewhere, negations, breaks, conditions, requests, tags,
            figures,
        ];
        for pattern in all {
            assert!(!pattern.is_match(""), "{pattern}");
            assert!(!pattern.as_str().contains('<'), "a part has no name: {pattern}");
        }
    }
}

#[test]
fn the_signs_of_a_language_hide_no_promise_from_its_patterns() {
    let lines = [DEVELOPMENT, HELD_OUT].into_iter().flat_map(str::lines);
    for (_, _, answer) in lines.map(labelled) {
        let sentences = prose::sentences(&answer);
        let by_patterns =
            LANGUAGES.iter().any(|language| sentences.iter().any(|sentence| language.promises(sentence)));
        assert_eq!(promises(&answer), by_patterns, "{answer:?}");
    }
}

#[test]
fn only_what_the_bot_says_itself_counts() {
    let promise = "I'll remind you tomorrow at 9.";
    let cases = [
        (promise.to_owned(), true),
        (format!("**Sure!** _{promise}_"), true),
        (format!("```\ncode\n```\n- {promise}"), true),
        (format!("```\n{promise}\n```"), false),
        (format!("~~~\n```\n{promise}\n~~~"), false),
        (format!("> {promise}"), false),
        (format!("`{promise}`"), false),
        (format!("“{promise}”"), false),
        (format!("He said \"{promise}\""), false),
        (format!("A screen of 5\" and more. {promise}"), true),
        ("Reminder set for `18:00`".to_owned(), true),
        ("I’LL REMIND YOU".to_owned(), true),
        ("I'll remind you, okay?".to_owned(), true),
        ("Shall I say I'll remind you?".to_owned(), false),
        (String::new(), false),
    ];
    for (answer, wanted) in cases {
        assert_eq!(promises(&answer), wanted, "{answer:?}");
    }
}

#[test]
fn a_check_is_cheap() {
    let answer = "I found three trains to Porto tomorrow; the 9:30 is the fastest. ".repeat(40);
    assert!(promises(&format!("{answer} I'll remind you.")), "this compiles the patterns");
    let clock = Instant::now();
    assert!(!promises(&answer));
    println!("{} characters in {} µs", answer.len(), clock.elapsed().as_micros());
}
