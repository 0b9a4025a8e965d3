//! The published JSON Schema of an agent's file, by which editors check it and complete its words.

use serde_json::{Value, json};

use super::file::File;
use super::names::Names;
use figaro_domain::agent::ALL_TOOLS;

/// The schema of an agent's file that may use these names.
#[must_use]
pub fn schema(names: &Names) -> Value {
    let mut schema = schemars::schema_for!(File).to_value();
    let extra = "/properties/json_schema_extra/properties";
    let tools = std::iter::once(ALL_TOOLS).chain(names.tools.iter().map(String::as_str));
    if let Some(item) = schema.pointer_mut(&format!("{extra}/tools/items")) {
        // What a server has is not known here.
        item["if"] = json!({"required": ["server"]});
        item["then"] = match names.servers.is_empty() {
            true => json!({}),
            false => json!({"properties": {"server": {"enum": names.servers}}}),
        };
        item["else"] = json!({"properties": {"name": {"enum": tools.collect::<Vec<_>>()}}});
    }
    if let Some(model) = schema.pointer_mut(&format!("{extra}/model")) {
        model["pattern"] = json!(format!("^({}):.+$", names.providers.join("|")));
    }
    schema
}
