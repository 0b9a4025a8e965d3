//! Answers for agents with a JSON Schema: builds a matching value from the words of the question.

use serde_json::{Map, Value, json};

/// Maximum depth in a schema. Deeper values stay empty.
const MAX_DEPTH: usize = 8;

/// Returns a value that matches a JSON Schema. Supports `type`, `enum`, `const`, `properties`, `items` and `minItems`.
/// Strings contain `words`.
pub(super) fn filled(schema: &Value, words: &str) -> Value {
    value(schema, words, MAX_DEPTH)
}

fn value(schema: &Value, words: &str, depth: usize) -> Value {
    if let Some(fixed) = schema.get("const") {
        return fixed.clone();
    }
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str),
        kind => kind.as_str(),
    };
    match kind {
        Some("object") if depth > 0 => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            let fields: Map<String, Value> =
                fields.map(|(name, field)| (name.clone(), value(field, words, depth - 1))).collect();
            Value::Object(fields)
        }
        // A list of strings without `minItems` holds optional extras, so it stays empty.
        Some("array") if schema["items"]["type"] == "string" && schema["minItems"].is_null() => json!([]),
        Some("array") if depth > 0 => {
            let count = schema["minItems"].as_u64().unwrap_or(1).clamp(1, 5);
            (0..count).map(|_| value(&schema["items"], words, depth - 1)).collect()
        }
        Some("object") => json!({}),
        Some("array") => json!([]),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| json!(0)),
        Some("boolean") => json!(false),
        Some("null") => Value::Null,
        _ => json!(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_each_kind_is_made() {
        let schema = json!({"type": "object", "properties": {
            "name": {"type": "string"},
            "kind": {"enum": ["a", "b"]},
            "count": {"type": "integer", "minimum": 3},
            "list": {"type": "array", "items": {"type": "object", "properties": {"is": {"type": "boolean"}}}},
            "either": {"type": ["null", "string"]},
            "missing": {"type": "array", "items": {"type": "string"}},
        }});
        let wanted = json!({"name": "tea", "kind": "a", "count": 3, "list": [{"is": false}], "either": null, "missing": []});
        assert_eq!(filled(&schema, "tea"), wanted);
    }
}
