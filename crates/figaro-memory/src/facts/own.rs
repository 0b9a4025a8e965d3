//! A person's own words in their message: without quotations, pasted text and code.

use super::lexicon::{LEXICON, NormalizedText};
use figaro_domain::message::Span;

/// Maximum words of a quoted name or title; a longer quotation is somebody else's words.
const NAME_WORDS: usize = 4;
/// Replacement of others' words.
const CUT: char = Span::CUT;

/// Returns the person's own words in a text; each removed part leaves a mark that ends a sentence.
pub(super) fn own_words(text: &str, foreign: &[Span]) -> String {
    let text = Span::cut_out(text, foreign);
    let text = without_pasted(&without_code(&text));
    without_quotations(&text)
}

/// Returns `true` if these words occur consecutively in the person's own words.
pub(super) fn holds(own: &str, words: &str) -> bool {
    let wanted = NormalizedText::of(words);
    let wanted = wanted.0.trim();
    !wanted.is_empty()
        && own.split(CUT).any(|part| NormalizedText::of(part).0.contains(&format!(" {wanted} ")))
}

/// Splits a text into sentences, each with its end mark.
pub(crate) fn sentences(own: &str) -> Vec<&str> {
    let is_end = |c: char| matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '؟' | '।' | '\n' | CUT);
    let mut sentences = Vec::new();
    let mut rest = own;
    while let Some(at) = rest.char_indices().find(|(at, c)| is_end(*c) && !is_within(rest, *at)) {
        let end = rest[at.0..]
            .char_indices()
            .find(|(_, c)| !is_end(*c))
            .map_or(rest.len(), |(more, _)| at.0 + more);
        sentences.push(&rest[..end]);
        rest = &rest[end..];
    }
    sentences.push(rest);
    sentences.into_iter().filter(|sentence| !NormalizedText::of(sentence).0.trim().is_empty()).collect()
}

/// Returns `true` for a full stop that ends no sentence: between two letters or digits, or after a single letter or a
/// title.
fn is_within(text: &str, at: usize) -> bool {
    if !text[at..].starts_with('.') {
        return false;
    }
    let next = text[at + 1..].chars().next();
    let word = text[..at].rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let is_title = ["dr", "mr", "mrs", "ms", "st", "sr", "sra"].contains(&word.to_lowercase().as_str());
    next.is_some_and(char::is_alphanumeric) || is_title
}

fn without_code(text: &str) -> String {
    let fenced: Vec<&str> = text.split("```").step_by(2).collect();
    let outside = fenced.join(&CUT.to_string());
    let plain: Vec<&str> = outside.split('`').step_by(2).collect();
    plain.join(&CUT.to_string())
}

/// Removes lines marked as quotations, forwarded mails, and text introduced as written by others.
fn without_pasted(text: &str) -> String {
    let mut kept: Vec<String> = Vec::new();
    let mut is_telling = false;
    for line in text.lines() {
        let bare = line.trim_start();
        let plain = NormalizedText::of(line);
        if bare.is_empty() {
            is_telling = false;
        }
        let is_head = [
            "from:",
            "to:",
            "subject:",
            "date:",
            "de:",
            "para:",
            "assunto:",
            "asunto:",
            "von:",
            "betreff:",
            "objet:",
            "от:",
            "тема:",
        ]
        .iter()
        .any(|head| bare.to_lowercase().starts_with(head));
        if LEXICON.quoting.are_in(&plain) || is_head {
            // All that follows was forwarded.
            break;
        }
        if bare.starts_with(['>', '|', '»']) || is_telling {
            kept.push(CUT.to_string());
            continue;
        }
        let told = bare.find([':', '：']).filter(|at| {
            let is_time = bare[..*at].ends_with(|c: char| c.is_ascii_digit());
            !is_time && LEXICON.telling.are_in(&NormalizedText::of(&bare[..*at]))
        });
        if let Some(at) = told {
            kept.push(format!("{}{CUT}", &bare[..at]));
            is_telling = true;
            continue;
        }
        kept.push(line.to_owned());
    }
    kept.join("\n")
}

/// Removes text between quotation marks, unless it is short enough for a name.
fn without_quotations(text: &str) -> String {
    const PAIRS: [(char, &[char]); 8] = [
        ('"', &['"']),
        ('“', &['”', '“']),
        ('„', &['“', '”']),
        ('«', &['»']),
        ('»', &['«']),
        ('「', &['」']),
        ('『', &['』']),
        ('‘', &['’']),
    ];
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, open, closes)) = rest.char_indices().find_map(|(at, c)| {
        PAIRS.iter().find(|(open, _)| *open == c).map(|(open, closes)| (at, *open, *closes))
    }) {
        let (before, from) = rest.split_at(at);
        kept.push_str(before);
        let inside = &from[open.len_utf8()..];
        // An unclosed quotation mark covers the rest.
        let end = inside.find(closes).unwrap_or(inside.len());
        let words = &inside[..end];
        let is_name = NormalizedText::of(words).words().count() <= NAME_WORDS && words.chars().count() <= 30;
        kept.push_str(if is_name { words } else { "\u{1e}" });
        rest = inside[end..].trim_start_matches(closes);
        if end < inside.len() && !rest.is_empty() && !is_name {
            kept.push(CUT);
        }
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(text: &str) -> String {
        own_words(text, &[]).replace(CUT, "#")
    }

    #[test]
    fn what_is_quoted_pasted_or_code_is_not_own() {
        for (text, kept) in [
            ("I live in Riga", "I live in Riga"),
            ("> I live in Rome\nI live in Riga", "#\nI live in Riga"),
            ("Look: `I live in Rome` ok", "Look: # ok"),
            ("A\n```\nI live in Rome\n```\nB", "A\n#\nB"),
            ("He said \"I live in Rome and so on\" to me", "He said ## to me"),
            ("My dog is called \"Rex\"", "My dog is called Rex"),
            ("The page says: I live in Rome", "The page says#"),
            ("The page says:\nI live in Rome\n\nI live in Riga", "The page says#\n#\n\nI live in Riga"),
            ("See\nFrom: Bob\nI live in Rome", "See"),
            ("I get up at 7:30 and said so: ok", "I get up at 7:30 and said so: ok"),
        ] {
            assert_eq!(own(text), kept, "{text}");
        }
        let span = Span { offset: 2, length: 3 };
        assert_eq!(own_words("😀abcd", &[span]).replace(CUT, "#"), "😀###d");
    }

    #[test]
    fn words_are_held_in_their_order_and_across_nothing_that_was_taken_out() {
        assert!(holds("I live  in RIGA!", "live in Riga"));
        assert!(!holds("I live in Riga", "in Rig"));
        assert!(!holds(&own_words("I live `x` in Riga", &[]), "live in Riga"));
        assert!(!holds("anything", "..."));
    }

    #[test]
    fn sentences_end_where_they_end() {
        let text = "I see Dr. Ozols at 3.30 p.m. daily. Do you? Yes";
        assert_eq!(sentences(text).len(), 4, "{:?}", sentences(text));
        assert_eq!(sentences("我住在里加。你呢？"), ["我住在里加。", "你呢？"]);
    }
}
