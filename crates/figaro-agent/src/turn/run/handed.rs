//! End of a run whose last calls are for tools of the requester, who makes them and continues the turn with the
//! results.

use super::Run;
use super::state::{Answer, Handed};
use figaro_provider::Item;
use figaro_provider::fold::Pass;

impl Run {
    /// Returns the answer of a turn that hands calls over to the requester.
    pub(super) fn handed(&self) -> Answer {
        let calls = self.side_effects.handed.clone();
        let is_open = |item: &&Item| match item {
            Item::ToolResult { call_id, .. } => !calls.iter().any(|call| call.id == *call_id),
            Item::User { .. } | Item::Assistant { .. } => true,
        };
        let items =
            self.items.get(self.begins..).unwrap_or_default().iter().filter(is_open).cloned().collect();
        let answer = self.answer(Pass::default());
        // This is no final answer, so it needs no form yet.
        Answer { is_misfit: false, handed: Some(Box::new(Handed { calls, items })), ..answer }
    }
}
