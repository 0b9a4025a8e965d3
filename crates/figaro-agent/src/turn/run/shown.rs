//! The memories that a turn is shown, and which of them its passes say they use.

use serde_json::Value;

use figaro_base::ids::MemoryId;
use figaro_domain::memory::numbered;
use figaro_domain::tool::Call;
use figaro_memory::used;
use figaro_provider::fold::Pass;

/// The memories that a turn is shown, and how it says which it uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The tool that names them; `None` for a model that cannot call it.
    pub(crate) tool: Option<String>,
    /// The memory of each label, and its words: `M1` is the first.
    pub(crate) memories: Vec<(MemoryId, String)>,
    /// The words of the question.
    pub(crate) asked: String,
}

impl Shown {
    /// The memories that the calls of a pass name; labels that stand for none are ignored.
    pub(super) fn named(&self, pass: &Pass) -> Vec<MemoryId> {
        let numbers = pass.calls.iter().filter(|call| self.is_of(call)).flat_map(numbers);
        let named = |number: usize| self.memories.get(number.checked_sub(1)?).map(|(id, _)| *id);
        numbers.filter_map(named).collect()
    }

    /// The memories that an answer rests on: those that were named, or, where nothing can name them, those whose words it says.
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

    /// The pass as an answer, if all that it has beside words are such calls: these ask for nothing.
    pub(super) fn as_answer(&self, pass: Pass) -> Pass {
        let names_only = !pass.calls.is_empty() && pass.calls.iter().all(|call| self.is_of(call));
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
