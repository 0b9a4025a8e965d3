//! What a text is about, as terms: stems of its words in its language, pieces of scripts that write without spaces, numbers,
//! dates. The same way for what is remembered and for questions, so that the two meet.

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
pub(crate) use self::language::Language;
use self::term::Kind;
pub(crate) use self::term::Term;

/// A term of a text, and how much it counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weighted {
    /// The term.
    pub(crate) term: Term,
    /// From 0 to 1.
    pub(crate) weight: f32,
}

/// A stem at least so long may be a compound.
const MIN_COMPOUND: usize = 8;
/// The parts of a compound are at least so long.
const MIN_PART: usize = 4;
/// Stems at least so long also count by so many of their first letters.
const BEGINNING: usize = 5;
/// How much another form of a word counts beside its stem.
const OTHER_WEIGHT: f32 = 0.6;
/// How much a part of a compound counts beside the compound.
const PART_WEIGHT: f32 = 0.6;
/// How much the day counts on which something was written, beside what it says.
const WRITTEN_WEIGHT: f32 = 0.6;

/// The terms of something that was written: its words in this language, who wrote it, when, and the dates that it names.
#[must_use]
pub(crate) fn of_message(
    text: &str,
    language: Option<Language>,
    speaker: &str,
    day: NaiveDate,
) -> Vec<Weighted> {
    let mut terms = Vec::new();
    let words = Words::of(text);
    words.each(|word| written(&mut terms, word, language));
    let mut push = |term, weight| terms.push(Weighted { term, weight });
    words.dates(day).into_iter().for_each(|term| push(term, 1.0));
    dates::of_day(day).into_iter().for_each(|term| push(term, WRITTEN_WEIGHT));
    for name in speaker_names(speaker) {
        push(name, 1.0);
    }
    terms
}

/// The terms of the words of a text in this language, without those of dates and people.
#[must_use]
pub(crate) fn of_words(text: &str, language: Option<Language>) -> Vec<Term> {
    let mut terms = Vec::new();
    Words::of(text).each(|word| written(&mut terms, word, language));
    terms.into_iter().map(|one| one.term).collect()
}

/// The terms of the whole words of a text in this language, without numbers and pieces: what a rare one names is the same thing
/// wherever it stands.
#[must_use]
pub(crate) fn of_names(text: &str, language: Option<Language>) -> Vec<Term> {
    let mut terms = Vec::new();
    Words::of(text).each(|piece| {
        let Piece::Word(word) = piece else { return };
        let stem = stem(word, language).filter(|one| !one.stem.chars().all(char::is_numeric));
        terms.extend(stem.map(|one| Term::new(Kind::Word, one.stem.as_bytes())));
    });
    terms
}

/// The stems of the words of a text in this language, and the pieces of what is written without spaces; little words are left
/// out.
#[must_use]
pub(crate) fn stems(text: &str, language: Option<Language>) -> Vec<String> {
    let mut stems = Vec::new();
    Words::of(text).each(|piece| match piece {
        Piece::Run(run) => grams::cut(&fold(run), |gram, _| stems.push(gram.to_owned())),
        Piece::Word(word) => stems.extend(stem(word, language).map(|stem| stem.stem)),
    });
    stems
}

/// The terms that a question asks for, each once: its words as each of these languages has them.
#[must_use]
pub(crate) fn of_question(text: &str, languages: &[Language], today: NaiveDate) -> Vec<Weighted> {
    let mut terms: Vec<Weighted> = Vec::new();
    let words = Words::of(text);
    let open: Vec<Option<Language>> = match languages {
        [] => vec![None],
        some => some.iter().copied().map(Some).collect(),
    };
    words.each(|word| open.iter().for_each(|language| asked(&mut terms, word, *language)));
    terms.extend(words.dates(today).into_iter().map(|term| Weighted { term, weight: 1.0 }));
    terms.sort_by(|one, other| one.term.cmp(&other.term).then(other.weight.total_cmp(&one.weight)));
    terms.dedup_by_key(|one| one.term);
    terms
}

/// The terms of who wrote something: each of their names.
pub(crate) fn speaker_names(speaker: &str) -> impl Iterator<Item = Term> {
    let lowered = lower(speaker);
    let names: Vec<Term> = lowered
        .split(|c: char| !c.is_alphanumeric())
        .filter(|name| name.chars().count() > 1)
        .map(|name| Term::new(Kind::Speaker, fold(name).as_bytes()))
        .collect();
    names.into_iter()
}

/// The same of the names that a question has words like.
#[must_use]
pub(crate) fn possible_speakers(text: &str) -> Vec<Term> {
    let mut names = Vec::new();
    Words::of(text).each(|word| {
        if let Piece::Word(word) = word {
            names.push(Term::new(Kind::Speaker, fold(word).as_bytes()));
        }
    });
    names
}

/// A text in lower case, to be read word by word.
struct Words(String);

/// A piece of a text.
#[derive(Debug, Clone, Copy)]
enum Piece<'a> {
    /// Letters or digits between others.
    Word(&'a str),
    /// Letters of a script without spaces.
    Run(&'a str),
}

impl Words {
    fn of(text: &str) -> Self {
        Self(lower(&numbers::joined(text)))
    }

    fn each<'a>(&'a self, mut piece: impl FnMut(Piece<'a>)) {
        for word in self.0.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()) {
            let mut rest = word;
            while let Some(first) = rest.chars().next() {
                let unspaced = grams::is_unspaced(first);
                let end = rest.find(|c: char| grams::is_unspaced(c) != unspaced).unwrap_or(rest.len());
                let (this, more) = rest.split_at(end);
                piece(if unspaced { Piece::Run(this) } else { Piece::Word(this) });
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

/// Letters, digits, and the marks that belong to letters.
fn is_word(c: char) -> bool {
    c.is_alphanumeric()
        || matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{97f}' | '\u{64b}'..='\u{65f}' | '\u{e31}'..='\u{e4e}')
}

fn written(terms: &mut Vec<Weighted>, piece: Piece<'_>, language: Option<Language>) {
    match piece {
        Piece::Run(run) => grams(terms, &fold(run)),
        Piece::Word(word) => {
            let Some(stem) = word_terms(terms, word, language) else { return };
            if language.is_some_and(Language::has_compounds) {
                terms.extend(parts(&stem).map(|part| weighted(Kind::Part, part, PART_WEIGHT)));
            }
        }
    }
}

fn asked(terms: &mut Vec<Weighted>, piece: Piece<'_>, language: Option<Language>) {
    match piece {
        Piece::Run(run) => {
            let telling = stop::without_unspaced(&fold(run));
            telling.split(' ').filter(|run| !run.is_empty()).for_each(|run| grams(terms, run));
        }
        Piece::Word(word) => {
            let Some(stem) = word_terms(terms, word, language) else { return };
            if language.is_some_and(Language::has_compounds) {
                // What compounds have as a part, and the words that this one is made of.
                terms.push(weighted(Kind::Part, &stem, PART_WEIGHT));
                terms.extend(parts(&stem).map(|part| weighted(Kind::Word, part, PART_WEIGHT)));
            }
        }
    }
}

fn weighted(kind: Kind, text: &str, weight: f32) -> Weighted {
    Weighted { term: Term::new(kind, text.as_bytes()), weight }
}

fn grams(terms: &mut Vec<Weighted>, run: &str) {
    grams::cut(run, |gram, weight| terms.push(weighted(Kind::Gram, gram, weight)));
}

/// Adds the terms that a word has wherever it stands, and gives its stem; `None` for a word that says nothing.
fn word_terms(terms: &mut Vec<Weighted>, word: &str, language: Option<Language>) -> Option<String> {
    let Stem { stem, other, beginning } = stem(word, language)?;
    terms.push(weighted(Kind::Word, &stem, 1.0));
    if let Some(beginning) = beginning {
        let weight = language.map_or(BEGINNING_WEIGHT, Language::beginning_weight);
        terms.push(weighted(Kind::Part, &beginning, weight));
    }
    terms.extend(other.map(|other| weighted(Kind::Part, &other, OTHER_WEIGHT)));
    Some(stem)
}

/// A word as it is compared.
struct Stem {
    stem: String,
    /// Another form that it may be found by.
    other: Option<String>,
    /// Its first letters, where it has more.
    beginning: Option<String>,
}

/// The folded stem of a word in lower case; `None` for a little word and for a single letter.
fn stem(word: &str, language: Option<Language>) -> Option<Stem> {
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

/// The first letters of a long stem.
fn beginning(stem: &str) -> Option<&str> {
    let (last, c) = stem.char_indices().nth(BEGINNING - 1)?;
    Some(&stem[..last + c.len_utf8()])
}

/// All that a stem could be made of.
fn parts(stem: &str) -> impl Iterator<Item = &str> {
    let starts: Vec<usize> = stem.char_indices().map(|(start, _)| start).collect();
    let count = starts.len();
    let cuts = if count >= MIN_COMPOUND { MIN_PART..count + 1 - MIN_PART } else { 0..0 };
    cuts.flat_map(move |cut| {
        let (first, second) = stem.split_at(starts[cut]);
        [first, second]
    })
}
