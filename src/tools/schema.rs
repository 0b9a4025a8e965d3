//! JSON Schemas as models get them: made from types, and cut down to the parameters that matter.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

/// The schema of a type, without what no model needs.
pub(super) fn of<A: JsonSchema>() -> Value {
    let mut schema = schemars::schema_for!(A).to_value();
    if let Some(root) = schema.as_object_mut() {
        for key in ["$schema", "title", "description"] {
            root.remove(key);
        }
        root.entry("properties").or_insert_with(|| json!({}));
        root.entry("additionalProperties").or_insert(json!(false));
    }
    schema
}

/// An object schema with only these properties, of some types behind them only some fields, and only the definitions
/// still in use.
pub(super) fn keep(schema: &Value, properties: &[&str], fields: &[(&str, &[&str])]) -> Value {
    let mut kept = schema.clone();
    retain(&mut kept, properties);
    let Some(Value::Object(mut defs)) = kept.as_object_mut().and_then(|root| root.remove("$defs")) else {
        return kept;
    };
    for (name, fields) in fields {
        if let Some(def) = defs.get_mut(*name) {
            retain(def, fields);
        }
    }
    let used = reachable(&kept, &defs);
    defs.retain(|name, _| used.contains(name));
    if let (Some(root), false) = (kept.as_object_mut(), defs.is_empty()) {
        root.insert("$defs".to_owned(), Value::Object(defs));
    }
    kept
}

/// Takes all properties but these out of an object's schema, and all alternatives but these out of a union's.
fn retain(schema: &mut Value, names: &[&str]) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| names.contains(&name.as_str()));
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name.as_str().is_some_and(|name| names.contains(&name)));
    }
    if let Some(alternatives) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        let name = |of: &Value| of.get("$ref")?.as_str()?.strip_prefix("#/$defs/").map(str::to_owned);
        alternatives.retain(|of| name(of).is_some_and(|name| names.contains(&name.as_str())));
    }
}

/// An object schema in which none of these is required.
pub(super) fn not_required(mut schema: Value, optional: &[&str]) -> Value {
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| !optional.contains(&name)));
    }
    schema
}

fn reachable(schema: &Value, defs: &Map<String, Value>) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    let mut open = references(schema);
    while let Some(name) = open.pop() {
        if let Some(def) = defs.get(&name)
            && used.insert(name)
        {
            open.extend(references(def));
        }
    }
    used
}

fn references(value: &Value) -> Vec<String> {
    match value {
        Value::Object(map) => map
            .iter()
            .flat_map(|(key, value)| match (key.as_str(), value) {
                ("$ref", Value::String(path)) => {
                    path.strip_prefix("#/$defs/").map(str::to_owned).into_iter().collect()
                }
                (_, value) => references(value),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_kept_and_reached_stays() {
        let whole = json!({
            "type": "object",
            "properties": {"text": {"$ref": "#/$defs/A"}, "rare": {"$ref": "#/$defs/C"}},
            "required": ["text", "rare"],
            "$defs": {
                "A": {"properties": {"a": {}, "b": {"$ref": "#/$defs/B"}, "c": {}}, "required": ["a", "c"]},
                "B": {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/C"}]},
                "C": {},
            },
        });
        let kept = keep(&whole, &["text"], &[("A", &["a", "b"]), ("B", &["A"])]);
        let wanted = json!({
            "type": "object",
            "properties": {"text": {"$ref": "#/$defs/A"}},
            "required": ["text"],
            "$defs": {
                "A": {"properties": {"a": {}, "b": {"$ref": "#/$defs/B"}}, "required": ["a"]},
                "B": {"anyOf": [{"$ref": "#/$defs/A"}]},
            },
        });
        assert_eq!(kept, wanted);
    }
}
