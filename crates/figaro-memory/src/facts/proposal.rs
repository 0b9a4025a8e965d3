//! What a model proposes to remember, as it has to be written: JSON of one form. The schema says it to providers that take one;
//! what comes back is read strictly, whoever wrote it.

use serde::Deserialize;
use serde_json::{Value, json};

/// The most proposals of one answer.
pub(crate) const MAX_PROPOSALS: usize = 20;

/// What is to become of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    /// It is new.
    Create,
    /// It takes the place of what one memory says.
    Update,
    /// It says what several memories say.
    Merge,
    /// One memory is no longer true.
    Remove,
}

/// One proposal.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    /// What is to be done.
    pub(crate) change: Action,
    /// The label of the message that it rests on, such as `N1`.
    pub(crate) message: String,
    /// The person's words that say it.
    pub(crate) quote: String,
    /// The fact; empty where one is removed.
    #[serde(default)]
    pub(crate) content: String,
    /// The labels of the memories that it is about, such as `M1`; none for a new one.
    #[serde(default)]
    pub(crate) memories: Vec<String>,
    /// Whether it is a lasting preference.
    #[serde(default)]
    pub(crate) preference: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    items: Vec<Proposal>,
}

/// The form of the answer, as JSON Schema.
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

/// Reads an answer; models that take no schema may put it into a code block.
///
/// # Errors
/// The fault, in words.
pub fn read(answer: &str) -> Result<Vec<Proposal>, String> {
    let bare = answer.trim();
    let bare = bare.strip_prefix("```json").or_else(|| bare.strip_prefix("```")).unwrap_or(bare);
    let bare = bare.trim_end().strip_suffix("```").unwrap_or(bare);
    let Answer { items } = serde_json::from_str(bare.trim()).map_err(|error| error.to_string())?;
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
