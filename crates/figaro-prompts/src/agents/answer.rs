//! JSON Schema of a structured answer.

use serde_json::{Map, Value, json};

use super::file::{AgentFile, Places};
use crate::files::FileFault;
use figaro_base::text::{one_line, with_nearest};

/// Maximum characters of a schema fault.
const MAX_WORDS: usize = 300;

/// Returns the schema of an agent's answer; `None` if it answers in free words. Adds faults of the schema.
pub(super) fn schema(file: &AgentFile, places: &Places, faults: &mut Vec<FileFault>) -> Option<Value> {
    let structured = file.json_schema_extra.structured_output.as_ref().filter(|wanted| wanted.value)?;
    let properties = file.properties.as_ref().filter(|properties| !properties.value.is_empty());
    let Some(properties) = properties else {
        faults.push(FileFault::at(
            structured.defined,
            "structured_output: true needs properties: they say what the answer consists of",
        ));
        return None;
    };
    for name in file.required.iter().filter(|name| !properties.value.contains_key(&name.value)) {
        let unknown = format!("required: properties has no `{}`", name.value);
        let known = properties.value.keys().map(String::as_str);
        faults.push(FileFault::at(name.defined, with_nearest(unknown, &name.value, known)));
    }
    let required: Vec<&str> = file.required.iter().map(|name| name.value.as_str()).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties.value.clone()));
    schema.insert("required".to_owned(), json!(required));
    let others = file.additional_properties.clone().unwrap_or(Value::Bool(false));
    schema.insert("additionalProperties".to_owned(), others);
    let schema = Value::Object(schema);
    if let Err(SchemaError { property, words }) = check(&schema) {
        let place = property.as_deref().and_then(|name| places.properties.as_ref()?.get(name));
        let at = place.map_or(properties.defined, |place| place.defined);
        let property = property.map(|name| format!(" {name}:")).unwrap_or_default();
        faults.push(FileFault::at(at, format!("properties:{property} {words}")));
    }
    Some(schema)
}

/// Fault of a JSON Schema.
struct SchemaError {
    /// Part of the answer that the fault is about, if any.
    property: Option<String>,
    words: String,
}

fn check(schema: &Value) -> Result<(), SchemaError> {
    let misfit = |error: jsonschema::ValidationError<'_>, property: Option<String>| SchemaError {
        property,
        words: one_line(&format!("is no JSON Schema: {error}"), MAX_WORDS),
    };
    jsonschema::meta::validate(schema).map_err(|error| {
        let path = error.instance_path().as_str().to_owned();
        let property = path.strip_prefix("/properties/").and_then(|rest| rest.split('/').next());
        misfit(error, property.map(str::to_owned))
    })?;
    // An invalid pattern, or a reference that leads nowhere.
    jsonschema::validator_for(schema).map(drop).map_err(|error| misfit(error, None))
}
