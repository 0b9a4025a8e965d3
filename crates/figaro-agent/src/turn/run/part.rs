//! Results that a turn has seen only in part.

use figaro_provider::Item;

use super::Run;
use crate::tools::lookup::has_key;

impl Run {
    /// Returns `true` if a result of this turn contains a lookup key for omitted text.
    #[must_use]
    pub(crate) fn has_keys(&self) -> bool {
        let is_part = |item: &Item| matches!(item, Item::ToolResult { output, .. } if has_key(output));
        self.items.iter().skip(self.begins).any(is_part)
    }
}
