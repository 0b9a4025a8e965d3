//! The end of a run whose last calls are for tools of whoever asks: they make them, and the turn goes on with what comes of it.

use super::Run;
use super::state::{Answer, Handed};
use figaro_provider::Item;
use figaro_provider::fold::Pass;

impl Run {
    /// The end of a turn that leaves calls to whoever asks.
    pub(super) fn handed(&self) -> Answer {
        let calls = self.side_effects.handed.clone();
        let is_open = |item: &&Item| match item {
            Item::ToolResult { call_id, .. } => !calls.iter().any(|call| call.id == *call_id),
            Item::User { .. } | Item::Assistant { .. } => true,
        };
        let items =
            self.items.get(self.begins..).unwrap_or_default().iter().filter(is_open).cloned().collect();
        let answer = self.answer(Pass::default());
        // Whatever form the answer is to have, this is none yet.
        Answer { is_misfit: false, handed: Some(Box::new(Handed { calls, items })), ..answer }
    }
}
