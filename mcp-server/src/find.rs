//! Search for methods in everyday words. Used by the catalog, and by Figaro for tools of any source. Each word of the query
//! is matched against name, description and parameters; rarer words and matches in the name count more. Inflections, typos
//! and synonyms (`bot-api/words.json`) count a little less. `languages` translates queries that are not in English.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::languages::{self, English};
use crate::table::Method;

/// Description of `find_telegram_methods` for clients.
pub(crate) const DESCRIPTION: &str = "Find methods of the Telegram Bot API for what is to be done, such as \
    \"pin a message\" or \"who is admin here\"; returns the few that fit, with their parameters.";

/// Minimum score of a shown method, as a share of the best score.
const WORTH_SHOWING: f32 = 0.5;

/// Weights of words by place: name, search words, description, parameter names.
const IN_NAME: f32 = 3.0;
const IN_WORDS: f32 = 2.6;
const IN_DESCRIPTION: f32 = 1.2;
const IN_PARAMETERS: f32 = 0.5;

/// Factors on a weight for synonyms, inflections, typos, and less likely meanings of a word of another language.
const SYNONYM: f32 = 0.85;
const INFLECTED: f32 = 0.85;
const MISSPELT: f32 = 0.7;
const LESS_LIKELY: f32 = 0.9;

/// Words without meaning for a search.
const STOP: &[&str] = &[
    "a",
    "all",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "by",
    "can",
    "could",
    "do",
    "does",
    "for",
    "from",
    "had",
    "has",
    "have",
    "her",
    "here",
    "him",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "just",
    "let",
    "me",
    "my",
    "now",
    "of",
    "on",
    "onto",
    "or",
    "our",
    "please",
    "should",
    "so",
    "some",
    "someone",
    "something",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "us",
    "want",
    "was",
    "we",
    "what",
    "when",
    "which",
    "will",
    "with",
    "would",
    "you",
    "your",
    "s",
];

/// Synonyms and search words for the Bot API, as data.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(crate) struct Synonyms {
    /// Words of Telegram's own texts, by synonym; all without plural endings.
    synonyms: HashMap<&'static str, Vec<&'static str>>,
    /// Search words for a method's purpose, by method name.
    methods: HashMap<&'static str, &'static str>,
}

impl Synonyms {
    /// Returns the embedded data, parsed on first use.
    #[expect(clippy::expect_used, reason = "the data is part of the build; a test parses it")]
    pub(crate) fn embedded() -> &'static Self {
        static EMBEDDED: LazyLock<Synonyms> = LazyLock::new(|| {
            serde_json::from_str(include_str!("../bot-api/words.json")).expect("words.json fits")
        });
        &EMBEDDED
    }

    /// Returns search words for a method's purpose; may be empty.
    pub(crate) fn said_of(&self, method: &Method) -> &'static str {
        self.methods.get(method.name.as_str()).copied().unwrap_or_default()
    }
}

/// A tool as input for [`best`].
#[derive(Debug, Clone)]
pub struct SearchableTool<'a> {
    /// Name of the tool, such as `sendMessage` or `add_note`.
    pub name: &'a str,
    /// Search words for its purpose; may be empty.
    pub words: &'a str,
    /// Description in English.
    pub description: &'a str,
    /// Names of the parameters.
    pub parameters: Vec<&'a str>,
}

/// Returns the indexes of the tools that match a query in everyday words, best first. Leaves out tools that match much
/// worse than the best.
#[must_use]
pub fn best(query: &str, entries: &[SearchableTool<'_>]) -> Vec<usize> {
    SearchIndex::new(entries.iter().cloned().enumerate()).rank(query)
}

/// Searchable items by their words.
#[derive(Debug)]
pub(crate) struct SearchIndex<T> {
    items: Vec<T>,
    /// Words of each item's name.
    names: Vec<Vec<String>>,
    words: HashMap<String, IndexedWord>,
}

/// A word of the index.
#[derive(Debug, Default)]
struct IndexedWord {
    /// Higher the fewer items have the word.
    rarity: f32,
    /// Items that have it, by their places, with its weight there.
    weights: Vec<(u32, f32)>,
}

/// Candidates for one word of the query: known words with their worth.
type Sought<'a> = Vec<(&'a str, f32)>;

/// Returns the words of a query that may be exact names of methods or types: those with an inner capital, or all words if
/// each begins with a capital.
pub(crate) fn names(query: &str) -> Vec<&str> {
    let words: Vec<&str> =
        query.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_all_names = words.iter().all(|word| word.starts_with(|c: char| c.is_ascii_uppercase()));
    let is_name = |word: &&str| {
        let has_capital_inside = word.bytes().skip(1).any(|b| b.is_ascii_uppercase());
        word.len() > 2 && (has_capital_inside || is_all_names)
    };
    words.into_iter().filter(is_name).collect()
}

impl<T: Copy> SearchIndex<T> {
    pub(crate) fn new<'a>(tools: impl IntoIterator<Item = (T, SearchableTool<'a>)>) -> Self {
        let mut index = Self { items: Vec::new(), names: Vec::new(), words: HashMap::new() };
        for (item, tool) in tools {
            let name = split_words(tool.name);
            name.iter().for_each(|word| index.add(word, IN_NAME));
            split_words(tool.words).iter().for_each(|word| index.add(word, IN_WORDS));
            split_words(tool.description).iter().for_each(|word| index.add(word, IN_DESCRIPTION));
            let parameters = tool.parameters.iter().flat_map(|parameter| split_words(parameter));
            parameters.for_each(|word| index.add(&word, IN_PARAMETERS));
            index.names.push(name);
            index.items.push(item);
        }
        let all = index.items.len() as f32;
        index.words.values_mut().for_each(|word| word.rarity = (1.0 + all / word.weights.len() as f32).ln());
        index
    }

    /// Adds a word of the next item; its greatest weight counts.
    fn add(&mut self, word: &str, weight: f32) {
        let at = self.items.len() as u32;
        let weights = &mut self.words.entry(word.to_owned()).or_default().weights;
        match weights.last_mut() {
            Some((last, greatest)) if *last == at => *greatest = greatest.max(weight),
            _ => weights.push((at, weight)),
        }
    }

    /// Returns the items that match a query in everyday words, best first. Leaves out those below [`WORTH_SHOWING`] of the
    /// best score.
    pub(crate) fn rank(&self, query: &str) -> Vec<T> {
        let mut scored: Vec<(f32, T)> =
            self.scores(&self.asked(query)).into_iter().zip(self.items.iter().copied()).collect();
        // The sort is stable: equals keep Telegram's order, which puts plainer methods first.
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let best = scored.first().map_or(0.0, |(score, _)| *score);
        let shown = scored.into_iter().filter(|(score, _)| *score > 0.0 && *score >= best * WORTH_SHOWING);
        shown.map(|(_, item)| item).collect()
    }

    /// Returns the score of each item: the sum of the best match of each word, raised if the query covers the whole name. 0
    /// if no word matches.
    fn scores(&self, asked: &[Sought<'_>]) -> Vec<f32> {
        let mut sums = vec![0.0; self.items.len()];
        for sought in asked {
            let mut best: HashMap<u32, f32> = HashMap::new();
            for (word, worth) in sought {
                for (at, weight) in self.words.get(*word).map_or(&[][..], |word| &word.weights) {
                    let best = best.entry(*at).or_default();
                    *best = best.max(worth * weight);
                }
            }
            best.iter().for_each(|(at, score)| sums[*at as usize] += score);
        }
        let covered: HashSet<&str> = asked.iter().flatten().map(|(word, _)| *word).collect();
        let share = |name: &Vec<String>| {
            let covered = name.iter().filter(|word| covered.contains(word.as_str())).count();
            covered as f32 / name.len().max(1) as f32
        };
        sums.iter().zip(&self.names).map(|(sum, name)| sum * (0.6 + 0.4 * share(name))).collect()
    }

    /// Returns the candidates for each word of a query, which need not be English.
    fn asked(&self, query: &str) -> Vec<Sought<'_>> {
        let Some(glosses) = languages::in_english(query, self) else {
            return meaningful(query).iter().map(|word| self.sought(word)).collect();
        };
        let meant = |(at, word): (usize, &String)| {
            let factor = if at == 0 { 1.0 } else { LESS_LIKELY };
            self.sought(&normal(word)).into_iter().map(move |(known, worth)| (known, worth * factor))
        };
        glosses.iter().map(|gloss| gloss.iter().enumerate().flat_map(meant).collect()).collect()
    }

    /// Finds the known words that `word` may mean, with likeness times rarity.
    fn sought(&self, word: &str) -> Sought<'_> {
        let synonyms = &Synonyms::embedded().synonyms;
        let own = self.words.get(word).map(|known| known.rarity);
        // A known word is not a misspelling of another, and its rare forms do not make it rarer.
        let least = if own.is_some() { INFLECTED } else { MISSPELT };
        let near = self.words.iter().filter_map(|(known, IndexedWord { rarity, .. })| {
            let likeness = likeness(word, known, least);
            (likeness > 0.0).then(|| (known.as_str(), likeness * own.map_or(*rarity, |own| own.min(*rarity))))
        });
        let mut sought: Sought<'_> = near.collect();
        let meant: Vec<&str> = match (own, synonyms.get(word)) {
            (_, Some(meant)) => meant.clone(),
            (Some(_), None) => Vec::new(),
            (None, None) => {
                let near = synonyms.iter().filter(|(said, _)| likeness(word, said, MISSPELT) > 0.0);
                near.flat_map(|(_, meant)| meant).copied().collect()
            }
        };
        let known = meant.into_iter().filter_map(|word| self.words.get_key_value(word));
        sought.extend(known.map(|(known, IndexedWord { rarity, .. })| (known.as_str(), SYNONYM * rarity)));
        sought
    }
}

impl<T: Copy> English for SearchIndex<T> {
    fn knows(&self, word: &str) -> bool {
        let word = normal(word);
        STOP.contains(&word.as_str())
            || self.words.contains_key(&word)
            || Synonyms::embedded().synonyms.contains_key(word.as_str())
    }

    fn resembles(&self, word: &str) -> bool {
        let word = normal(word);
        self.words.keys().any(|known| likeness(&word, known, MISSPELT) > 0.0)
    }
}

/// Likeness of two words: 1 if equal, less for an inflection, still less for a misspelling, 0 otherwise and below `least`.
fn likeness(a: &str, b: &str, least: f32) -> f32 {
    if a == b {
        return 1.0;
    }
    let (shorter, longer) = (a.len().min(b.len()), a.len().max(b.len()));
    let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    if common >= 4 && common + 1 >= shorter && longer - common <= 4 {
        return INFLECTED;
    }
    let allowed = match longer {
        _ if least > MISSPELT => return 0.0,
        0..=4 => return 0.0,
        5..=7 => 1,
        _ => 2,
    };
    if longer - shorter <= allowed && strsim::damerau_levenshtein(a, b) <= allowed { MISSPELT } else { 0.0 }
}

/// Returns the meaningful words of a query; all words if none is meaningful.
fn meaningful(query: &str) -> Vec<String> {
    let mut said = split_words(query);
    said.dedup();
    let telling: Vec<String> = said.iter().filter(|word| !STOP.contains(&word.as_str())).cloned().collect();
    if telling.is_empty() { said } else { telling }
}

/// Splits a text or a name such as `sendMessage` or `chat_id` into lower-case words without plural endings.
fn split_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && after_small) {
            words.push(String::new());
        }
        after_small = c.is_lowercase();
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words.iter().filter(|word| !word.is_empty()).map(|word| normal(word)).collect()
}

/// Strips the ending of a plural or of the third person.
fn normal(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Catalog, MethodSelection};
    use crate::languages::meanings;

    #[test]
    fn lists_of_other_languages_use_only_words_that_the_search_knows() {
        let catalog = Catalog::new(&MethodSelection { with_lifecycle: true, ..MethodSelection::default() });
        let listed = catalog.listed();
        let tools = listed.iter().map(|one| SearchableTool {
            name: &one.method.name,
            words: one.words,
            description: one.description,
            parameters: Vec::new(),
        });
        let index = SearchIndex::new(tools.enumerate());
        let words: HashSet<&str> = meanings().flat_map(|meaning| meaning.split([' ', '+'])).collect();
        let unknown: Vec<&str> =
            words.into_iter().filter(|word| !word.is_empty() && !index.knows(word)).collect();
        assert_eq!(unknown, Vec::<&str>::new());
    }

    #[test]
    fn synonyms_are_without_plural_endings() {
        let Synonyms { synonyms, .. } = Synonyms::embedded();
        let words = synonyms.keys().chain(synonyms.values().flatten());
        let inflected: Vec<&&str> = words.filter(|word| normal(word) != **word).collect();
        assert_eq!(inflected, Vec::<&&str>::new());
    }
}
