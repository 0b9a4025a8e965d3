//! Tools shown to clients that search first (`--discover`). Shared by all clients: newer ones have no session that could
//! keep what each has found.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::table::Method;

/// Maximum number of shown methods; the latest stay.
const MAX_SHOWN: usize = 32;

/// Found methods; `None` if all methods are shown.
#[derive(Debug, Clone)]
pub(crate) struct ShownMethods(Option<Arc<Mutex<VecDeque<&'static str>>>>);

impl ShownMethods {
    pub(crate) fn new(discovers: bool) -> Self {
        Self(discovers.then(Arc::default))
    }

    /// Returns `true` if only found methods are shown.
    pub(crate) const fn discovers(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the names of the found methods in order; `None` if all methods are shown.
    pub(crate) fn names(&self) -> Option<Vec<&'static str>> {
        let names = self.0.as_ref()?.lock();
        Some(names.iter().copied().collect())
    }

    /// Adds found methods. Returns `true` if one of them is new.
    pub(crate) fn add(&self, methods: &[&'static Method]) -> bool {
        let Some(names) = &self.0 else { return false };
        let mut names = names.lock();
        let mut is_new = false;
        for method in methods {
            let before = names.len();
            names.retain(|name| *name != method.name);
            is_new |= names.len() == before;
            names.push_back(&method.name);
        }
        let excess = names.len().saturating_sub(MAX_SHOWN);
        drop(names.drain(..excess));
        is_new
    }
}
