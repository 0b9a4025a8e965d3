//! Memories in the prompt of a turn, and the ones that its passes use.

use serde_json::Value;

use figaro_base::ids::MemoryId;
use figaro_domain::memory::numbered;
use figaro_domain::tool::Call;
use figaro_memory::used;
use figaro_provider::fold::Pass;

/// Memories in the prompt of a turn, and the way in which it names those it uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ShownMemories {
    /// Name of the tool that names them; `None` if the model cannot call it.
    pub(crate) tool: Option<String>,
    /// Memories by label, and their text; `M1` is the first.
    pub(crate) memories: Vec<(MemoryId, String)>,
    pub(crate) asked: String,
}

impl ShownMemories {
    /// Returns the memories that the calls of a pass name. Unknown labels are ignored.
    pub(super) fn named(&self, pass: &Pass) -> Vec<MemoryId> {
        let numbers = pass.calls.iter().filter(|call| self.is_of(call)).flat_map(numbers);
        let named = |number: usize| self.memories.get(number.checked_sub(1)?).map(|(id, _)| *id);
        numbers.filter_map(named).collect()
    }

    /// Returns the memories that an answer uses: those that were named or, without the tool, those whose text appears
    /// in it.
    pub(super) fn used_in(&self, answer: &Pass, named: &[MemoryId]) -> Vec<MemoryId> {
        if self.tool.is_some() || self.memories.is_empty() {
            return named.to_vec();
        }
        let words: Vec<&str> = self.memories.iter().map(|(_, words)| words.as_str()).collect();
        let used = used(&self.asked, &answer.text, &words);
        used.into_iter().filter_map(|at| self.memories.get(at)).map(|(id, _)| *id).collect()
    }

    fn is_of(&self, call: &Call) -> bool {
        self.tool.as_ref() == Some(&call.name)
    }

    /// Returns the pass without its calls if it has text and all its calls only name memories.
    pub(super) fn as_answer(&self, pass: Pass) -> Pass {
        let names_only = !pass.calls.is_empty() && pass.calls.iter().all(|call| self.is_of(call));
        match names_only && !pass.text.trim().is_empty() {
            // A provider refuses its private reasoning data without the call that belongs to it.
            true => Pass { calls: Vec::new(), private: Vec::new(), ..pass },
            false => pass,
        }
    }
}

/// Returns the numbers of the labels in a call; none if it cannot be read.
fn numbers(call: &Call) -> Vec<usize> {
    let read: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let labels = read.get("labels").and_then(Value::as_array).into_iter().flatten();
    labels.filter_map(Value::as_str).filter_map(numbered).collect()
}
