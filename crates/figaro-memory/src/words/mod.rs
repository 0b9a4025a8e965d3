//! Terms of a text: stems of its words, pieces of scripts without spaces, numbers, dates. Messages and questions are
//! treated alike, so that their terms match.

mod dates;
mod detect;
mod fold;
mod forms;
mod grams;
mod hindi;
mod language;
mod numbers;
mod stop;
mod term;

use chrono::NaiveDate;
use rust_stemmers::Stemmer;

pub(crate) use self::detect::detect;
pub(super) use self::fold::{fold, lower};
use self::language::BEGINNING_WEIGHT;
pub(crate) use self::language::StemmerLanguage;
pub(crate) use self::term::Term;
use self::term::TermKind;

/// A term of a text with its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weighted {
    pub(crate) term: Term,
    /// Weight from 0 to 1.
    pub(crate) weight: f32,
}

/// Minimum letters of a stem that may be a compound.
const MIN_COMPOUND: usize = 8;
/// Minimum letters of a part of a compound.
const MIN_PART: usize = 4;
/// Letters of the beginning by which longer stems also count.
const BEGINNING: usize = 5;
/// Weight of another form of a word, relative to its stem.
const OTHER_WEIGHT: f32 = 0.6;
/// Weight of a part of a compound, relative to the compound.
const PART_WEIGHT: f32 = 0.6;
/// Weight of the day of writing, relative to the text.
const WRITTEN_WEIGHT: f32 = 0.6;

/// Returns the terms of a message: its words in this language, its writer, its day, and the dates that it names.
#[must_use]
pub(crate) fn of_message(
    text: &str,
    language: Option<StemmerLanguage>,
    speaker: &str,
    day: NaiveDate,
) -> Vec<Weighted> {
    let mut terms = Vec::new();
    let words = LowercaseText::of(text);
    words.each(|word| written(&mut terms, word, language));
    let mut push = |term, weight| terms.push(Weighted { term, weight });
    words.dates(day).into_iter().for_each(|term| push(term, 1.0));
    dates::of_day(day).into_iter().for_each(|term| push(term, WRITTEN_WEIGHT));
    for name in speaker_names(speaker) {
        push(name, 1.0);
    }
    terms
}

/// Returns the terms of the words of a text in this language, without dates and people.
#[must_use]
pub(crate) fn of_words(text: &str, language: Option<StemmerLanguage>) -> Vec<Term> {
    let mut terms = Vec::new();
    LowercaseText::of(text).each(|word| written(&mut terms, word, language));
    terms.into_iter().map(|one| one.term).collect()
}

/// Returns the terms of the whole words of a text in this language, without numbers and pieces: a rare word names the
/// same thing wherever it occurs.
#[must_use]
pub(crate) fn of_names(text: &str, language: Option<StemmerLanguage>) -> Vec<Term> {
    let mut terms = Vec::new();
    LowercaseText::of(text).each(|piece| {
        let TextPiece::Word(word) = piece else { return };
        let stem = stem(word, language).filter(|one| !one.stem.chars().all(char::is_numeric));
        terms.extend(stem.map(|one| Term::new(TermKind::Word, one.stem.as_bytes())));
    });
    terms
}

/// Returns the stems of a text in this language, and the pieces of scripts without spaces; stop words are left out.
#[must_use]
pub(crate) fn stems(text: &str, language: Option<StemmerLanguage>) -> Vec<String> {
    let mut stems = Vec::new();
    LowercaseText::of(text).each(|piece| match piece {
        TextPiece::Run(run) => grams::cut(&fold(run), |gram, _| stems.push(gram.to_owned())),
        TextPiece::Word(word) => stems.extend(stem(word, language).map(|stem| stem.stem)),
    });
    stems
}

/// Returns the terms of a question, each once: its words in each of these languages.
#[must_use]
pub(crate) fn of_question(text: &str, languages: &[StemmerLanguage], today: NaiveDate) -> Vec<Weighted> {
    let mut terms: Vec<Weighted> = Vec::new();
    let words = LowercaseText::of(text);
    let open: Vec<Option<StemmerLanguage>> = match languages {
        [] => vec![None],
        some => some.iter().copied().map(Some).collect(),
    };
    words.each(|word| open.iter().for_each(|language| asked(&mut terms, word, *language)));
    terms.extend(words.dates(today).into_iter().map(|term| Weighted { term, weight: 1.0 }));
    terms.sort_by(|one, other| one.term.cmp(&other.term).then(other.weight.total_cmp(&one.weight)));
    terms.dedup_by_key(|one| one.term);
    terms
}

/// Returns the terms of a writer: each of their names.
pub(crate) fn speaker_names(speaker: &str) -> impl Iterator<Item = Term> {
    let lowered = lower(speaker);
    let names: Vec<Term> = lowered
        .split(|c: char| !c.is_alphanumeric())
        .filter(|name| name.chars().count() > 1)
        .map(|name| Term::new(TermKind::Speaker, fold(name).as_bytes()))
        .collect();
    names.into_iter()
}

/// Returns the terms of words in a question that may be names of writers.
#[must_use]
pub(crate) fn possible_speakers(text: &str) -> Vec<Term> {
    let mut names = Vec::new();
    LowercaseText::of(text).each(|word| {
        if let TextPiece::Word(word) = word {
            names.push(Term::new(TermKind::Speaker, fold(word).as_bytes()));
        }
    });
    names
}

/// A text in lower case, for reading it word by word.
struct LowercaseText(String);

#[derive(Debug, Clone, Copy)]
enum TextPiece<'a> {
    /// Letters or digits between separators.
    Word(&'a str),
    /// Letters of a script without spaces.
    Run(&'a str),
}

impl LowercaseText {
    fn of(text: &str) -> Self {
        Self(lower(&numbers::joined(text)))
    }

    fn each<'a>(&'a self, mut piece: impl FnMut(TextPiece<'a>)) {
        for word in self.0.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()) {
            let mut rest = word;
            while let Some(first) = rest.chars().next() {
                let unspaced = grams::is_unspaced(first);
                let end = rest.find(|c: char| grams::is_unspaced(c) != unspaced).unwrap_or(rest.len());
                let (this, more) = rest.split_at(end);
                piece(if unspaced { TextPiece::Run(this) } else { TextPiece::Word(this) });
                rest = more;
            }
        }
    }

    fn dates(&self, today: NaiveDate) -> Vec<Term> {
        let folded = fold(&self.0);
        let words: Vec<&str> = folded.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).collect();
        dates::named(&words, &folded, today)
    }
}

/// Accepts letters, digits, and combining marks.
fn is_word(c: char) -> bool {
    c.is_alphanumeric()
        || matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{97f}' | '\u{64b}'..='\u{65f}' | '\u{e31}'..='\u{e4e}')
}

fn written(terms: &mut Vec<Weighted>, piece: TextPiece<'_>, language: Option<StemmerLanguage>) {
    match piece {
        TextPiece::Run(run) => grams(terms, &fold(run)),
        TextPiece::Word(word) => {
            let Some(stem) = word_terms(terms, word, language) else { return };
            if language.is_some_and(StemmerLanguage::has_compounds) {
                terms.extend(parts(&stem).map(|part| weighted(TermKind::Part, part, PART_WEIGHT)));
            }
        }
    }
}

fn asked(terms: &mut Vec<Weighted>, piece: TextPiece<'_>, language: Option<StemmerLanguage>) {
    match piece {
        TextPiece::Run(run) => {
            let telling = stop::without_unspaced(&fold(run));
            telling.split(' ').filter(|run| !run.is_empty()).for_each(|run| grams(terms, run));
        }
        TextPiece::Word(word) => {
            let Some(stem) = word_terms(terms, word, language) else { return };
            if language.is_some_and(StemmerLanguage::has_compounds) {
                // Compounds that contain this word, and the words that it is made of.
                terms.push(weighted(TermKind::Part, &stem, PART_WEIGHT));
                terms.extend(parts(&stem).map(|part| weighted(TermKind::Word, part, PART_WEIGHT)));
            }
        }
    }
}

fn weighted(kind: TermKind, text: &str, weight: f32) -> Weighted {
    Weighted { term: Term::new(kind, text.as_bytes()), weight }
}

fn grams(terms: &mut Vec<Weighted>, run: &str) {
    grams::cut(run, |gram, weight| terms.push(weighted(TermKind::Gram, gram, weight)));
}

/// Adds the terms of a word, and returns its stem; `None` for a word that says nothing.
fn word_terms(terms: &mut Vec<Weighted>, word: &str, language: Option<StemmerLanguage>) -> Option<String> {
    let Stem { stem, other, beginning } = stem(word, language)?;
    terms.push(weighted(TermKind::Word, &stem, 1.0));
    if let Some(beginning) = beginning {
        let weight = language.map_or(BEGINNING_WEIGHT, StemmerLanguage::beginning_weight);
        terms.push(weighted(TermKind::Part, &beginning, weight));
    }
    terms.extend(other.map(|other| weighted(TermKind::Part, &other, OTHER_WEIGHT)));
    Some(stem)
}

/// A word in the forms for comparison.
struct Stem {
    stem: String,
    /// Another form for finding it.
    other: Option<String>,
    /// Its first letters, if it has more.
    beginning: Option<String>,
}

/// Returns the folded stem of a lower-case word; `None` for a stop word or a single letter.
fn stem(word: &str, language: Option<StemmerLanguage>) -> Option<Stem> {
    let folded = fold(word);
    if folded.chars().nth(1).is_none() && !folded.chars().all(char::is_numeric) {
        return None;
    }
    let Some(language) = language else {
        let beginning = beginning(&folded).map(str::to_owned);
        return Some(Stem { stem: folded.into_owned(), other: None, beginning });
    };
    if stop::is_stop(language, &folded) {
        return None;
    }
    let stem = match language.algorithm() {
        Some(algorithm) => Stemmer::create(algorithm).stem(&forms::singular(word, language)).into_owned(),
        None => hindi::stem(&folded).to_owned(),
    };
    let stem = forms::spelling(fold(&stem).into_owned(), language);
    let other = forms::other(&folded, &stem, language);
    Some(Stem { stem, other, beginning: beginning(&folded).map(str::to_owned) })
}

/// Returns the first letters of a long stem.
fn beginning(stem: &str) -> Option<&str> {
    let (last, c) = stem.char_indices().nth(BEGINNING - 1)?;
    Some(&stem[..last + c.len_utf8()])
}

/// Returns all possible parts of a compound stem.
fn parts(stem: &str) -> impl Iterator<Item = &str> {
    let starts: Vec<usize> = stem.char_indices().map(|(start, _)| start).collect();
    let count = starts.len();
    let cuts = if count >= MIN_COMPOUND { MIN_PART..count + 1 - MIN_PART } else { 0..0 };
    cuts.flat_map(move |cut| {
        let (first, second) = stem.split_at(starts[cut]);
        [first, second]
    })
}
