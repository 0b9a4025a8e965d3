//! Words of a pack in the languages that its author has given.

/// The language that stands in for one that is not there.
const FALLBACK: &str = "en";

/// Words by the ISO 639-1 code of their language, in the order of the file. Never empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(Vec<(String, String)>);

impl Words {
    /// The same words for everybody.
    #[must_use]
    pub fn plain(words: &str) -> Self {
        Self(vec![(FALLBACK.to_owned(), words.to_owned())])
    }

    /// The same words in each language, by its tag.
    #[must_use]
    pub const fn by_language(words: Vec<(String, String)>) -> Self {
        Self(words)
    }

    /// The words for an IETF tag such as `pt-BR`: in its language, else in English, else in the first language there is.
    #[must_use]
    pub fn of(&self, tag: Option<&str>) -> &str {
        let language = tag.map(super::super::language::primary).unwrap_or_default();
        let find = |code: &str| self.0.iter().find(|(one, _)| one.eq_ignore_ascii_case(code));
        let found = find(language).or_else(|| find(FALLBACK)).or_else(|| self.0.first());
        found.map_or("", |(_, words)| words.as_str())
    }

    /// All of them: the code of the language, and the words.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(code, words)| (code.as_str(), words.as_str()))
    }
}
