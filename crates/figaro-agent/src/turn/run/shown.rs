//! The memories that a turn is shown, and which of them its passes say they use.

use serde_json::Value;

use figaro_base::ids::MemoryId;
use figaro_domain::memory::numbered;
use figaro_domain::tool::Call;
use figaro_provider::fold::Pass;

/// The memories that a turn is shown, and how it says which it uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The tool that names them.
    pub(crate) tool: String,
    /// The memory of each label: `M1` is the first.
    pub(crate) memories: Vec<MemoryId>,
}

impl Shown {
    /// The memories that the calls of a pass name; labels that stand for none are ignored.
    pub(super) fn named(&self, pass: &Pass) -> Vec<MemoryId> {
        let numbers = pass.calls.iter().filter(|call| call.name == self.tool).flat_map(numbers);
        numbers.filter_map(|number| self.memories.get(number.checked_sub(1)?).copied()).collect()
    }

    /// The pass as an answer, if all that it has beside words are such calls: these ask for nothing.
    pub(super) fn as_answer(&self, pass: Pass) -> Pass {
        let names_only = !pass.calls.is_empty() && pass.calls.iter().all(|call| call.name == self.tool);
        match names_only && !pass.text.trim().is_empty() {
            // What led to a call is refused by its provider without the call.
            true => Pass { calls: Vec::new(), private: Vec::new(), ..pass },
            false => pass,
        }
    }
}

/// The numbers of the labels that a call names; none where it cannot be read.
fn numbers(call: &Call) -> Vec<usize> {
    let read: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let labels = read.get("labels").and_then(Value::as_array).into_iter().flatten();
    labels.filter_map(Value::as_str).filter_map(numbered).collect()
}
