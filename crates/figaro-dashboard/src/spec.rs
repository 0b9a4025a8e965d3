//! Pages of the navigation, and how a page is shown.

use figaro_prompts::texts::Texts;

/// Page of the navigation.
#[derive(Debug)]
pub(crate) struct PageSpec {
    /// Path below the dashboard; empty for the first page.
    pub(crate) path: &'static str,
    pub(crate) title: fn(&Texts) -> &'static str,
    /// `true` if only owners see it.
    pub(crate) for_owners: bool,
    /// `true` if it is there only where several bots run.
    pub(crate) is_of_several: bool,
}

/// Template of a page, and its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) template: &'static str,
    /// Page of the navigation that it belongs to.
    pub(crate) of: &'static PageSpec,
    /// Title, if it is not that page itself.
    pub(crate) title: Option<&'a str>,
    /// Number of parts of its path after that of the page of the navigation.
    pub(crate) depth: usize,
    /// `true` if the page loads itself anew when something changes.
    pub(crate) is_live: bool,
}

impl Shown<'_> {
    /// Leaves the page as it is while it is open, for what is dear to find.
    pub(crate) const fn live_if(self, is_live: bool) -> Self {
        Self { is_live, ..self }
    }

    /// Returns the relative address of the first page.
    pub(crate) fn root(&self) -> String {
        if self.depth == 0 { "./".to_owned() } else { "../".repeat(self.depth) }
    }

    /// Says how many parts of the path come after that of the page of the navigation.
    pub(crate) const fn at(self, depth: usize) -> Self {
        Self { depth, ..self }
    }
}

impl PageSpec {
    /// Returns how this page itself is shown.
    pub(crate) const fn shown(&'static self, template: &'static str) -> Shown<'static> {
        Shown { template, of: self, title: None, depth: 0, is_live: true }
    }

    /// Returns how a page below this one is shown.
    pub(crate) const fn below<'a>(&'static self, template: &'static str, title: &'a str) -> Shown<'a> {
        Shown { template, of: self, title: Some(title), depth: 1, is_live: true }
    }
}
