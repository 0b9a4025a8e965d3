//! Records of chats for turns, tools and commands, and the records relevant to a question: by the trigger words of their
//! kinds, and by their names.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use figaro_base::tz::Tz;

use super::words::{StemmerLanguage, fold, lower, stems};
use figaro_base::ids::{ChatId, RecordId};
use figaro_base::text::estimate_tokens;
use figaro_domain::chat::ChatConfig;
use figaro_domain::record::{Book, BookEntry};
use figaro_prompts::{PackSet, Prompts};
use figaro_store::{RecordStore, SettingsStore, StoreError};

/// Minimum characters of a distinctive word in a name.
const MIN_NAME: usize = 3;
/// Letters of a shared beginning that identify a longer word, whatever its ending.
const BEGINNING: usize = 5;
/// Maximum letters of an ending.
const MAX_ENDING: usize = 3;
/// Approximate tokens around the records in a prompt.
const AROUND: usize = 40;

/// Relevance of a record whose kind has a trigger word in the question.
const TRIGGERED: u32 = 4;
/// Relevance of a record named in the question.
const NAMED: u32 = 6;
/// Relevance of a record that refers to a record named in the question.
const BELONGS: u32 = 2;

/// Loads the records of chats. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RecordBooks {
    /// Records of all chats.
    pub store: RecordStore,
    /// Settings of chats: their packs and zones.
    pub settings: SettingsStore,
    /// Source of the current packs.
    pub prompts: Arc<Prompts>,
    /// Time zone of chats that set none.
    pub default_zone: Tz,
}

impl RecordBooks {
    /// Returns the records of a chat, for the packs that it has chosen.
    ///
    /// # Errors
    /// Of the store.
    pub fn in_chat(&self, chat: ChatId) -> Result<Book, StoreError> {
        self.with(chat, &self.settings.chat_config(chat)?)
    }

    /// Returns the records of a chat with these settings. Does not access the store if no pack is chosen.
    ///
    /// # Errors
    /// Of the store.
    pub fn with(&self, chat: ChatId, config: &ChatConfig) -> Result<Book, StoreError> {
        let packs = self.prompts.packs().chosen(config);
        if packs.is_empty() {
            return Ok(Book::default());
        }
        let zone = config.timezone.unwrap_or(self.default_zone);
        Ok(Book::new(packs, self.store.of_chat(chat)?, zone))
    }
}

/// Returns a line for each entry relevant to a question, the most relevant first, within a token limit.
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

/// Returns the entries relevant to a question, the most relevant first. Entries for a time that has passed are left out.
#[must_use]
pub(crate) fn bearing_entries<'a>(book: &'a Book, question: &str, now: DateTime<Utc>) -> Vec<BookEntry<'a>> {
    let asked = QuestionWords::of(question);
    let entries: Vec<BookEntry<'a>> = book.entries();
    let names: HashMap<RecordId, String> =
        entries.iter().map(|entry| (entry.record.id, book.name(entry.record))).collect();
    let is_series = |entry: &BookEntry<'_>| entry.kind.series.is_some();
    let named: BTreeSet<RecordId> = entries
        .iter()
        .filter(|entry| !is_series(entry) && asked.names(&names[&entry.record.id]))
        .map(|entry| entry.record.id)
        .collect();
    let mut triggered: HashMap<(&str, &str), bool> = HashMap::new();
    let mut ranked: Vec<(u32, BookEntry<'a>)> = Vec::new();
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
    // Entries of equal relevance keep the order of packs and kinds.
    ranked.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    ranked.into_iter().map(|(_, entry)| entry).collect()
}

struct QuestionWords<'a> {
    text: &'a str,
    /// Words in the form in which names are compared.
    words: Vec<String>,
}

impl<'a> QuestionWords<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, words: plain_words(text) }
    }

    /// Returns `true` if the question contains one of these words of a language, in any form; of a phrase all words.
    fn has_one(&self, code: &str, words: &[String]) -> bool {
        let language = StemmerLanguage::ALL.into_iter().find(|language| language.code() == code);
        let asked: BTreeSet<String> = stems(self.text, language).into_iter().collect();
        let has = |word: &str| {
            let wanted = stems(word, language);
            // A stop word has no stem and is compared as it is.
            match wanted.is_empty() {
                true => plain_words(word).iter().all(|one| self.words.contains(one)),
                false => wanted.iter().all(|stem| asked.contains(stem)),
            }
        };
        words.iter().any(|words| words.split_whitespace().all(has))
    }

    /// Returns `true` if the question contains a word of this name.
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

/// Returns `true` if two words differ only in their endings.
fn is_form_of(word: &str, name: &str) -> bool {
    let shared = word.chars().zip(name.chars()).take_while(|(one, other)| one == other).count();
    let longer = word.chars().count().max(name.chars().count());
    shared >= BEGINNING && longer - shared <= MAX_ENDING
}

/// Returns the words of a text in lower case and without accents.
fn plain_words(text: &str) -> Vec<String> {
    let lowered = lower(text);
    let words = lowered.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| fold(word).into_owned()).collect()
}
