//! The records of chats as turns, tools and commands have them, and those that bear on a question: by the trigger words of their
//! kinds, and by the names of records.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::words::{Language, fold, lower, stems};
use figaro_base::ids::{ChatId, RecordId};
use figaro_base::text::estimate_tokens;
use figaro_domain::chat::ChatConfig;
use figaro_domain::record::{Book, Entry};
use figaro_prompts::{PackSet, Prompts};
use figaro_store::{RecordStore, SettingsStore, StoreError};

/// Shorter words of a name stand everywhere.
const MIN_NAME: usize = 3;
/// Longer ones are known by so many first letters, whatever their ending.
const BEGINNING: usize = 5;
/// An ending has at most so many letters.
const MAX_ENDING: usize = 3;
/// What surrounds records in a prompt takes about so many tokens.
const AROUND: usize = 40;

/// How much a record bears on a question whose kind has a trigger word in it.
const TRIGGERED: u32 = 4;
/// The same of one that is named in it.
const NAMED: u32 = 6;
/// The same of one that refers to a record that is named in it.
const BELONGS: u32 = 2;

/// Loads the records of chats. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RecordBooks {
    /// The records.
    pub store: RecordStore,
    /// The settings of chats: their packs and zones.
    pub settings: SettingsStore,
    /// The packs there are.
    pub prompts: Arc<Prompts>,
    /// The zone of chats that set none.
    pub default_zone: Tz,
}

impl RecordBooks {
    /// The records of a chat, as far as it has chosen packs for them.
    ///
    /// # Errors
    /// Of the store.
    pub async fn in_chat(&self, chat: ChatId) -> Result<Book, StoreError> {
        self.with(chat, &self.settings.chat_config(chat).await?).await
    }

    /// The same of a chat with these settings. The store is not asked where no pack is chosen.
    ///
    /// # Errors
    /// Of the store.
    pub async fn with(&self, chat: ChatId, config: &ChatConfig) -> Result<Book, StoreError> {
        let packs = self.prompts.packs().chosen(config);
        if packs.is_empty() {
            return Ok(Book::default());
        }
        let zone = config.timezone.unwrap_or(self.default_zone);
        Ok(Book::new(packs, self.store.of_chat(chat).await?, zone))
    }
}

/// A line for each entry that bears on a question, those that bear most on it first, together at most so many tokens.
#[must_use]
pub fn bearing_lines(
    book: &Book,
    packs: &PackSet,
    question: &str,
    now: DateTime<Utc>,
    tokens: usize,
) -> Vec<String> {
    let (mut lines, mut left) = (Vec::new(), tokens.saturating_sub(AROUND));
    for entry in bearing_entries(book, question, now) {
        let line = packs.rendering().line(book, &entry);
        let cost = estimate_tokens(&line) + 1;
        if cost > left {
            continue;
        }
        left -= cost;
        lines.push(line);
    }
    lines
}

/// The entries that bear on a question, those that bear most on it first. What is for a time that has passed does not.
#[must_use]
pub(crate) fn bearing_entries<'a>(book: &'a Book, question: &str, now: DateTime<Utc>) -> Vec<Entry<'a>> {
    let asked = Asked::of(question);
    let entries: Vec<Entry<'a>> = book.entries();
    let names: HashMap<RecordId, String> =
        entries.iter().map(|entry| (entry.record.id, book.name(entry.record))).collect();
    let is_series = |entry: &Entry<'_>| entry.kind.series.is_some();
    let named: BTreeSet<RecordId> = entries
        .iter()
        .filter(|entry| !is_series(entry) && asked.names(&names[&entry.record.id]))
        .map(|entry| entry.record.id)
        .collect();
    let mut triggered: HashMap<(&str, &str), bool> = HashMap::new();
    let mut ranked: Vec<(u32, Entry<'a>)> = Vec::new();
    for entry in entries {
        let is_past = book.due(&entry).is_some_and(|due| due < now);
        let has_trigger = *triggered
            .entry((entry.pack.name.as_str(), entry.kind.name.as_str()))
            .or_insert_with(|| entry.kind.triggers.iter().any(|(code, words)| asked.has_one(code, words)));
        let refers = || entry.record.refers_to().any(|to| named.contains(&to));
        let mut score = if has_trigger { TRIGGERED } else { 0 };
        score += if named.contains(&entry.record.id) { NAMED } else { 0 };
        score += if !named.is_empty() && refers() { BELONGS } else { 0 };
        if score > 0 && !is_past {
            ranked.push((score, entry));
        }
    }
    // Of those that bear equally the order of packs and kinds stays.
    ranked.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    ranked.into_iter().map(|(_, entry)| entry).collect()
}

/// The words of a question.
struct Asked<'a> {
    text: &'a str,
    /// As names are compared.
    words: Vec<String>,
}

impl<'a> Asked<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, words: plain_words(text) }
    }

    /// Whether it has one of these words of a language, in any of their forms; of several words together all.
    fn has_one(&self, code: &str, words: &[String]) -> bool {
        let language = Language::ALL.into_iter().find(|language| language.code() == code);
        let asked: BTreeSet<String> = stems(self.text, language).into_iter().collect();
        let has = |word: &str| {
            let wanted = stems(word, language);
            // A little word of the language has no stem and is compared as it stands.
            match wanted.is_empty() {
                true => plain_words(word).iter().all(|one| self.words.contains(one)),
                false => wanted.iter().all(|stem| asked.contains(stem)),
            }
        };
        words.iter().any(|words| words.split_whitespace().all(has))
    }

    /// Whether it has a word of this name.
    fn names(&self, name: &str) -> bool {
        let telling = |word: &String| {
            word.chars().count() >= MIN_NAME && !word.chars().all(|c| c.is_numeric() || c == '-')
        };
        plain_words(name).iter().filter(|word| telling(word)).any(|word| self.has_name(word))
    }

    fn has_name(&self, name: &str) -> bool {
        self.words.iter().any(|word| word == name || (is_form_of(word, name)))
    }
}

/// Whether two words are the same but for their endings.
fn is_form_of(word: &str, name: &str) -> bool {
    let shared = word.chars().zip(name.chars()).take_while(|(one, other)| one == other).count();
    let longer = word.chars().count().max(name.chars().count());
    shared >= BEGINNING && longer - shared <= MAX_ENDING
}

/// The words of a text in lower case and without accents.
fn plain_words(text: &str) -> Vec<String> {
    let lowered = lower(text);
    let words = lowered.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| fold(word).into_owned()).collect()
}
