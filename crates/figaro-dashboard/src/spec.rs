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
    /// `true` if the page loads itself anew when something changes.
    pub(crate) is_live: bool,
}

impl Shown<'_> {
    /// Leaves the page as it is while it is open, for what is dear to find.
    pub(crate) const fn live_if(self, is_live: bool) -> Self {
        Self { is_live, ..self }
    }
}

impl PageSpec {
    /// Returns how this page itself is shown.
    pub(crate) const fn shown(&'static self, template: &'static str) -> Shown<'static> {
        Shown { template, of: self, title: None, is_live: true }
    }

    /// Returns how a page below this one is shown.
    pub(crate) const fn below<'a>(&'static self, template: &'static str, title: &'a str) -> Shown<'a> {
        Shown { template, of: self, title: Some(title), is_live: true }
    }
}
