//! Search for methods in everyday words. Used by the catalog, and by Figaro for tools of any source. Each word of the query
//! is matched against name, description and parameters; rarer words and matches in the name count more. Inflections, typos
//! and synonyms (`bot-api/words.json`) count a little less.

use std::collections::HashMap;

use serde::Deserialize;

use crate::lines::TableLines;
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

/// Factors on a weight for synonyms, inflections and typos.
const SYNONYM: f32 = 0.85;
const INFLECTED: f32 = 0.85;
const MISSPELT: f32 = 0.7;

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
    /// Words of Telegram's own texts, by synonym.
    synonyms: HashMap<&'static str, Vec<&'static str>>,
    /// Search words for a method's purpose, by method name.
    methods: HashMap<&'static str, &'static str>,
}

impl Synonyms {
    #[expect(clippy::expect_used, reason = "the data is part of the build; a test parses it")]
    pub(crate) fn embedded() -> Self {
        serde_json::from_str(include_str!("../bot-api/words.json")).expect("words.json fits")
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

/// Returns the indexes of the tools that match a query in everyday English, best first. Leaves out tools that match much
/// worse than the best.
#[must_use]
pub fn best(query: &str, entries: &[SearchableTool<'_>]) -> Vec<usize> {
    let document = |(at, entry): (usize, &SearchableTool<'_>)| {
        Document::new(at, entry.name, entry.words, entry.description, &entry.parameters)
    };
    let documents: Vec<Document<usize>> = entries.iter().enumerate().map(document).collect();
    rank(query, &documents, &Synonyms::embedded())
}

/// A searchable item, with the weight of each of its words.
#[derive(Debug)]
pub(crate) struct Document<T> {
    of: T,
    words: HashMap<String, f32>,
    /// Words of its name.
    name: Vec<String>,
}

/// Candidates for one word of the query: known words with their worth.
type Sought = Vec<(String, f32)>;

/// Returns the documents that match a query in everyday English, best first. Leaves out those below [`WORTH_SHOWING`] of
/// the best score.
pub(crate) fn rank<T: Copy>(query: &str, documents: &[Document<T>], words: &Synonyms) -> Vec<T> {
    let rarity = rarity(documents);
    let asked: Vec<Sought> = meaningful(query).iter().map(|word| sought(word, &rarity, words)).collect();
    let mut scored: Vec<(f32, T)> =
        documents.iter().map(|document| (document.score(&asked), document.of)).collect();
    // The sort is stable: equals keep Telegram's order, which puts plainer methods first.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best = scored.first().map_or(0.0, |(score, _)| *score);
    let shown = scored.into_iter().filter(|(score, _)| *score > 0.0 && *score >= best * WORTH_SHOWING);
    shown.map(|(_, of)| of).collect()
}

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

impl<T> Document<T> {
    /// Makes a document for a method of the Bot API from its name, description, parameters and `words`.
    pub(crate) fn of_method(of: T, method: &Method, lines: &TableLines, words: &Synonyms) -> Self {
        let said = words.said_of(method);
        let parameters: Vec<&str> = method.params.iter().map(|param| param.name.as_str()).collect();
        Self::new(of, &method.name, said, lines.method(&method.name).unwrap_or_default(), &parameters)
    }

    /// Makes a document from a name, the search words `said`, a description, and parameter names.
    pub(crate) fn new(of: T, name: &str, said: &str, description: &str, parameters: &[&str]) -> Self {
        let name = split_words(name);
        let mut counts: HashMap<String, f32> = HashMap::new();
        let mut add = |words: &[String], weight: f32| {
            for word in words {
                let count = counts.entry(word.clone()).or_default();
                *count = count.max(weight);
            }
        };
        add(&name, IN_NAME);
        add(&split_words(said), IN_WORDS);
        add(&split_words(description), IN_DESCRIPTION);
        parameters.iter().for_each(|param| add(&split_words(param), IN_PARAMETERS));
        Self { of, words: counts, name }
    }

    /// Returns the score for a query: the sum of the best match of each word, raised if the query covers the whole name. 0
    /// if no word matches.
    fn score(&self, asked: &[Sought]) -> f32 {
        let best = |sought: &Sought| {
            let worth = sought.iter().filter_map(|(word, worth)| Some(worth * self.words.get(word)?));
            worth.fold(0.0, f32::max)
        };
        let sum: f32 = asked.iter().map(best).sum();
        let covered = |word: &&String| asked.iter().flatten().any(|(sought, _)| sought == *word);
        let share = self.name.iter().filter(covered).count() as f32 / self.name.len().max(1) as f32;
        sum * (0.6 + 0.4 * share)
    }
}

/// Returns the weight of each known word: higher the fewer documents contain it.
fn rarity<T>(documents: &[Document<T>]) -> HashMap<String, f32> {
    let mut occurs: HashMap<String, f32> = HashMap::new();
    for word in documents.iter().flat_map(|document| document.words.keys()) {
        *occurs.entry(word.clone()).or_default() += 1.0;
    }
    let all = documents.len() as f32;
    occurs.values_mut().for_each(|count| *count = (1.0 + all / *count).ln());
    occurs
}

/// Finds the known words that `word` may mean, with likeness times rarity.
fn sought(word: &str, rarity: &HashMap<String, f32>, words: &Synonyms) -> Sought {
    let own = rarity.get(word).copied();
    // A known word is not a misspelling of another, and its rare forms do not make it rarer.
    let least = if own.is_some() { INFLECTED } else { MISSPELT };
    let near = rarity.iter().filter_map(|(known, rare)| {
        let likeness = likeness(word, known);
        (likeness >= least).then(|| (known.clone(), likeness * own.map_or(*rare, |own| own.min(*rare))))
    });
    let mut sought: Sought = near.collect();
    let least = if own.is_some() { 1.0 } else { MISSPELT };
    let others = words.synonyms.iter().filter(|(said, _)| likeness(word, &normal(said)) >= least);
    for other in others.flat_map(|(_, meant)| meant) {
        sought.extend(rarity.get(&normal(other)).map(|rare| (normal(other), SYNONYM * rare)));
    }
    sought
}

/// Likeness of two words: 1 if equal, less for an inflection, still less for a misspelling, 0 otherwise.
fn likeness(a: &str, b: &str) -> f32 {
    if a == b {
        return 1.0;
    }
    let (shorter, longer) = (a.len().min(b.len()), a.len().max(b.len()));
    let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    if common >= 4 && common + 1 >= shorter && longer - common <= 4 {
        return INFLECTED;
    }
    let allowed = match longer {
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
