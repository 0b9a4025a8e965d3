//! Texts of a pack, in the languages that its author provides.

/// Language used if the requested one is missing.
const FALLBACK: &str = "en";

/// Texts by the ISO 639-1 code of their language, in the order of the file. Never empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(Vec<(String, String)>);

impl Words {
    /// Creates a text that is the same in every language.
    #[must_use]
    pub fn plain(words: &str) -> Self {
        Self(vec![(FALLBACK.to_owned(), words.to_owned())])
    }

    /// Creates a text from its translations, by language code.
    #[must_use]
    pub const fn by_language(words: Vec<(String, String)>) -> Self {
        Self(words)
    }

    /// Returns the text for an IETF tag such as `pt-BR`. Falls back to English, then to the first language.
    #[must_use]
    pub fn of(&self, tag: Option<&str>) -> &str {
        let language = tag.map(super::super::language::primary).unwrap_or_default();
        let find = |code: &str| self.0.iter().find(|(one, _)| one.eq_ignore_ascii_case(code));
        let found = find(language).or_else(|| find(FALLBACK)).or_else(|| self.0.first());
        found.map_or("", |(_, words)| words.as_str())
    }

    /// Returns all texts with their language codes.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(code, words)| (code.as_str(), words.as_str()))
    }
}
