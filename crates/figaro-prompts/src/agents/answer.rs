//! The JSON Schema of a structured answer.

use serde_json::{Map, Value, json};

use super::file::{File, Places};
use crate::files::Fault;
use figaro_base::text::{one_line, with_nearest};

/// The most characters of what is wrong with a schema.
const MAX_WORDS: usize = 300;

/// The schema that an agent's answer is to match; `None` where it answers in free words. Adds what is wrong with it.
pub(super) fn schema(file: &File, places: &Places, faults: &mut Vec<Fault>) -> Option<Value> {
    let structured = file.json_schema_extra.structured_output.as_ref().filter(|wanted| wanted.value)?;
    let properties = file.properties.as_ref().filter(|properties| !properties.value.is_empty());
    let Some(properties) = properties else {
        faults.push(Fault::at(
            structured.defined,
            "structured_output: true needs properties: they say what the answer consists of",
        ));
        return None;
    };
    for name in file.required.iter().filter(|name| !properties.value.contains_key(&name.value)) {
        let unknown = format!("required: properties has no `{}`", name.value);
        let known = properties.value.keys().map(String::as_str);
        faults.push(Fault::at(name.defined, with_nearest(unknown, &name.value, known)));
    }
    let required: Vec<&str> = file.required.iter().map(|name| name.value.as_str()).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties.value.clone()));
    schema.insert("required".to_owned(), json!(required));
    let others = file.additional_properties.clone().unwrap_or(Value::Bool(false));
    schema.insert("additionalProperties".to_owned(), others);
    let schema = Value::Object(schema);
    if let Err(Misfit { property, words }) = check(&schema) {
        let place = property.as_deref().and_then(|name| places.properties.as_ref()?.get(name));
        let at = place.map_or(properties.defined, |place| place.defined);
        let property = property.map(|name| format!(" {name}:")).unwrap_or_default();
        faults.push(Fault::at(at, format!("properties:{property} {words}")));
    }
    Some(schema)
}

/// Why a value is no JSON Schema.
struct Misfit {
    /// The part of the answer that it is about, if it is about one.
    property: Option<String>,
    words: String,
}

fn check(schema: &Value) -> Result<(), Misfit> {
    let misfit = |error: jsonschema::ValidationError<'_>, property: Option<String>| Misfit {
        property,
        words: one_line(&format!("is no JSON Schema: {error}"), MAX_WORDS),
    };
    jsonschema::meta::validate(schema).map_err(|error| {
        let path = error.instance_path().as_str().to_owned();
        let property = path.strip_prefix("/properties/").and_then(|rest| rest.split('/').next());
        misfit(error, property.map(str::to_owned))
    })?;
    // A pattern that is none, or a reference that leads nowhere.
    jsonschema::validator_for(schema).map(drop).map_err(|error| misfit(error, None))
}
