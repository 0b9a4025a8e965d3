//! Structured answers: the JSON Schema that an agent's answer must match, and parsing of an answer by it.

use std::sync::Arc;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use figaro_base::text::one_line;

/// Maximum size of a schema as JSON, in bytes: it is sent with every pass.
const MAX_SCHEMA_BYTES: usize = 32_000;
/// Maximum number of mistakes in an error.
const MAX_MISTAKES: usize = 5;
/// Maximum length of a mistake, in characters.
const MISTAKE_CHARS: usize = 240;

/// JSON Schema of an object, used to check answers.
#[derive(Debug, Clone)]
pub struct Form {
    name: String,
    schema: Value,
    validator: Arc<Validator>,
}

impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.schema == other.schema
    }
}

impl Form {
    /// Creates the form of the answers of an agent. References in the schema are never loaded from the network or from
    /// files.
    ///
    /// # Errors
    /// The fault of the schema, in one line.
    pub fn new(name: &str, schema: Value) -> Result<Self, String> {
        let bytes = schema.to_string().len();
        if bytes > MAX_SCHEMA_BYTES {
            return Err(format!("the schema has {bytes} bytes; {MAX_SCHEMA_BYTES} are the most"));
        }
        // A backtracking regular expression could take hours on an answer.
        let options = jsonschema::options().with_draft(Draft::Draft202012);
        let options = options.with_pattern_options(PatternOptions::regex());
        let validator = options.build(&schema).map_err(|error| mistake(&error))?;
        Ok(Self { name: name.to_owned(), schema, validator: Arc::new(validator) })
    }

    /// Creates a form that accepts any JSON object.
    ///
    /// # Errors
    /// Never: the schema is valid.
    pub fn any_object() -> Result<Self, String> {
        Self::new("answer", serde_json::json!({"type": "object"}))
    }

    /// Returns `true` if the form accepts any object.
    #[must_use]
    pub fn is_any_object(&self) -> bool {
        self.schema == serde_json::json!({"type": "object"})
    }

    /// Returns the name of the agent.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the JSON Schema.
    #[must_use]
    pub const fn schema(&self) -> &Value {
        &self.schema
    }

    /// Parses an answer. A code fence around the JSON is removed; other text around it is a mistake.
    ///
    /// # Errors
    /// The mistakes, one per line: the place in the answer and the violated rule.
    pub fn read(&self, answer: &str) -> Result<Value, String> {
        let text = bare(answer);
        if text.is_empty() {
            return Err("- the answer is empty".to_owned());
        }
        let value: Value = serde_json::from_str(text)
            .map_err(|error| format!("- the answer is not one JSON object and nothing else: {error}"))?;
        if !value.is_object() {
            return Err("- the answer is not a JSON object".to_owned());
        }
        let mistakes = self.validator.iter_errors(&value).take(MAX_MISTAKES);
        let mistakes: Vec<String> = mistakes.map(|error| format!("- {}", mistake(&error))).collect();
        if mistakes.is_empty() { Ok(value) } else { Err(mistakes.join("\n")) }
    }
}

/// Formats the place and the rule. The value is left out, because it may be long or contain somebody's words.
fn mistake(error: &jsonschema::ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let place = if place.is_empty() { "the whole" } else { &place };
    one_line(&format!("{place}: {}", error.masked()), MISTAKE_CHARS)
}

/// Returns the text without surrounding whitespace and code fence.
#[must_use]
pub fn bare(answer: &str) -> &str {
    let text = answer.trim();
    let Some(inside) = text.strip_prefix("```").and_then(|text| text.strip_suffix("```")) else {
        return text;
    };
    // The first line may name the language of the code.
    match inside.split_once('\n') {
        Some((language, inside)) if language.trim().chars().all(char::is_alphanumeric) => inside.trim(),
        _ => inside.trim(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form() -> Form {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 5},
                "age": {"type": "integer", "minimum": 0},
                "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
            },
            "required": ["name"],
            "additionalProperties": false,
        });
        Form::new("extractor", schema).unwrap()
    }

    #[test]
    fn an_answer_is_read_with_or_without_a_fence() {
        let wanted = json!({"name": "Ann"});
        for answer in [
            r#"{"name":"Ann"}"#,
            " \n{\"name\": \"Ann\"}\n",
            "```json\n{\"name\":\"Ann\"}\n```",
            "```\n{\"name\":\"Ann\"}```",
            "```{\"name\":\"Ann\"}```",
        ] {
            assert_eq!(form().read(answer), Ok(wanted.clone()), "{answer}");
        }
    }

    #[test]
    fn what_does_not_fit_is_told_by_place_and_rule() {
        for (answer, wanted) in [
            ("", "- the answer is empty"),
            ("```json\n```", "- the answer is empty"),
            (r#"Here it is: {"name":"Ann"}"#, "- the answer is not one JSON object and nothing else"),
            (r#"{"name":"Ann"} I hope it helps."#, "- the answer is not one JSON object and nothing else"),
            (r#"{"name":"A"#, "- the answer is not one JSON object and nothing else"),
            (r#"["Ann"]"#, "- the answer is not a JSON object"),
            ("{}", "- the whole: \"name\" is a required property"),
            (r#"{"name":"Ann","age":-1}"#, "- /age: value is less than the minimum of 0"),
            (r#"{"name":"Ann","age":"x"}"#, "- /age: value is not of type \"integer\""),
            (r#"{"name":"Ann","tags":["a","c"]}"#, "- /tags/1: value is not one of"),
        ] {
            let complaint = form().read(answer).unwrap_err();
            assert!(complaint.starts_with(wanted), "{answer}: {complaint}");
        }
        let secret = format!(r#"{{"name":"{}"}}"#, "secret".repeat(99));
        assert!(!form().read(&secret).unwrap_err().contains("secret"), "values are not repeated");
        let tags = ["\"c\""; 50].join(",");
        let many = form().read(&format!(r#"{{"name":"Ann","tags":[{tags}]}}"#)).unwrap_err();
        assert_eq!(many.lines().count(), MAX_MISTAKES);
    }

    #[test]
    fn a_schema_that_is_none_or_loads_something_is_refused() {
        for schema in [
            json!({"type": "objct"}),
            json!({"$ref": "https://evil.example/schema.json"}),
            json!({"$ref": "file:///etc/passwd"}),
            json!({"properties": {"a": {"pattern": "("}}}),
            json!({"description": "x".repeat(MAX_SCHEMA_BYTES)}),
        ] {
            let fault = Form::new("a", schema.clone()).unwrap_err();
            assert_eq!(fault.lines().count(), 1, "{fault}");
        }
        let within = json!({"$defs": {"a": {"type": "string"}}, "properties": {"b": {"$ref": "#/$defs/a"}}});
        assert!(Form::new("a", within).unwrap().read(r#"{"b": 1}"#).is_err());
    }
}
