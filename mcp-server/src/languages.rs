//! Translates requests in other languages into English, word by word. Used by `find`, whose ranking takes only the English.
//! Each language has a list in `bot-api/words`, with lines such as `pin: fix* afixa foto+topo`:
//!
//! - Left of the colon: English words of Telegram's texts or of `words.json`. Spaces separate alternatives, the likeliest
//!   first; ` + ` joins parts that are all meant. An empty left side marks words without meaning for a search.
//! - Right of the colon: words of the language. A long word also stands for every word that begins with it; so does a short
//!   one with `*`, and a word with `.` never does. `+` joins words that have the meaning only together, in any order.
//! - `~prefixes` lists beginnings that words may lose (Arabic, Indonesian); `~compounds` allows several words in one (German).
//!
//! Accents and capitals do not matter. The first meaning of a word counts, and phrases come before words.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// Minimum length of a stem in bytes: four Latin letters, or six bytes of another alphabet.
const MIN_STEM: usize = 4;
const MIN_STEM_OTHER: usize = 6;
/// Minimum length of a misspelt word, and maximum length of its ending, in characters.
const MIN_MISSPELT: usize = 6;
const MAX_ENDING: usize = 3;

/// Worth of a word for the choice of the language: an English word, a misspelt one, the stem of an inflected one; and of a
/// phrase, beyond that of its words.
const ENGLISH: f32 = 0.5;
const MISSPELT: f32 = 0.4;
const STEM: f32 = 0.6;
const PHRASE: f32 = 0.2;

/// Marks that readers do without: accents, Arabic vowels, joiners, and the Hindi signs that are often left out.
const MARKS: &[RangeInclusive<char>] = &[
    '\u{300}'..='\u{36f}',
    '\u{640}'..='\u{640}',
    '\u{64b}'..='\u{65f}',
    '\u{670}'..='\u{670}',
    '\u{93c}'..='\u{93c}',
    '\u{94d}'..='\u{94d}',
    '\u{200b}'..='\u{200f}',
];
const HAN: RangeInclusive<char> = '\u{3400}'..='\u{9fff}';

/// Lists by the letters of their script, each read by the first request in that script.
static LISTS: [(RangeInclusive<char>, LazyLock<Vec<Glossary>>); 5] = [
    ('a'..='z', LazyLock::new(|| LATIN.into_iter().map(Glossary::parse).collect())),
    ('\u{400}'..='\u{52f}', LazyLock::new(|| vec![Glossary::parse(include_str!("../bot-api/words/ru.txt"))])),
    ('\u{600}'..='\u{6ff}', LazyLock::new(|| vec![Glossary::parse(include_str!("../bot-api/words/ar.txt"))])),
    ('\u{900}'..='\u{97f}', LazyLock::new(|| vec![Glossary::parse(include_str!("../bot-api/words/hi.txt"))])),
    (HAN, LazyLock::new(|| vec![Glossary::parse(include_str!("../bot-api/words/zh.txt"))])),
];
const LATIN: [&str; 8] = [
    include_str!("../bot-api/words/pt.txt"),
    include_str!("../bot-api/words/es.txt"),
    include_str!("../bot-api/words/de.txt"),
    include_str!("../bot-api/words/fr.txt"),
    include_str!("../bot-api/words/it.txt"),
    include_str!("../bot-api/words/tr.txt"),
    include_str!("../bot-api/words/id.txt"),
    include_str!("../bot-api/words/hi-latin.txt"),
];

/// Variants of a letter, by letter.
static LETTERS: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
    let lines = include_str!("../bot-api/words/letters.txt").lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| {
        let (plain, variants) = line.split_once(' ')?;
        Some((plain.chars().next()?, variants))
    });
    pairs.flat_map(|(plain, variants)| variants.chars().map(move |variant| (variant, plain))).collect()
});

/// The English vocabulary of a search.
pub(crate) trait English {
    fn knows(&self, word: &str) -> bool;

    /// Returns `true` for an inflected or misspelt English word.
    fn resembles(&self, word: &str) -> bool;
}

/// English words that a part of a request may mean, the likeliest first.
pub(crate) type Gloss = Vec<String>;

/// The words of one language.
#[derive(Debug, Default)]
struct Glossary {
    /// Meanings by word or stem, in the form that [`folded`] gives.
    words: HashMap<String, NativeWord>,
    /// Words that mean something together, and what; long ones first.
    phrases: Vec<(Vec<NativeEntry>, &'static str)>,
    /// Beginnings that a word can do without.
    prefixes: Vec<String>,
    /// `true` if words are written together as one.
    has_compounds: bool,
}

/// The meaning of a word or stem.
#[derive(Debug)]
struct NativeWord {
    /// English words; none for a word without meaning for a search.
    english: &'static str,
    is_stem: bool,
}

/// An entry of a list: a word, or a stem for all words that begin with it.
#[derive(Debug)]
struct NativeEntry {
    text: String,
    is_stem: bool,
}

/// A request as one language reads it.
#[derive(Debug, Default)]
struct Reading {
    /// Number of words understood.
    worth: f32,
    glosses: Vec<Gloss>,
}

/// Puts a request into English; `None` if it is English already, or of no known language. `english` is the vocabulary of the
/// search.
pub(crate) fn in_english(request: &str, english: &impl English) -> Option<Vec<Gloss>> {
    let words = words(request);
    let unknown: Vec<&String> = words.iter().filter(|word| !english.knows(word)).collect();
    if unknown.is_empty() {
        return None;
    }
    let readings = glossaries(&words).map(|glossary| glossary.read(&words, english));
    let best = readings.max_by(|a, b| a.worth.total_cmp(&b.worth)).filter(|best| !best.glosses.is_empty())?;
    let lead = best.worth - (words.len() - unknown.len()) as f32;
    // A look for misspelt English takes long.
    let is_better = lead > MISSPELT * unknown.len() as f32
        || lead > MISSPELT * unknown.iter().filter(|word| english.resembles(word)).count() as f32;
    is_better.then_some(best.glosses)
}

/// Returns the lists for the scripts of a request.
fn glossaries(words: &[String]) -> impl Iterator<Item = &'static Glossary> {
    let is_used =
        |script: &RangeInclusive<char>| words.iter().any(|word| word.contains(|c| script.contains(&c)));
    LISTS.iter().filter(move |(script, _)| is_used(script)).flat_map(|(_, lists)| lists.iter())
}

impl Glossary {
    fn parse(list: &'static str) -> Self {
        let mut parsed = Self::default();
        let lines = list.lines().filter(|line| !line.starts_with('#'));
        for (english, native) in lines.filter_map(|line| line.split_once(':')) {
            let native = folded(native);
            match english {
                "~prefixes" => parsed.prefixes.extend(native.split_whitespace().map(str::to_owned)),
                "~compounds" => parsed.has_compounds = true,
                _ => native.split_whitespace().for_each(|entry| parsed.add(entry, english)),
            }
        }
        parsed.phrases.sort_by_key(|(parts, _)| std::cmp::Reverse(parts.len()));
        parsed
    }

    /// Adds a word, a stem, or several joined by `+`. The first meaning of a word stays.
    fn add(&mut self, entry: &str, english: &'static str) {
        if entry.contains('+') {
            self.phrases.push((entry.split('+').map(NativeEntry::parse).collect(), english));
        } else {
            let NativeEntry { text, is_stem } = NativeEntry::parse(entry);
            let is_stem = is_stem && !english.is_empty();
            let known = self.words.entry(text).or_insert(NativeWord { english, is_stem });
            known.is_stem |= is_stem && known.english == english;
        }
    }

    fn read(&self, words: &[String], english: &impl English) -> Reading {
        let mut rest: Vec<&str> = words.iter().flat_map(|word| self.segments(word)).collect();
        let mut reading = Reading::default();
        for (parts, meaning) in &self.phrases {
            if let Some(others) = self.without(&rest, parts) {
                reading.add(meaning, parts.len() as f32 + PHRASE);
                rest = others;
            }
        }
        rest.iter().for_each(|word| self.read_word(word, english, &mut reading));
        reading
    }

    /// Returns the words other than those of a phrase; `None` if the phrase is not among them.
    fn without<'a>(&self, words: &[&'a str], parts: &[NativeEntry]) -> Option<Vec<&'a str>> {
        let is_word = |part: &NativeEntry| words.iter().any(|word| self.fits(word, part));
        let rest = parts.iter().all(is_word).then(|| words.to_vec())?;
        parts.iter().try_fold(rest, |mut rest, part| {
            let place = rest.iter().position(|word| self.fits(word, part))?;
            rest.remove(place);
            Some(rest)
        })
    }

    fn read_word(&self, word: &str, english: &impl English, reading: &mut Reading) {
        let exact = self.words.get(word).map(|known| (known.english, word.len()));
        if let Some((meaning, length)) = exact.or_else(|| self.longest(word)) {
            let share = length as f32 / word.len() as f32;
            reading.add(meaning, if share < 1.0 { STEM + (1.0 - STEM) * share } else { 1.0 });
            if let Some(second) = self.second(word.get(length..).unwrap_or_default()) {
                reading.add(second, 1.0 - STEM);
            }
        } else if english.knows(word) {
            reading.add(word, ENGLISH);
        } else if let Some(meaning) = self.misspelt(word).or_else(|| self.second(word)) {
            reading.add(meaning, MISSPELT);
        }
    }

    /// Returns the meaning of the longest stem of a word, with or without its prefix, and the length up to the stem's end.
    fn longest(&self, word: &str) -> Option<(&'static str, usize)> {
        let found = self.variants(word).filter_map(|variant| {
            let ends = variant.char_indices().rev().map(|(at, c)| at + c.len_utf8());
            let mut stems = ends.filter_map(|end| Some((end, self.words.get(variant.get(..end)?)?)));
            let (end, known) = stems.find(|(end, known)| known.is_stem || *end == variant.len())?;
            Some((end, known.english, word.len() - variant.len() + end))
        });
        let (_, english, length) = found.max_by_key(|(end, ..)| *end)?;
        Some((english, length))
    }

    /// Returns the word itself, then without each of the prefixes.
    fn variants<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a str> {
        let bare = self.prefixes.iter().filter_map(|prefix| word.strip_prefix(prefix.as_str()));
        std::iter::once(word).chain(bare.filter(|bare| bare.chars().count() > 2))
    }

    /// Finds the meaning of a later word in a compound, after the first word or any other letters.
    fn second(&self, rest: &str) -> Option<&'static str> {
        if !self.has_compounds {
            return None;
        }
        let starts = rest.char_indices().map(|(at, _)| at);
        let mut meanings =
            starts.filter_map(|at| self.longest(rest.get(at..)?)).filter(|(_, length)| *length >= MIN_STEM);
        meanings.find(|(english, _)| !english.is_empty()).map(|(english, _)| english)
    }

    /// Finds the meaning of a word with one wrong, missing, additional or swapped letter after its first.
    fn misspelt(&self, word: &str) -> Option<&'static str> {
        let letters: Vec<char> = word.chars().collect();
        let is_near = |known: &str, is_stem: bool| {
            let length = known.chars().count();
            if length + 1 < MIN_MISSPELT || letters.len() > length + MAX_ENDING {
                return false;
            }
            let lengths = if is_stem { length - 1..=length + 1 } else { letters.len()..=letters.len() };
            lengths.into_iter().filter_map(|length| letters.get(..length)).any(|start| {
                strsim::generic_damerau_levenshtein(start, &known.chars().collect::<Vec<char>>()) <= 1
            })
        };
        let first = letters.first().filter(|_| letters.len() >= MIN_MISSPELT)?;
        let known = self.words.iter().filter(|(text, _)| text.starts_with(*first));
        let near = known.filter(|(text, known)| is_near(text, known.is_stem));
        near.max_by_key(|(text, _)| (text.len(), *text)).map(|(_, known)| known.english)
    }

    fn fits(&self, word: &str, part: &NativeEntry) -> bool {
        let NativeEntry { text, is_stem } = part;
        self.variants(word).any(|word| word == text || *is_stem && word.starts_with(text.as_str()))
    }

    /// Splits Chinese, which has no spaces, at the longest known words; returns others whole.
    fn segments<'a>(&self, word: &'a str) -> Vec<&'a str> {
        let (mut rest, mut found) = (word, Vec::new());
        while rest.starts_with(|c| HAN.contains(&c)) {
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
            let known = |end: &usize| rest.get(..*end).is_some_and(|start| self.knows(start));
            let end = ends.clone().take(8).filter(known).last().or_else(|| ends.clone().next());
            let (start, after) = rest.split_at(end.unwrap_or(rest.len()));
            found.push(start);
            rest = after;
        }
        if !rest.is_empty() {
            found.push(rest);
        }
        found
    }

    fn knows(&self, word: &str) -> bool {
        self.words.contains_key(word)
            || self.phrases.iter().any(|(parts, _)| parts.iter().any(|part| part.text == word))
    }
}

impl NativeEntry {
    /// Reads a word of a list: a long one, or one with `*`, is a stem; one with `.` is none.
    fn parse(entry: &str) -> Self {
        let least = if entry.is_ascii() { MIN_STEM } else { MIN_STEM_OTHER };
        let (text, is_stem) = match (entry.strip_suffix('*'), entry.strip_suffix('.')) {
            (Some(stem), _) => (stem, true),
            (_, Some(word)) => (word, false),
            _ => (entry, entry.len() >= least && !entry.contains(|c| HAN.contains(&c))),
        };
        Self { text: text.to_owned(), is_stem }
    }
}

impl Reading {
    /// Adds a meaning: alternatives with spaces between, or several such with `+`.
    fn add(&mut self, english: &str, worth: f32) {
        self.worth += worth;
        let parts =
            english.split('+').map(|part| part.split_whitespace().map(str::to_owned).collect::<Gloss>());
        for part in parts.filter(|part| !part.is_empty()) {
            if !self.glosses.contains(&part) {
                self.glosses.push(part);
            }
        }
    }
}

/// Splits a request into folded words; a change between Chinese and another script ends a word.
fn words(request: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_han = false;
    for c in folded(request).chars() {
        let is_han = HAN.contains(&c);
        if !c.is_alphanumeric() || is_han != was_han {
            words.push(String::new());
        }
        was_han = is_han;
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.push(c);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns a text in small letters without marks, with one form of each letter.
fn folded(text: &str) -> String {
    let letters = text.chars().flat_map(char::to_lowercase);
    let plain = letters.filter(|c| !MARKS.iter().any(|marks| marks.contains(c)));
    plain.map(|c| LETTERS.get(&c).copied().unwrap_or(c)).collect()
}

/// English meanings in all lists.
#[cfg(test)]
pub(crate) fn meanings() -> impl Iterator<Item = &'static str> {
    LISTS.iter().flat_map(|(_, lists)| lists.iter()).flat_map(|list| {
        let phrases = list.phrases.iter().map(|(_, meaning)| *meaning);
        list.words.values().map(|word| word.english).chain(phrases)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct FewWords;

    impl English for FewWords {
        fn knows(&self, word: &str) -> bool {
            ["webhook", "pin", "the"].contains(&word)
        }

        fn resembles(&self, word: &str) -> bool {
            word == "sned"
        }
    }

    fn translated(request: &str) -> String {
        let glosses = in_english(request, &FewWords).unwrap_or_default();
        glosses.iter().map(|gloss| gloss[0].clone()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn requests_become_english_words() {
        let cases = [
            ("Fixa essa mensagem aí!", "pin message"),
            ("mostra o webhook", "get webhook"),
            ("кто админ в группе", "who administrator group"),
            ("foto do grupo", "photo group"),
            ("pin the webhook", ""),
            ("qqqq zzzz", ""),
            ("o da de", ""),
        ];
        for (request, wanted) in cases {
            assert_eq!(translated(request), wanted, "{request}");
        }
    }

    #[test]
    fn accents_endings_prefixes_and_typos_do_not_hide_a_word() {
        let cases = [
            ("İSTATİSTİK mesajları", "message"),
            ("der gruppenname", "group name"),
            ("saya mengirimkan foto", "send photo"),
            ("الرسائل", "message"),
            ("وبالصورة", "photo"),
            ("mensagm do canal", "message channel"),
            ("फ़ोटो भेजो", "photo send"),
        ];
        for (request, wanted) in cases {
            assert_eq!(translated(request), wanted, "{request}");
        }
    }

    #[test]
    fn chinese_is_split_into_known_words() {
        assert_eq!(translated("把这条消息置顶"), "message pin");
        assert_eq!(translated("刪除這則訊息"), translated("删除这则讯息"));
        assert_eq!(translated("設webhook"), "set webhook");
    }

    #[test]
    fn a_phrase_means_more_than_its_words() {
        assert_eq!(translated("tira o admin dele"), "demote");
        assert_eq!(translated("nimm die beitrittsanfrage an"), "approve join request");
    }
}
