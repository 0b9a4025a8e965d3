//! Texts by others that a turn has read.

use super::{Run, find};
use figaro_domain::source::add_sources;
use figaro_provider::fold::Pass;

impl Run {
    /// Returns the text by others that the model has read so far, by its name.
    pub(crate) fn read(&self) -> Option<String> {
        let found = || self.side_effects.sources.first().map(|source| source.url.clone());
        self.side_effects.read.clone().or_else(found)
    }

    /// Takes the pages that the provider found in a pass: their addresses may be loaded.
    pub(super) fn take_sources(&mut self, pass: &Pass) {
        find(&mut self.addresses, &pass.sources);
        add_sources(&mut self.side_effects.sources, pass.sources.iter().cloned());
    }
}
