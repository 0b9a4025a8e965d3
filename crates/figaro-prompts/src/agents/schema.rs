//! Published JSON Schema of an agent's file, for checks and completion in editors.

use serde_json::{Value, json};

use super::file::AgentFile;
use super::names::AgentFileNames;
use figaro_domain::agent::ALL_TOOLS;

/// Returns the schema of an agent's file that may use these names.
#[must_use]
pub fn schema(names: &AgentFileNames) -> Value {
    let mut schema = schemars::schema_for!(AgentFile).to_value();
    let extra = "/properties/json_schema_extra/properties";
    let tools = std::iter::once(ALL_TOOLS).chain(names.tools.iter().map(String::as_str));
    if let Some(item) = schema.pointer_mut(&format!("{extra}/tools/items")) {
        // The tools of a server are not known here.
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
