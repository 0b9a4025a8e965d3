//! Texts by others that a turn has read.

use super::{Run, find};
use figaro_domain::source::add_sources;
use figaro_provider::fold::Pass;

impl Run {
    /// Returns the text by others that the model has read in results so far, by its name.
    pub(crate) fn read(&self) -> Option<String> {
        self.side_effects.read.clone()
    }

    /// Takes the pages that the provider found in a pass: their addresses may be loaded, and their text was read.
    pub(super) fn take_sources(&mut self, pass: &Pass) {
        find(&mut self.addresses, &pass.sources);
        if let Some(source) = pass.sources.first() {
            self.side_effects.read.get_or_insert_with(|| source.url.clone());
        }
        add_sources(&mut self.side_effects.sources, pass.sources.iter().cloned());
    }
}
