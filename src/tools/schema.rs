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

/// An object schema with only these properties, with only the required ones among them that are not optional here,
/// and only the definitions still in use.
pub(super) fn keep(schema: &Value, properties: &[&str], optional: &[&str]) -> Value {
    let mut kept = schema.clone();
    let Some(root) = kept.as_object_mut() else {
        return kept;
    };
    root.remove("$schema");
    if let Some(all) = root.get_mut("properties").and_then(Value::as_object_mut) {
        all.retain(|name, _| properties.contains(&name.as_str()));
    }
    if let Some(Value::Array(required)) = root.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| properties.contains(&name)));
    }
    kept = not_required(kept, optional);
    let Some(root) = kept.as_object_mut() else {
        return kept;
    };
    let defs = match root.remove("$defs") {
        Some(Value::Object(defs)) => defs,
        _ => return kept,
    };
    let used = reachable(&kept, &defs);
    let defs: Map<String, Value> = defs.into_iter().filter(|(name, _)| used.contains(name)).collect();
    if let (Some(root), false) = (kept.as_object_mut(), defs.is_empty()) {
        root.insert("$defs".to_owned(), Value::Object(defs));
    }
    kept
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
            "properties": {"chat_id": {}, "text": {"$ref": "#/$defs/A"}, "rare": {"$ref": "#/$defs/C"}},
            "required": ["chat_id", "text", "rare"],
            "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}, "C": {}},
        });
        assert_eq!(
            keep(&whole, &["chat_id", "text"], &["chat_id"]),
            json!({
                "type": "object",
                "properties": {"chat_id": {}, "text": {"$ref": "#/$defs/A"}},
                "required": ["text"],
                "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}},
            })
        );
    }
}
