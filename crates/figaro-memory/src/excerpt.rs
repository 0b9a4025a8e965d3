//! Excerpts of long messages: the sentences that matter for a question.

use std::collections::HashSet;

use super::words::{StemmerLanguage, Term, of_words};
use figaro_base::text::estimate_tokens;

/// Placeholder for omitted text.
const GAP: &str = " … ";

/// Returns the sentences of a text with most terms of a question, in order, within `limit` tokens; at least the best one,
/// cut if it alone is longer. Without any match, returns the beginning.
pub(super) fn excerpt(
    text: &str,
    asked: &HashSet<Term>,
    language: Option<StemmerLanguage>,
    limit: usize,
) -> String {
    let sentences = sentences(text);
    let hits = |sentence: &str| {
        let found: HashSet<Term> =
            of_words(sentence, language).into_iter().filter(|term| asked.contains(term)).collect();
        found.len()
    };
    let scores: Vec<usize> = sentences.iter().map(|sentence| hits(sentence)).collect();
    // A sentence after a matching one often continues it.
    let weight = |at: usize| 4 * scores[at] + at.checked_sub(1).map_or(0, |before| scores[before]);
    let mut order: Vec<usize> = (0..sentences.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(weight(*at)), *at));
    let mut left = limit.saturating_sub(4);
    let mut kept: Vec<usize> = Vec::new();
    for at in order {
        let cost = estimate_tokens(sentences[at]) + 2;
        if cost <= left {
            left -= cost;
            kept.push(at);
        }
    }
    let Some(first) = kept.iter().min() else {
        let best = (0..sentences.len()).max_by_key(|at| (weight(*at), std::cmp::Reverse(*at))).unwrap_or(0);
        return cut(sentences.get(best).copied().unwrap_or(text), limit);
    };
    let mut whole = if *first > 0 { GAP.trim_start().to_owned() } else { String::new() };
    kept.sort_unstable();
    for (place, at) in kept.iter().enumerate() {
        let goes_on = place == 0 || kept[place - 1] + 1 == *at;
        whole.push_str(if place == 0 {
            ""
        } else if goes_on {
            " "
        } else {
            GAP
        });
        whole.push_str(sentences[*at]);
    }
    if kept.last().is_some_and(|last| last + 1 < sentences.len()) {
        whole.push_str(GAP.trim_end());
    }
    whole
}

/// Returns the beginning of a text within `limit` tokens.
fn cut(text: &str, limit: usize) -> String {
    if estimate_tokens(text) <= limit {
        return text.to_owned();
    }
    // The mark is counted together with its text: the two may take more tokens than each alone.
    let fits = |shown: &String| estimate_tokens(shown) <= limit;
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let shown = |count: usize| format!("{}…", words[..count].concat().trim_end());
    let (mut low, mut high) = (0, words.len() - 1);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(&shown(middle)) { low = middle } else { high = middle - 1 }
    }
    if low > 0 {
        return shown(low);
    }
    // A single endless word, as in scripts without spaces.
    let chars: Vec<char> = text.chars().take(limit).collect();
    let beginnings = (0..=chars.len()).rev().map(|count| format!("{}…", String::from_iter(&chars[..count])));
    beginnings.into_iter().find(fits).unwrap_or_default()
}

/// Splits a text into sentences; a line without punctuation counts as one.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '\n' | '。' | '！' | '？' | '।' => true,
            '.' | '!' | '?' | '…' | '؟' => next.is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            found.push(text[start..end].trim());
            start = end;
        }
    }
    found.push(text[start..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::words::of_question;
    use super::*;

    fn asked(question: &str) -> HashSet<Term> {
        let today = chrono::NaiveDate::from_ymd_opt(2026, 1, 1).unwrap();
        of_question(question, &[StemmerLanguage::English], today).into_iter().map(|one| one.term).collect()
    }

    #[test]
    fn the_sentences_that_matter_stay_in_their_order() {
        let filler = "Nothing of interest stands in this one, whatever you look for in it. ".repeat(10);
        let text =
            format!("{filler}The red bicycle is in the cellar. {filler}Its lock opens with 4711. {filler}");
        let shown = excerpt(&text, &asked("where is my bicycle"), Some(StemmerLanguage::English), 60);
        let at = shown.find("The red bicycle is in the cellar.").expect("the best sentence stays");
        assert!(shown.ends_with('…') && shown[..at].contains('…'), "{shown}");
        assert!(estimate_tokens(&shown) <= 60, "{shown}");
    }

    #[test]
    fn the_mark_at_a_cut_is_counted_too() {
        let text = "a#0𑯀\u{9be}a𝒢\u{16ff0}𑻠𝐀𑤌A𑃰¡a𚿵𑌲!¡!A!ῆ𖠁ܐ!ꢀ!𞸹A𐢧*``\"𝑖";
        assert!(estimate_tokens(&excerpt(text, &HashSet::new(), None, 72)) <= 72);
    }

    proptest! {
        #[test]
        fn it_never_takes_more_than_it_may(text in "\\PC{0,400}", limit in 10..80_usize) {
            let shown = excerpt(&text, &HashSet::new(), None, limit);
            prop_assert!(estimate_tokens(&shown) <= limit, "{} {}", estimate_tokens(&shown), shown);
        }
    }
}
