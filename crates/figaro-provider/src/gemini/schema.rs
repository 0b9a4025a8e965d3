//! Reduces JSON Schemas to the subset that Gemini accepts. Called by [`super::wire`] for the parameters of tools and
//! for answers.
//!
//! Gemini refuses a whole request for one reference that is circular, has other keywords next to it or leads nowhere.
//! So references are replaced by their targets, as deep as the schema stays readable for a model.

use serde_json::{Map, Value, json};

/// Maximum nesting of references.
const MAX_DEPTH: usize = 6;
/// Maximum number of parts of a schema after replacing references. A schema without references may be larger.
const MAX_PARTS: usize = 400;
/// Keywords that Gemini understands, besides those handled separately below.
const KEPT: [&str; 5] = ["description", "minimum", "maximum", "minItems", "maxItems"];
/// Formats that Gemini accepts.
const FORMATS: [&str; 3] = ["date-time", "date", "time"];

/// Returns the schema in the form that Gemini accepts.
pub(super) fn fitted(schema: &Value) -> Value {
    let at = |depth, parts| Fit { root: schema, parts }.schema(schema, depth);
    let mut best = at(0, usize::MAX).unwrap_or_default();
    for depth in 1..=MAX_DEPTH {
        match at(depth, MAX_PARTS) {
            Some(deeper) if deeper != best => best = deeper,
            _ => break,
        }
    }
    best["type"] = "object".into();
    best
}

struct Fit<'a> {
    root: &'a Value,
    /// Number of parts that may still be added.
    parts: usize,
}

impl<'a> Fit<'a> {
    /// Returns the reduced schema; `None` if it becomes too large.
    fn schema(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        self.parts = self.parts.checked_sub(1)?;
        let Some(source) = schema.as_object() else { return Some(json!({})) };
        if let Some(path) = source.get("$ref").and_then(Value::as_str) {
            return self.reference(path, source, depth);
        }
        let whole = self.united(source);
        let mut fitted = Map::new();
        for (word, value) in &whole {
            if let Some(value) = self.word(word, value, depth)? {
                fitted.insert(word.clone(), value);
            }
        }
        let constant = whole.get("const").map(std::slice::from_ref);
        let values = constant.or_else(|| whole.get("enum")?.as_array().map(Vec::as_slice));
        if let Some(values) = values.and_then(choice) {
            fitted.insert("enum".into(), values);
        }
        if let Some(any_of) = self.alternatives(&whole, depth)? {
            fitted.insert("anyOf".into(), any_of);
        }
        only_known_are_required(&mut fitted);
        Some(Value::Object(fitted))
    }

    /// Converts a keyword of a schema. The inner `None` drops one that Gemini does not know; the outer means that the
    /// schema is too large.
    fn word(&mut self, word: &str, value: &Value, depth: usize) -> Option<Option<Value>> {
        Some(match word {
            "type" | "required" => Some(value.clone()),
            "format" => FORMATS.iter().any(|format| value == format).then(|| value.clone()),
            "items" if value.is_object() => Some(self.schema(value, depth)?),
            "prefixItems" => Some(self.all(value, depth)?.into()),
            "additionalProperties" if value.is_boolean() => Some(value.clone()),
            "additionalProperties" => Some(self.schema(value, depth)?),
            "properties" => {
                let mut fitted = Map::new();
                for (name, value) in value.as_object().into_iter().flatten() {
                    fitted.insert(name.clone(), self.schema(value, depth)?);
                }
                Some(Value::Object(fitted))
            }
            _ => KEPT.contains(&word).then(|| value.clone()),
        })
    }

    /// Merges the schemas in `allOf`, which Gemini does not know.
    fn united(&self, schema: &Map<String, Value>) -> Map<String, Value> {
        let mut whole = schema.clone();
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            let part = part["$ref"].as_str().and_then(|path| self.target(path)).unwrap_or(part);
            for (word, value) in part.as_object().into_iter().flatten() {
                match (whole.get_mut(word), value) {
                    (Some(Value::Object(have)), Value::Object(more)) => have.extend(more.clone()),
                    (Some(Value::Array(have)), Value::Array(more)) if word == "required" => {
                        have.extend(more.iter().cloned());
                    }
                    (Some(_), _) => {}
                    (None, value) => {
                        whole.insert(word.clone(), value.clone());
                    }
                }
            }
        }
        whole
    }

    fn target(&self, path: &str) -> Option<&'a Value> {
        self.root.pointer(path.strip_prefix('#')?)
    }

    /// Replaces a reference by its target. A target that is too deep is reduced to its type.
    fn reference(&mut self, path: &str, beside: &Map<String, Value>, depth: usize) -> Option<Value> {
        let target = self.target(path);
        let mut fitted = match (target, depth.checked_sub(1)) {
            (Some(target), Some(depth)) => self.schema(target, depth)?,
            (target, _) => target.map_or_else(|| json!({}), kind),
        };
        if let Some(description) = beside.get("description") {
            fitted["description"] = description.clone();
        }
        Some(fitted)
    }

    /// Converts `anyOf` or `oneOf`. An alternative without any known keyword would allow everything, so all are
    /// dropped then.
    fn alternatives(&mut self, schema: &Map<String, Value>, depth: usize) -> Option<Option<Value>> {
        let Some(any_of) = schema.get("anyOf").or_else(|| schema.get("oneOf")) else { return Some(None) };
        let fitted = self.all(any_of, depth)?;
        let says_all = |schema: &Value| schema.as_object().is_none_or(Map::is_empty);
        Some((!fitted.is_empty() && !fitted.iter().any(says_all)).then(|| fitted.into()))
    }

    fn all(&mut self, schemas: &Value, depth: usize) -> Option<Vec<Value>> {
        schemas.as_array().into_iter().flatten().map(|schema| self.schema(schema, depth)).collect()
    }
}

/// Returns the allowed values that Gemini accepts: texts that are not empty, and numbers.
fn choice(values: &[Value]) -> Option<Value> {
    let is_taken = |value: &&Value| value.is_number() || value.as_str().is_some_and(|word| !word.is_empty());
    let taken: Vec<Value> = values.iter().filter(is_taken).cloned().collect();
    (!taken.is_empty()).then(|| taken.into())
}

/// Reduces a schema to its own keywords, without nested schemas.
fn kind(schema: &Value) -> Value {
    let mut kind = Map::new();
    if let Some(name) = schema["type"].as_str().filter(|name| *name != "array") {
        kind.insert("type".into(), name.into());
    }
    if let Some(description) = schema.get("description") {
        kind.insert("description".into(), description.clone());
    }
    Value::Object(kind)
}

/// Removes required properties without a description, which Gemini refuses.
fn only_known_are_required(schema: &mut Map<String, Value>) {
    let Some(Value::Array(required)) = schema.remove("required") else { return };
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_known =
        |name: &Value| properties.zip(name.as_str()).is_some_and(|(all, name)| all.contains_key(name));
    let known: Vec<Value> = required.into_iter().filter(is_known).collect();
    if !known.is_empty() {
        schema.insert("required".into(), known.into());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use figaro_mcp::catalog::{Catalog, MethodSelection};
    use figaro_mcp::table::ApiTable;

    use super::*;

    /// What a property becomes in a schema that defines `A`.
    fn property(property: &Value) -> Value {
        let a = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        let schema =
            json!({"type": "object", "properties": {"x": property}, "$defs": {"A": a}, "$schema": "s"});
        let mut fitted = fitted(&schema);
        let x = fitted["properties"]["x"].take();
        assert_eq!(fitted, json!({"type": "object", "properties": {"x": null}}));
        x
    }

    #[test]
    fn each_word_becomes_one_that_gemini_knows() {
        let cases = [
            (
                "a plain property",
                json!({"type": "string", "maxLength": 5, "pattern": "^a"}),
                json!({"type": "string"}),
            ),
            (
                "bounds",
                json!({"type": "integer", "minimum": 1, "maximum": 9, "format": "uint8", "default": 3}),
                json!({"type": "integer", "minimum": 1, "maximum": 9}),
            ),
            (
                "a time",
                json!({"type": "string", "format": "date-time", "title": "At", "description": "When."}),
                json!({"type": "string", "format": "date-time", "description": "When."}),
            ),
            (
                "a constant word",
                json!({"type": "string", "const": "emoji"}),
                json!({"type": "string", "enum": ["emoji"]}),
            ),
            (
                "a constant that is none",
                json!({"type": "boolean", "const": true}),
                json!({"type": "boolean"}),
            ),
            (
                "a choice with no word",
                json!({"type": "string", "enum": ["", "a"]}),
                json!({"type": "string", "enum": ["a"]}),
            ),
            ("or nothing", json!({"type": ["string", "null"]}), json!({"type": ["string", "null"]})),
            (
                "a list",
                json!({"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "uniqueItems": true}),
                json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
            ),
        ];
        for (name, given, expected) in cases {
            assert_eq!(property(&given), expected, "{name}");
        }
    }

    #[test]
    fn schemas_of_several_parts_become_one() {
        let cases = [
            (
                "alternatives by another name",
                json!({"oneOf": [{"type": "integer"}, {"type": "string", "minLength": 1}]}),
                json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
            ),
            (
                "alternatives in what is required",
                json!({"type": "object", "properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
                json!({"type": "object", "properties": {"a": {}}}),
            ),
            (
                "required and not described",
                json!({"type": "object", "properties": {"a": true}, "required": ["a", "b"]}),
                json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}),
            ),
            (
                "a table",
                json!({"type": "object", "additionalProperties": {"type": "string", "minLength": 1}, "patternProperties": {}}),
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
            ),
            (
                "all of them",
                json!({"allOf": [{"$ref": "#/$defs/A"}, {"properties": {"b": {}}, "required": ["b"]}]}),
                json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a", "b"]}),
            ),
            (
                "a reference with words beside it",
                json!({"$ref": "#/$defs/A", "description": "Mine.", "default": {}}),
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "description": "Mine."}),
            ),
            ("a reference to nothing", json!({"$ref": "#/$defs/Missing"}), json!({})),
            ("a reference to elsewhere", json!({"$ref": "https://example.com/a"}), json!({})),
            ("anything", json!(true), json!({})),
        ];
        for (name, given, expected) in cases {
            assert_eq!(property(&given), expected, "{name}");
        }
    }

    #[test]
    fn a_circle_ends_at_the_deepest_reference() {
        let text = json!({"description": "Text.", "anyOf": [
            {"type": "string"},
            {"type": "object", "properties": {"bold": {"$ref": "#/$defs/Text"}}, "required": ["bold"]},
        ]});
        let schema = json!({"properties": {"text": {"$ref": "#/$defs/Text"}}, "$defs": {"Text": text}});
        let mut at = &fitted(&schema)["properties"]["text"];
        for _ in 0..MAX_DEPTH {
            assert_eq!((&at["description"], &at["anyOf"][0]), (&json!("Text."), &json!({"type": "string"})));
            at = &at["anyOf"][1]["properties"]["bold"];
        }
        assert_eq!(*at, json!({"description": "Text."}));
    }

    #[test]
    fn the_root_itself_may_be_referred_to() {
        let schema = json!({"type": "object", "properties": {"inner": {"$ref": "#"}}});
        let text = fitted(&schema).to_string();
        assert_eq!(text.matches("inner").count(), MAX_DEPTH + 1, "{text}");
    }

    /// The words of a schema and of all in it.
    fn words_of(schema: &Value) -> BTreeSet<&str> {
        let words = schema.as_object().unwrap();
        let inner = words.iter().map(|(word, value)| match word.as_str() {
            "properties" => value.as_object().unwrap().values().collect(),
            "anyOf" => value.as_array().unwrap().iter().collect(),
            "items" => vec![value],
            _ => Vec::new(),
        });
        words.keys().map(String::as_str).chain(inner.flatten().flat_map(words_of)).collect()
    }

    /// Whether it calls a method or finds one: no reference is left, no word is unknown, no parameter is lost, and
    /// none becomes too large to be read.
    #[test]
    fn every_method_of_the_bot_api_fits() {
        let catalog = Catalog::new(&MethodSelection::default());
        let known = ["type", "properties", "required", "items", "anyOf", "enum", "additionalProperties"];
        let known: BTreeSet<&str> = known.into_iter().chain(KEPT).collect();
        for method in ApiTable::get().methods() {
            for (schema, bound) in [(catalog.schema(method), 30_000), (catalog.short_schema(method), 8_000)] {
                let fitted = fitted(&Value::Object(schema.clone()));
                let unknown: Vec<_> = words_of(&fitted).difference(&known).copied().collect();
                assert!(unknown.is_empty(), "{}: {unknown:?}", method.name);
                let names = |schema: &Value| schema.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
                assert_eq!(names(&fitted["properties"]), names(&schema["properties"]), "{}", method.name);
                let length = fitted.to_string().len();
                assert!(length < bound, "{} takes {length} bytes", method.name);
            }
        }
    }
}
