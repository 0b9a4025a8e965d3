//! One thing in several languages.

/// The same in each language there is, by IETF tag; the first one serves everybody else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByLanguage<T> {
    first: (&'static str, T),
    others: Vec<(&'static str, T)>,
}

impl<T> ByLanguage<T> {
    /// The first language, and the others.
    #[must_use]
    pub const fn new(first: (&'static str, T), others: Vec<(&'static str, T)>) -> Self {
        Self { first, others }
    }

    /// What is there for an IETF tag such as `pt-BR`; that of the first language for an unknown one.
    #[must_use]
    pub fn of(&self, tag: Option<&str>) -> &T {
        let language = tag.map(primary).unwrap_or_default();
        self.all().find(|(tag, _)| tag.eq_ignore_ascii_case(language)).map_or(&self.first.1, |(_, one)| one)
    }

    /// Every language's tag with what is there for it, the first language first.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &T)> {
        std::iter::once(&self.first).chain(&self.others).map(|(tag, one)| (*tag, one))
    }

    /// What `make` gives for each language.
    #[must_use]
    pub fn map<U>(&self, make: impl Fn(&T) -> U) -> ByLanguage<U> {
        let made = |(tag, one): &(&'static str, T)| (*tag, make(one));
        ByLanguage { first: made(&self.first), others: self.others.iter().map(made).collect() }
    }
}

/// The language of an IETF tag, without its region: `pt` of `pt-BR`.
#[must_use]
pub fn primary(tag: &str) -> &str {
    tag.split(['-', '_']).next().unwrap_or_default()
}
