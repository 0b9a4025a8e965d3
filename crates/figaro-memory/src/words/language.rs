//! Languages with a stemmer.

use rust_stemmers::Algorithm;
use whatlang::Lang;

/// Weight of the beginning of a word, relative to the word.
pub(super) const BEGINNING_WEIGHT: f32 = 0.3;

/// A language with a stemmer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(crate) enum StemmerLanguage {
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

impl StemmerLanguage {
    pub(crate) const ALL: [Self; 19] = [
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

    /// Returns the language with this number in an index; `None` if there is none.
    #[must_use]
    pub(crate) fn of_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|language| *language as u8 == number)
    }

    #[must_use]
    pub(crate) const fn code(self) -> &'static str {
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

    /// Returns the Snowball stemmer of the language; Hindi has our own.
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

    /// Returns `true` if the language writes compounds as one word, whose parts are words too.
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

    /// Returns the weight of the beginning of a word, relative to its stem: higher in languages with chained endings.
    pub(super) const fn beginning_weight(self) -> f32 {
        match self {
            Self::Turkish | Self::Finnish | Self::Hungarian => 0.7,
            _ => BEGINNING_WEIGHT,
        }
    }

    pub(super) const fn of_whatlang(lang: Lang) -> Option<Self> {
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
