//! Format of a model's proposals: JSON of one form. The schema goes to providers that accept one; the answer is parsed
//! strictly in any case.

use serde::Deserialize;
use serde_json::{Value, json};

/// Maximum proposals in one answer.
pub(crate) const MAX_PROPOSALS: usize = 20;

/// Proposed change of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProposalAction {
    Create,
    /// Replaces the content of one memory.
    Update,
    /// Replaces several memories by one.
    Merge,
    /// Removes a memory that is no longer true.
    Remove,
}

/// Change of memories that a model proposes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    pub(crate) change: ProposalAction,
    /// Label of the message that supports it, such as `N1`.
    pub(crate) message: String,
    /// Words of the person that say it.
    pub(crate) quote: String,
    /// Text of the fact; empty for a removal.
    #[serde(default)]
    pub(crate) content: String,
    /// Labels of the memories that it changes, such as `M1`; empty for a new one.
    #[serde(default)]
    pub(crate) memories: Vec<String>,
    /// `true` for a lasting preference.
    #[serde(default)]
    pub(crate) preference: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProposalList {
    items: Vec<Proposal>,
}

/// Returns the format of the answer as JSON Schema.
#[must_use]
pub fn schema() -> Value {
    let text = json!({"type": "string"});
    let item = json!({
        "type": "object",
        "properties": {
            "change": {"type": "string", "enum": ["create", "update", "merge", "remove"]},
            "message": text,
            "quote": text,
            "content": text,
            "memories": {"type": "array", "items": text},
            "preference": {"type": "boolean"},
        },
        "required": ["change", "message", "quote", "content", "memories", "preference"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {"items": {"type": "array", "items": item}},
        "required": ["items"],
        "additionalProperties": false,
    })
}

/// Parses an answer; models without schema support may wrap it in a code block.
///
/// # Errors
/// The fault, in words.
pub fn read(answer: &str) -> Result<Vec<Proposal>, String> {
    let bare = answer.trim();
    let bare = bare.strip_prefix("```json").or_else(|| bare.strip_prefix("```")).unwrap_or(bare);
    let bare = bare.trim_end().strip_suffix("```").unwrap_or(bare);
    let ProposalList { items } = serde_json::from_str(bare.trim()).map_err(|error| error.to_string())?;
    if items.len() > MAX_PROPOSALS {
        return Err(format!("{} proposals; at most {MAX_PROPOSALS} are read", items.len()));
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_strictly() {
        let item = r#"{"change":"create","message":"N1","quote":"q","content":"c","memories":[]}"#;
        assert_eq!(read(&format!("```json\n{{\"items\":[{item}]}}\n```")).unwrap().len(), 1);
        assert_eq!(read("{\"items\":[]}").unwrap(), []);
        let many = vec![item; MAX_PROPOSALS + 1].join(",");
        for wrong in [
            "",
            "nothing",
            "[]",
            r#"{"items":[{"change":"forge","message":"N1","quote":"q"}]}"#,
            r#"{"items":[{"change":"create","quote":"q","content":"c"}]}"#,
            r#"{"items":[],"more":1}"#,
            r#"{"items":[{"change":"create","message":"N1","quote":"q","content":"c","chat":5}]}"#,
            &format!("{{\"items\":[{many}]}}"),
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
