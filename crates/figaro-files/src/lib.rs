//! Strict readers of the YAML and JSON files that an owner writes: every mistake with its line. Used by the readers of agents,
//! packs, personas, rules and `mcp.json`.

pub mod json;
pub mod yaml;
