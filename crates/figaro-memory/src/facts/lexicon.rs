//! Word lists of the rules (`lexicon.yaml`), and the normalised text that they are matched against.

use std::sync::LazyLock;

use serde::Deserialize;

use super::super::words::{fold, lower};

/// Word lists, in the form of [`NormalizedText`].
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactLexicon {
    pub(super) subjects: LexiconTerms,
    pub(super) possessives: LexiconTerms,
    pub(super) objects: LexiconTerms,
    pub(super) family: LexiconTerms,
    pub(super) others: LexiconTerms,
    pub(super) pronouns: LexiconTerms,
    pub(super) thoughts: LexiconTerms,
    pub(super) reports: LexiconTerms,
    pub(super) sources: LexiconTerms,
    pub(super) experts: LexiconTerms,
    pub(super) contrasts: LexiconTerms,
    pub(super) beginnings: LexiconTerms,
    pub(super) passing: LexiconTerms,
    pub(super) jokes: LexiconTerms,
    /// Signs of laughter, not words.
    pub(super) laughs: Vec<String>,
    pub(super) imagined: LexiconTerms,
    pub(super) talk: LexiconTerms,
    pub(super) negations: LexiconTerms,
    pub(super) orders: LexiconTerms,
    pub(super) resolutions: LexiconTerms,
    pub(crate) standing: LexiconTerms,
    pub(super) secrets: LexiconTerms,
    pub(super) quoting: LexiconTerms,
    pub(super) telling: LexiconTerms,
}

pub(crate) static LEXICON: LazyLock<FactLexicon> =
    LazyLock::new(|| serde_saphyr::from_str(include_str!("lexicon.yaml")).unwrap_or_default());

/// A list of words and phrases.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "Vec<String>")]
pub(crate) struct LexiconTerms(Vec<LexiconTerm>);

#[derive(Debug)]
struct LexiconTerm {
    words: String,
    /// Bit set of its letter [`pairs`].
    pairs: u128,
    any_beginning: bool,
    any_ending: bool,
    /// `true` for a script without spaces.
    is_unspaced: bool,
}

impl From<Vec<String>> for LexiconTerms {
    fn from(list: Vec<String>) -> Self {
        let term = |term: String| {
            let words = NormalizedText::of(&term).0.trim().to_owned();
            LexiconTerm {
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

impl LexiconTerms {
    /// Returns the position of the first match in a text, in bytes of [`NormalizedText`].
    pub(super) fn first_in(&self, text: &NormalizedText) -> Option<usize> {
        self.likely(text).filter_map(|term| term.first_in(&text.0)).min()
    }

    /// Returns `true` if a text begins with one of them.
    pub(crate) fn begin(&self, text: &NormalizedText) -> bool {
        let rest = text.0.trim_start();
        self.0.iter().any(|term| {
            let behind = rest.strip_prefix(term.words.as_str());
            behind.is_some_and(|behind| term.any_ending || term.is_unspaced || behind.starts_with(' '))
        })
    }

    /// Returns `true` if one of them occurs in a text.
    pub(crate) fn are_in(&self, text: &NormalizedText) -> bool {
        self.likely(text).any(|term| term.first_in(&text.0).is_some())
    }

    /// Returns the terms whose letter pairs occur in a text: few of thousands, so that only these are searched.
    fn likely(&self, text: &NormalizedText) -> impl Iterator<Item = &LexiconTerm> {
        let there = pairs(&text.0);
        self.0.iter().filter(move |term| term.pairs & !there == 0)
    }
}

/// Returns the pairs of neighbouring bytes in a text as bits: a term with a bit that the text lacks does not occur in it.
fn pairs(text: &str) -> u128 {
    let bit = |pair: &[u8]| match pair {
        [first, second] => 1_u128 << (first.wrapping_mul(37).wrapping_add(*second) & 127),
        _ => 0,
    };
    text.as_bytes().windows(2).map(bit).fold(0, |all, bit| all | bit)
}

impl LexiconTerm {
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

/// A text in the form for comparison: words in lower case without accents, separated by single spaces, with one at each
/// end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NormalizedText(pub(super) String);

impl NormalizedText {
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

    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.0.split(' ').filter(|word| !word.is_empty())
    }

    /// Returns the text from a byte on.
    pub(super) fn from(&self, at: usize) -> Self {
        Self(format!(" {}", self.0[at..].trim_start()))
    }

    /// Returns the text without its first `count` words.
    pub(crate) fn without_first_words(&self, count: usize) -> Self {
        let words: Vec<&str> = self.words().skip(count).collect();
        Self(format!(" {} ", words.join(" ")))
    }

    /// Returns the first `count` words of the text.
    pub(super) fn first_words(&self, count: usize) -> Self {
        let words: Vec<&str> = self.words().take(count).collect();
        Self(format!(" {} ", words.join(" ")))
    }
}

/// Accepts letters, digits, and combining marks.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{97f}' | '\u{64b}'..='\u{65f}')
}

/// Returns `true` for a letter of a script without spaces between words.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whole_unless_they_say_otherwise() {
        let terms =
            LexiconTerms::from(["i", "pin code", "haha*", "*yorum", "密码"].map(str::to_owned).to_vec());
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
            assert_eq!(terms.are_in(&NormalizedText::of(text)), is_in, "{text}");
        }
    }

    #[test]
    fn the_list_is_read() {
        let FactLexicon { subjects, orders, secrets, .. } = &*LEXICON;
        assert!(subjects.0.len() > 60 && orders.0.len() > 150 && secrets.0.len() > 100);
    }
}
