//! Which tools clients are shown when they are to find them first (`--discover`). One for all clients: newer ones have no
//! session that could keep what each of them found.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::table::Method;

/// The most methods that are shown; those found last stay.
const MAX_SHOWN: usize = 32;

/// What was found, or nothing to keep when everything is shown.
#[derive(Debug, Clone)]
pub(crate) struct Shown(Option<Arc<Mutex<VecDeque<&'static str>>>>);

impl Shown {
    pub(crate) fn new(discovers: bool) -> Self {
        Self(discovers.then(Arc::default))
    }

    /// Whether only what was found is shown.
    pub(crate) const fn discovers(&self) -> bool {
        self.0.is_some()
    }

    /// What was found, in that order; `None` when everything is shown.
    pub(crate) fn names(&self) -> Option<Vec<&'static str>> {
        let names = self.0.as_ref()?.lock();
        Some(names.iter().copied().collect())
    }

    /// Shows these from now on; returns whether any of them is new.
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
