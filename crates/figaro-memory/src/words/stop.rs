//! Stop words: the lists, and detection of a language by them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use super::fold::{fold, lower};
use super::language::StemmerLanguage;

/// Stop words of each language, folded.
static STOP: LazyLock<BTreeMap<StemmerLanguage, HashSet<String>>> = LazyLock::new(|| {
    let listed: BTreeMap<String, String> =
        serde_saphyr::from_str(include_str!("stop_words.yaml")).unwrap_or_default();
    let of = |language: StemmerLanguage| listed.get(language.code()).map_or("", String::as_str);
    let folded = |words: &str| words.split_whitespace().map(|word| fold(word).into_owned()).collect();
    StemmerLanguage::ALL.into_iter().map(|language| (language, folded(of(language)))).collect()
});

/// Languages in Latin letters by stop word.
static OWNERS: LazyLock<HashMap<&'static str, Vec<StemmerLanguage>>> = LazyLock::new(|| {
    let mut owners: HashMap<&'static str, Vec<StemmerLanguage>> = HashMap::new();
    for (language, words) in &*STOP {
        for word in words.iter().filter(|word| word.is_ascii()) {
            owners.entry(word.as_str()).or_default().push(*language);
        }
    }
    owners
});

/// Returns `true` for a stop word of this language, given folded.
pub(super) fn is_stop(language: StemmerLanguage, folded: &str) -> bool {
    STOP.get(&language).is_some_and(|words| words.contains(folded))
}

/// Returns the language with most stop words in a text; a word shared by several languages counts in part for each.
/// `None` if two are nearly equal.
pub(super) fn vote(text: &str) -> Option<StemmerLanguage> {
    let mut votes = [0_f32; StemmerLanguage::ALL.len() + 1];
    for word in lower(text).split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let owners = OWNERS.get(&*fold(word)).map_or(&[][..], Vec::as_slice);
        for owner in owners {
            votes[*owner as usize] += 1.0 / owners.len() as f32;
        }
    }
    let mut ranked: Vec<(f32, StemmerLanguage)> =
        StemmerLanguage::ALL.into_iter().map(|language| (votes[language as usize], language)).collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    match ranked[..] {
        [(first, language), (second, _), ..] if first >= 0.9 && first >= second * 1.3 => Some(language),
        _ => None,
    }
}

/// Stop words of questions in scripts without spaces, longest first.
static UNSPACED: LazyLock<Vec<String>> = LazyLock::new(|| {
    let listed: BTreeMap<String, String> =
        serde_saphyr::from_str(include_str!("stop_words.yaml")).unwrap_or_default();
    let of = |code: &str| listed.get(code).map_or("", String::as_str);
    let all = ["zh", "ja", "th", "ko"].into_iter().flat_map(|code| of(code).split_whitespace());
    let mut words: Vec<String> = all.map(|word| fold(word).into_owned()).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words
});

/// Replaces the stop words in a folded run of a script without spaces by spaces.
pub(super) fn without_unspaced(run: &str) -> String {
    let cut = |rest: String, word: &String| {
        if rest.contains(word.as_str()) { rest.replace(word.as_str(), " ") } else { rest }
    };
    UNSPACED.iter().fold(run.to_owned(), cut)
}
