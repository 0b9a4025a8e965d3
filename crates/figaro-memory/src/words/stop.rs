//! Little words: which there are, and which language those of a text vote for.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use super::fold::{fold, lower};
use super::language::Language;

/// The little words of each language, folded.
static STOP: LazyLock<BTreeMap<Language, HashSet<String>>> = LazyLock::new(|| {
    let listed: BTreeMap<String, String> =
        serde_saphyr::from_str(include_str!("stop_words.yaml")).unwrap_or_default();
    let of = |language: Language| listed.get(language.code()).map_or("", String::as_str);
    let folded = |words: &str| words.split_whitespace().map(|word| fold(word).into_owned()).collect();
    Language::ALL.into_iter().map(|language| (language, folded(of(language)))).collect()
});

/// Which languages have a word as a little one, of those in Latin letters.
static OWNERS: LazyLock<HashMap<&'static str, Vec<Language>>> = LazyLock::new(|| {
    let mut owners: HashMap<&'static str, Vec<Language>> = HashMap::new();
    for (language, words) in &*STOP {
        for word in words.iter().filter(|word| word.is_ascii()) {
            owners.entry(word.as_str()).or_default().push(*language);
        }
    }
    owners
});

/// Whether a folded word says nothing in this language.
pub(super) fn is_stop(language: Language, folded: &str) -> bool {
    STOP.get(&language).is_some_and(|words| words.contains(folded))
}

/// The language whose little words a text has most of; a word of several languages counts for each a part. `None` where two
/// have nearly as many.
pub(super) fn vote(text: &str) -> Option<Language> {
    let mut votes = [0_f32; Language::ALL.len() + 1];
    for word in lower(text).split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let owners = OWNERS.get(&*fold(word)).map_or(&[][..], Vec::as_slice);
        for owner in owners {
            votes[*owner as usize] += 1.0 / owners.len() as f32;
        }
    }
    let mut ranked: Vec<(f32, Language)> =
        Language::ALL.into_iter().map(|language| (votes[language as usize], language)).collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    match ranked[..] {
        [(first, language), (second, _), ..] if first >= 0.9 && first >= second * 1.3 => Some(language),
        _ => None,
    }
}

/// Words of questions in scripts without spaces that say nothing of what is asked for, longest first.
static UNSPACED: LazyLock<Vec<String>> = LazyLock::new(|| {
    let listed: BTreeMap<String, String> =
        serde_saphyr::from_str(include_str!("stop_words.yaml")).unwrap_or_default();
    let of = |code: &str| listed.get(code).map_or("", String::as_str);
    let all = ["zh", "ja", "th", "ko"].into_iter().flat_map(|code| of(code).split_whitespace());
    let mut words: Vec<String> = all.map(|word| fold(word).into_owned()).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words
});

/// A folded run of a script without spaces, with a space in place of each word that says nothing.
pub(super) fn without_unspaced(run: &str) -> String {
    let cut = |rest: String, word: &String| {
        if rest.contains(word.as_str()) { rest.replace(word.as_str(), " ") } else { rest }
    };
    UNSPACED.iter().fold(run.to_owned(), cut)
}
