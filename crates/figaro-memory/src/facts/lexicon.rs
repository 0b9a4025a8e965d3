//! The words that the rules go by (`lexicon.yaml`), and a text as it is compared with them.

use std::sync::LazyLock;

use serde::Deserialize;

use super::super::words::{fold, lower};

/// The lists of words, each as [`Plain`] has its words.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lexicon {
    pub(super) subjects: Terms,
    pub(super) possessives: Terms,
    pub(super) objects: Terms,
    pub(super) family: Terms,
    pub(super) others: Terms,
    pub(super) pronouns: Terms,
    pub(super) thoughts: Terms,
    pub(super) reports: Terms,
    pub(super) sources: Terms,
    pub(super) experts: Terms,
    pub(super) contrasts: Terms,
    pub(super) beginnings: Terms,
    pub(super) passing: Terms,
    pub(super) jokes: Terms,
    /// Signs, not words.
    pub(super) laughs: Vec<String>,
    pub(super) imagined: Terms,
    pub(super) talk: Terms,
    pub(super) negations: Terms,
    pub(super) orders: Terms,
    pub(super) resolutions: Terms,
    pub(crate) standing: Terms,
    pub(super) secrets: Terms,
    pub(super) quoting: Terms,
    pub(super) telling: Terms,
}

/// The lists, read once.
pub(crate) static LEXICON: LazyLock<Lexicon> =
    LazyLock::new(|| serde_saphyr::from_str(include_str!("lexicon.yaml")).unwrap_or_default());

/// A list of words and phrases.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "Vec<String>")]
pub(crate) struct Terms(Vec<Term>);

#[derive(Debug)]
struct Term {
    words: String,
    /// The [`pairs`] of its words.
    pairs: u128,
    any_beginning: bool,
    any_ending: bool,
    /// Of a script without spaces.
    is_unspaced: bool,
}

impl From<Vec<String>> for Terms {
    fn from(list: Vec<String>) -> Self {
        let term = |term: String| {
            let words = Plain::of(&term).0.trim().to_owned();
            Term {
                any_beginning: term.starts_with('*'),
                any_ending: term.ends_with('*'),
                is_unspaced: term.chars().any(is_unspaced),
                pairs: pairs(&words),
                words,
            }
        };
        Self(list.into_iter().map(term).filter(|term| !term.words.is_empty()).collect())
    }
}

impl Terms {
    /// Where the first of them stands in a text, in bytes of [`Plain`].
    pub(super) fn first_in(&self, text: &Plain) -> Option<usize> {
        self.likely(text).filter_map(|term| term.first_in(&text.0)).min()
    }

    /// Whether a text begins with one of them.
    pub(crate) fn begin(&self, text: &Plain) -> bool {
        let rest = text.0.trim_start();
        self.0.iter().any(|term| {
            let behind = rest.strip_prefix(term.words.as_str());
            behind.is_some_and(|behind| term.any_ending || term.is_unspaced || behind.starts_with(' '))
        })
    }

    /// Whether one of them stands in a text.
    pub(crate) fn are_in(&self, text: &Plain) -> bool {
        self.likely(text).any(|term| term.first_in(&text.0).is_some())
    }

    /// Those whose letters stand in a text: few of thousands, so that no more are looked for.
    fn likely(&self, text: &Plain) -> impl Iterator<Item = &Term> {
        let there = pairs(&text.0);
        self.0.iter().filter(move |term| term.pairs & !there == 0)
    }
}

/// The neighbouring bytes of a text, as bits: what has a bit that a text has not does not stand in it.
fn pairs(text: &str) -> u128 {
    let bit = |pair: &[u8]| match pair {
        [first, second] => 1_u128 << (first.wrapping_mul(37).wrapping_add(*second) & 127),
        _ => 0,
    };
    text.as_bytes().windows(2).map(bit).fold(0, |all, bit| all | bit)
}

impl Term {
    fn first_in(&self, text: &str) -> Option<usize> {
        let mut found = text.match_indices(&self.words);
        let is_whole = |at: usize| {
            let begins = self.any_beginning || text[..at].ends_with(' ');
            let ends = self.any_ending || text[at + self.words.len()..].starts_with(' ');
            self.is_unspaced || (begins && ends)
        };
        found.find(|(at, _)| is_whole(*at)).map(|(at, _)| at)
    }
}

/// A text as it is compared: its words in lower case without accents, parted by single spaces, one at each end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plain(pub(super) String);

impl Plain {
    /// The words of a text.
    pub(crate) fn of(text: &str) -> Self {
        let lowered = lower(text);
        let mut plain = String::with_capacity(lowered.len() + 2);
        plain.push(' ');
        for word in lowered.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()) {
            plain.push_str(&fold(word));
            plain.push(' ');
        }
        Self(plain)
    }

    /// Its words, one by one.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.0.split(' ').filter(|word| !word.is_empty())
    }

    /// The text from a byte on, as a text.
    pub(super) fn from(&self, at: usize) -> Self {
        Self(format!(" {}", self.0[at..].trim_start()))
    }

    /// What is behind so many of its first words, as a text.
    pub(crate) fn without_first_words(&self, count: usize) -> Self {
        let words: Vec<&str> = self.words().skip(count).collect();
        Self(format!(" {} ", words.join(" ")))
    }

    /// So many of its first words, as a text.
    pub(super) fn first_words(&self, count: usize) -> Self {
        let words: Vec<&str> = self.words().take(count).collect();
        Self(format!(" {} ", words.join(" ")))
    }
}

/// Letters, digits, and the marks that belong to letters.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{97f}' | '\u{64b}'..='\u{65f}')
}

/// Whether a letter is of a script without spaces between words.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whole_unless_they_say_otherwise() {
        let terms = Terms::from(["i", "pin code", "haha*", "*yorum", "密码"].map(str::to_owned).to_vec());
        for (text, is_in) in [
            ("I'm here", true),
            ("Iberia", false),
            ("the PIN  code", true),
            ("pin codes", false),
            ("hahahaha", true),
            ("Riga'da yaşıyorum.", true),
            ("我的密码是1", true),
            ("", false),
        ] {
            assert_eq!(terms.are_in(&Plain::of(text)), is_in, "{text}");
        }
    }

    #[test]
    fn the_list_is_read() {
        let Lexicon { subjects, orders, secrets, .. } = &*LEXICON;
        assert!(subjects.0.len() > 60 && orders.0.len() > 150 && secrets.0.len() > 100);
    }
}
