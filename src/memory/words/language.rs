//! Which language a text is written in: by its script where that tells, else by the little words that each language has, else by
//! the frequency of its letter triples. A chat message is short, so it may stay open.

use rust_stemmers::Algorithm;
use whatlang::{Detector, Lang};

use super::stop;

/// A language whose words are brought to their stems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Language {
    English = 1,
    Portuguese,
    Spanish,
    German,
    French,
    Russian,
    Italian,
    Dutch,
    Turkish,
    Arabic,
    Hindi,
    Danish,
    Finnish,
    Greek,
    Hungarian,
    Norwegian,
    Romanian,
    Swedish,
    Tamil,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::English,
        Self::Portuguese,
        Self::Spanish,
        Self::German,
        Self::French,
        Self::Russian,
        Self::Italian,
        Self::Dutch,
        Self::Turkish,
        Self::Arabic,
        Self::Hindi,
        Self::Danish,
        Self::Finnish,
        Self::Greek,
        Self::Hungarian,
        Self::Norwegian,
        Self::Romanian,
        Self::Swedish,
        Self::Tamil,
    ];

    /// The language with this number, as an index keeps it; `None` for a number of no language.
    #[must_use]
    pub fn of_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|language| *language as u8 == number)
    }

    /// Its ISO 639-1 code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Portuguese => "pt",
            Self::Spanish => "es",
            Self::German => "de",
            Self::French => "fr",
            Self::Russian => "ru",
            Self::Italian => "it",
            Self::Dutch => "nl",
            Self::Turkish => "tr",
            Self::Arabic => "ar",
            Self::Hindi => "hi",
            Self::Danish => "da",
            Self::Finnish => "fi",
            Self::Greek => "el",
            Self::Hungarian => "hu",
            Self::Norwegian => "no",
            Self::Romanian => "ro",
            Self::Swedish => "sv",
            Self::Tamil => "ta",
        }
    }

    /// The Snowball stemmer for it; Hindi has one of our own.
    pub(super) const fn algorithm(self) -> Option<Algorithm> {
        Some(match self {
            Self::English => Algorithm::English,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Spanish => Algorithm::Spanish,
            Self::German => Algorithm::German,
            Self::French => Algorithm::French,
            Self::Russian => Algorithm::Russian,
            Self::Italian => Algorithm::Italian,
            Self::Dutch => Algorithm::Dutch,
            Self::Turkish => Algorithm::Turkish,
            Self::Arabic => Algorithm::Arabic,
            Self::Danish => Algorithm::Danish,
            Self::Finnish => Algorithm::Finnish,
            Self::Greek => Algorithm::Greek,
            Self::Hungarian => Algorithm::Hungarian,
            Self::Norwegian => Algorithm::Norwegian,
            Self::Romanian => Algorithm::Romanian,
            Self::Swedish => Algorithm::Swedish,
            Self::Tamil => Algorithm::Tamil,
            Self::Hindi => return None,
        })
    }

    /// Whether it writes compounds as one word, whose parts are words too.
    pub(super) const fn has_compounds(self) -> bool {
        matches!(
            self,
            Self::German
                | Self::Dutch
                | Self::Danish
                | Self::Finnish
                | Self::Hungarian
                | Self::Norwegian
                | Self::Swedish
        )
    }

    /// How much the beginning of a word counts beside its stem: more where a word has many endings behind each other.
    pub(super) const fn beginning_weight(self) -> f32 {
        match self {
            Self::Turkish | Self::Finnish | Self::Hungarian => 0.7,
            _ => super::BEGINNING_WEIGHT,
        }
    }

    const fn of_whatlang(lang: Lang) -> Option<Self> {
        Some(match lang {
            Lang::Eng => Self::English,
            Lang::Por => Self::Portuguese,
            Lang::Spa => Self::Spanish,
            Lang::Deu => Self::German,
            Lang::Fra => Self::French,
            Lang::Rus | Lang::Ukr | Lang::Bel | Lang::Bul | Lang::Srp | Lang::Mkd => Self::Russian,
            Lang::Ita => Self::Italian,
            Lang::Nld => Self::Dutch,
            Lang::Tur => Self::Turkish,
            Lang::Ara => Self::Arabic,
            Lang::Hin | Lang::Mar | Lang::Nep => Self::Hindi,
            Lang::Dan => Self::Danish,
            Lang::Fin => Self::Finnish,
            Lang::Ell => Self::Greek,
            Lang::Hun => Self::Hungarian,
            Lang::Nob => Self::Norwegian,
            Lang::Ron => Self::Romanian,
            Lang::Swe => Self::Swedish,
            Lang::Tam => Self::Tamil,
            _ => return None,
        })
    }
}

/// The languages in Latin letters that letter triples may choose between.
const LATIN: [Lang; 14] = [
    Lang::Eng,
    Lang::Por,
    Lang::Spa,
    Lang::Deu,
    Lang::Fra,
    Lang::Ita,
    Lang::Nld,
    Lang::Tur,
    Lang::Dan,
    Lang::Fin,
    Lang::Hun,
    Lang::Nob,
    Lang::Ron,
    Lang::Swe,
];

/// A text with fewer letters than this is not told by its letter triples.
const MIN_LETTERS: usize = 24;

/// The language of a text; `None` where it cannot be told, or has no stems: Chinese, Japanese and Thai are cut into n-grams
/// by their script.
#[must_use]
pub fn detect(text: &str) -> Option<Language> {
    match script(text)? {
        Script::Latin => latin(text),
        Script::Only(language) => Some(language),
    }
}

enum Script {
    Latin,
    Only(Language),
}

/// The script of most letters.
fn script(text: &str) -> Option<Script> {
    let mut latin = 0_usize;
    let mut others = [0_usize; 5];
    for c in text.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => latin += 1,
            '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => others[0] += 1,
            '\u{400}'..='\u{52f}' => others[1] += 1,
            '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' => others[2] += 1,
            '\u{900}'..='\u{97f}' => others[3] += 1,
            '\u{b80}'..='\u{bff}' => others[4] += 1,
            _ => {}
        }
    }
    const LANGUAGES: [Language; 5] =
        [Language::Greek, Language::Russian, Language::Arabic, Language::Hindi, Language::Tamil];
    let most = others.into_iter().zip(LANGUAGES).max_by_key(|(count, _)| *count);
    match most {
        Some((count, language)) if count > latin => Some(Script::Only(language)),
        _ if latin > 0 => Some(Script::Latin),
        _ => None,
    }
}

fn latin(text: &str) -> Option<Language> {
    if let Some(language) = stop::vote(text) {
        return Some(language);
    }
    if text.chars().filter(|c| c.is_alphabetic()).take(MIN_LETTERS).count() < MIN_LETTERS {
        return None;
    }
    let found = Detector::with_allowlist(LATIN.to_vec()).detect(text)?;
    if found.is_reliable() { Language::of_whatlang(found.lang()) } else { None }
}
