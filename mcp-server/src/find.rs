//! Finds the methods that a request in everyday words means. Used by the catalog, and by Figaro for tools of any source.
//! Every word of the request looks for its like in a method's name, description and parameters: the rarer the word and
//! the nearer its place to the name, the more it counts. Inflections and typos match a little less, other words for the
//! same thing (`bot-api/words.json`) too.

use std::collections::HashMap;

use serde::Deserialize;

use crate::lines::Lines;
use crate::table::Method;

/// The description of the tool `find_telegram_methods` that clients are given.
pub(crate) const DESCRIPTION: &str = "Find methods of the Telegram Bot API for what is to be done, such as \
    \"pin a message\" or \"who is admin here\"; returns the few that fit, with their parameters.";

/// A method with less than this share of the best one's score is not shown.
const WORTH_SHOWING: f32 = 0.5;

/// The weights of words by where they stand: in the name, in other words for it, in the description, in the names of
/// parameters.
const IN_NAME: f32 = 3.0;
const IN_WORDS: f32 = 2.6;
const IN_DESCRIPTION: f32 = 1.2;
const IN_PARAMETERS: f32 = 0.5;

/// The share of a weight that is left for a word that means the same as the one asked for, or is only like it.
const SYNONYM: f32 = 0.85;
const INFLECTED: f32 = 0.85;
const MISSPELT: f32 = 0.7;

/// Words that say nothing about what is to be done.
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

/// Other words for what the Bot API says, as data.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(crate) struct Words {
    /// By a word, the words that Telegram's own texts use for the same.
    synonyms: HashMap<&'static str, Vec<&'static str>>,
    /// By the name of a method, other words that people use for what it does.
    methods: HashMap<&'static str, &'static str>,
}

impl Words {
    #[expect(clippy::expect_used, reason = "the data is part of the build; a test parses it")]
    pub(crate) fn embedded() -> Self {
        serde_json::from_str(include_str!("../bot-api/words.json")).expect("words.json fits")
    }

    /// Other words that people use for what a method does; may be empty.
    pub(crate) fn said_of(&self, method: &Method) -> &'static str {
        self.methods.get(method.name.as_str()).copied().unwrap_or_default()
    }
}

/// A tool as [`best`] sees it.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// The name of the tool, such as `sendMessage` or `add_note`.
    pub name: &'a str,
    /// Other words that people use for what it does; may be empty.
    pub words: &'a str,
    /// Its description, in English.
    pub description: &'a str,
    /// The names of its parameters.
    pub parameters: Vec<&'a str>,
}

/// The positions of the tools that fit a request in everyday English words, best first; those that fit much worse than
/// the best are left out.
#[must_use]
pub fn best(query: &str, entries: &[Entry<'_>]) -> Vec<usize> {
    let document = |(at, entry): (usize, &Entry<'_>)| {
        Document::new(at, entry.name, entry.words, entry.description, &entry.parameters)
    };
    let documents: Vec<Document<usize>> = entries.iter().enumerate().map(document).collect();
    rank(query, &documents, &Words::embedded())
}

/// Something that can be found, with the weight of each word that it is found by.
#[derive(Debug)]
pub(crate) struct Document<T> {
    of: T,
    words: HashMap<String, f32>,
    /// The words of its name.
    name: Vec<String>,
}

/// What one word of the request looks for: words that occur, and how much each of them is worth.
type Sought = Vec<(String, f32)>;

/// The documents that fit a request in everyday English words, best first. Those with less than [`WORTH_SHOWING`] of the
/// best one's score are left out.
pub(crate) fn rank<T: Copy>(query: &str, documents: &[Document<T>], words: &Words) -> Vec<T> {
    let rarity = rarity(documents);
    let asked: Vec<Sought> = meaningful(query).iter().map(|word| sought(word, &rarity, words)).collect();
    let mut scored: Vec<(f32, T)> =
        documents.iter().map(|document| (document.score(&asked), document.of)).collect();
    // Stable: of equals the one that Telegram lists first, which is the plainer one.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best = scored.first().map_or(0.0, |(score, _)| *score);
    let shown = scored.into_iter().filter(|(score, _)| *score > 0.0 && *score >= best * WORTH_SHOWING);
    shown.map(|(_, of)| of).collect()
}

/// The words of a request that could be exact names of methods or types: those with a capital inside, and one that
/// stands alone.
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
    /// A document for a method of the Bot API, found by its name, its description, its parameters and `words`.
    pub(crate) fn of_method(of: T, method: &Method, lines: &Lines, words: &Words) -> Self {
        let said = words.said_of(method);
        let parameters: Vec<&str> = method.params.iter().map(|param| param.name.as_str()).collect();
        Self::new(of, &method.name, said, lines.method(&method.name).unwrap_or_default(), &parameters)
    }

    /// A document found by a name, other words that people `said` for it, a description, and names of parameters.
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

    /// How well it fits a request: the sum over the request's words, each by the best word it finds; more where they cover the
    /// whole name. 0 if no word fits.
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

/// How much each word that occurs says: the fewer methods have it, the more.
fn rarity<T>(documents: &[Document<T>]) -> HashMap<String, f32> {
    let mut occurs: HashMap<String, f32> = HashMap::new();
    for word in documents.iter().flat_map(|document| document.words.keys()) {
        *occurs.entry(word.clone()).or_default() += 1.0;
    }
    let all = documents.len() as f32;
    occurs.values_mut().for_each(|count| *count = (1.0 + all / *count).ln());
    occurs
}

/// The words that occur and could be meant by `word`, each with its likeness times its rarity.
fn sought(word: &str, rarity: &HashMap<String, f32>, words: &Words) -> Sought {
    let own = rarity.get(word).copied();
    // A word that occurs is no misspelling of another, and no rarer for having rare forms.
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

/// 1 for the same word, less for another form of it, still less for a misspelling, 0 for another word.
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

/// The words of a request that say something; all of them if none does.
fn meaningful(query: &str) -> Vec<String> {
    let mut said = split_words(query);
    said.dedup();
    let telling: Vec<String> = said.iter().filter(|word| !STOP.contains(&word.as_str())).cloned().collect();
    if telling.is_empty() { said } else { telling }
}

/// The words of a text or a name such as `sendMessage` or `chat_id`, in lower case and without the ending of a plural.
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

/// A word without the ending of a plural or of the third person.
fn normal(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word.to_owned(),
    }
}
