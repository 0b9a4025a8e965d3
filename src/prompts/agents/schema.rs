//! The published JSON Schema of an agent's file, by which editors check it and complete its words.

use serde_json::{Value, json};

use super::file::File;
use super::names::Names;
use crate::domain::agent::ALL_TOOLS;

/// The schema of an agent's file that may use these names.
#[must_use]
pub fn schema(names: &Names) -> Value {
    let mut schema = schemars::schema_for!(File).to_value();
    let extra = "/properties/json_schema_extra/properties";
    let tools = std::iter::once(ALL_TOOLS).chain(names.tools.iter().map(String::as_str));
    if let Some(name) = schema.pointer_mut(&format!("{extra}/tools/items/properties/name")) {
        name["enum"] = tools.collect();
    }
    if let Some(model) = schema.pointer_mut(&format!("{extra}/model")) {
        model["pattern"] = json!(format!("^({}):.+$", names.providers.join("|")));
    }
    schema
}
