//! JSON Schemas for models, generated from types and kept short.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// Returns the schema of a type, without parts that models do not need.
pub(super) fn of<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    if let Some(root) = schema.as_object_mut() {
        for key in ["$schema", "title", "description"] {
            root.remove(key);
        }
        root.entry("properties").or_insert_with(|| json!({}));
    }
    shorten(&mut schema);
    schema
}

/// Shortens a schema and its parts without changing its meaning.
fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            // Unlisted fields and wrong sizes are rejected on arrival; the schema need not say so.
            for key in ["additionalProperties", "format"] {
                if fields.get(key).is_some_and(|value| value.is_boolean() || value.is_string()) {
                    fields.remove(key);
                }
            }
            if fields.get("minimum") == Some(&Value::from(0)) {
                fields.remove("minimum");
            }
            let is_empty =
                |value: &Value| value.as_array().is_some_and(Vec::is_empty) || *value == Value::Bool(false);
            if fields.get("default").is_some_and(is_empty) {
                fields.remove("default");
            }
            if fields.get("default") == Some(&Value::Null) {
                fields.remove("default");
            }
            if let Some(Value::String(words)) = fields.get_mut("description") {
                *words = words.split_whitespace().collect::<Vec<_>>().join(" ");
            }
            fields.values_mut().for_each(shorten);
            if let Some(names) = fields.get("oneOf").and_then(constants) {
                fields.remove("oneOf");
                fields.insert("type".to_owned(), "string".into());
                fields.insert("enum".to_owned(), names);
            }
            // `null` need not be listed: optional fields can be left out.
            if let Some(names) = fields.get("anyOf").and_then(optional_name) {
                fields.remove("anyOf");
                fields.insert("type".to_owned(), "string".into());
                fields.insert("enum".to_owned(), names);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the texts of the alternatives, if each is a constant text.
fn constants(alternatives: &Value) -> Option<Value> {
    alternatives
        .as_array()?
        .iter()
        .map(|one| one.get("const").filter(|value| value.is_string()).cloned())
        .collect()
}

/// Returns the names of an optional enumeration.
fn optional_name(alternatives: &Value) -> Option<Value> {
    let [names, none] = alternatives.as_array()?.as_slice() else { return None };
    names.get("enum").filter(|_| none["type"] == "null").cloned()
}

/// Removes these names from the required ones of an object schema.
pub(super) fn not_required(mut schema: Value, optional: &[&str]) -> Value {
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| !optional.contains(&name)));
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// Which of two.
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Which {
        /// The one.
        First,
        /// The other.
        LastOne,
    }

    /// About all of it.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        /// What is said
        /// in two lines.
        #[expect(dead_code, reason = "only its schema is looked at")]
        text: String,
        #[serde(default)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        count: Option<u8>,
        /// Chosen here.
        #[serde(default)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        which: Option<Which>,
    }

    #[test]
    fn a_schema_says_what_a_model_needs_and_no_more() {
        let wanted = json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "What is said in two lines."},
                "count": {"type": ["integer", "null"], "maximum": 255},
                "which": {"type": "string", "enum": ["first", "last_one"], "description": "Chosen here."},
            },
            "required": ["text"],
        });
        assert_eq!(of::<Arguments>(), wanted);
    }
}
