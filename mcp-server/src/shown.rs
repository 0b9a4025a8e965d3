//! Which tools a client is shown when it is to find them first (`--discover`). The server keeps one per client.

use std::sync::{Arc, Mutex, PoisonError};

use crate::table::Method;

/// What was found, or nothing to keep when everything is shown.
#[derive(Debug, Clone)]
pub(crate) struct Shown(Option<Arc<Mutex<Vec<&'static str>>>>);

impl Shown {
    pub(crate) fn new(discover: bool) -> Self {
        Self(discover.then(Arc::default))
    }

    /// The same for another client.
    pub(crate) fn fresh(&self) -> Self {
        Self::new(self.grows())
    }

    /// Whether only what was found is shown.
    pub(crate) const fn grows(&self) -> bool {
        self.0.is_some()
    }

    /// What was found, in that order; `None` when everything is shown.
    pub(crate) fn names(&self) -> Option<Vec<String>> {
        let names = self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        Some(names.iter().map(|name| (*name).to_owned()).collect())
    }

    /// Shows these from now on; returns whether any of them is new.
    pub(crate) fn add(&self, methods: &[&'static Method]) -> bool {
        let Some(names) = &self.0 else { return false };
        let mut names = names.lock().unwrap_or_else(PoisonError::into_inner);
        let before = names.len();
        for method in methods {
            if !names.contains(&method.name.as_str()) {
                names.push(&method.name);
            }
        }
        names.len() > before
    }
}
