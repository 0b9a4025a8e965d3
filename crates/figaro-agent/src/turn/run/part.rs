//! Results that a turn has seen only in part.

use figaro_provider::Item;
use figaro_provider::fit::key_in;

use super::Run;

impl Run {
    /// A key stands in a result of this turn in place of what is left out: the whole can be looked up.
    #[must_use]
    pub(crate) fn has_keys(&self) -> bool {
        let is_part =
            |item: &Item| matches!(item, Item::ToolResult { output, .. } if key_in(output).is_some());
        self.items.iter().skip(self.begins).any(is_part)
    }
}
