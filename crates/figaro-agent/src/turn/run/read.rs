//! Texts by others that a turn has read.

use super::Run;
use figaro_provider::fold::Pass;

impl Run {
    /// Returns the text by others that the model has read in results so far, by its name.
    pub(crate) fn read(&self) -> Option<String> {
        self.side_effects.read.clone()
    }

    /// Notes that a pass has read pages that its provider found.
    pub(super) fn note_read(&mut self, pass: &Pass) {
        if let Some(source) = pass.sources.first() {
            self.side_effects.read.get_or_insert_with(|| source.url.clone());
        }
    }
}
