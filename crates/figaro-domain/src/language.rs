//! A value in several languages.

/// A value for each supported language, by IETF tag. The first language is the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByLanguage<T> {
    first: (&'static str, T),
    others: Vec<(&'static str, T)>,
}

impl<T> ByLanguage<T> {
    /// Creates the value with its first language and the others.
    #[must_use]
    pub const fn new(first: (&'static str, T), others: Vec<(&'static str, T)>) -> Self {
        Self { first, others }
    }

    /// Returns the value for an IETF tag such as `pt-BR`; the one of the first language for an unknown tag.
    #[must_use]
    pub fn of(&self, tag: Option<&str>) -> &T {
        let language = tag.map(primary).unwrap_or_default();
        self.all().find(|(tag, _)| tag.eq_ignore_ascii_case(language)).map_or(&self.first.1, |(_, one)| one)
    }

    /// Returns every language's tag and value, the first language first.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &T)> {
        std::iter::once(&self.first).chain(&self.others).map(|(tag, one)| (*tag, one))
    }

    /// Applies `make` to the value of each language.
    #[must_use]
    pub fn map<U>(&self, make: impl Fn(&T) -> U) -> ByLanguage<U> {
        let made = |(tag, one): &(&'static str, T)| (*tag, make(one));
        ByLanguage { first: made(&self.first), others: self.others.iter().map(made).collect() }
    }
}

/// Returns the language of an IETF tag without its region, such as `pt` for `pt-BR`.
#[must_use]
pub fn primary(tag: &str) -> &str {
    tag.split(['-', '_']).next().unwrap_or_default()
}
