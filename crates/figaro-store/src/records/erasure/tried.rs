//! Calls of the record tools that named no record, such as one that failed: what they were called with may repeat what goes, and no
//! record tells.

use serde_json::Value;

use super::to_erase::ToErase;

/// The tools of records that are called with words.
const TOOLS: [&str; 2] = ["save_record", "list_records"];
/// Shorter words stand everywhere.
const MIN_BYTES: usize = 6;

/// All that goes, in lower case.
#[derive(Debug)]
pub(super) struct Tried(String);

impl Tried {
    /// What was said in messages that go, and what record tools were called with for them.
    pub(super) fn of(to_erase: &ToErase, said: &[String]) -> Self {
        let called = to_erase.messages().filter_map(|message| message.tool.as_ref());
        let called = called.filter(|tool| TOOLS.contains(&tool.tool_name.as_str()));
        let all = said.iter().map(String::as_str).chain(called.map(|tool| tool.tool_arguments.as_str()));
        Self(all.collect::<Vec<_>>().join("\n").to_lowercase())
    }

    /// Whether a call of this tool named no record and has words of what goes.
    pub(super) fn repeats(&self, tool: &str, arguments: &str, result: &str) -> bool {
        let is_meant = TOOLS.contains(&tool) && !result.contains("\"record_id\"");
        is_meant
            && serde_json::from_str::<Value>(arguments)
                .is_ok_and(|arguments| self.has(&arguments["fields"]) || self.has(&arguments["about"]))
    }

    fn has(&self, value: &Value) -> bool {
        match value {
            Value::String(words) => {
                let words = words.trim().to_lowercase();
                words.len() >= MIN_BYTES && self.0.contains(&words)
            }
            Value::Array(items) => items.iter().any(|item| self.has(item)),
            Value::Object(fields) => fields.values().any(|value| self.has(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}
