//! The files that an owner writes: whether they are there, and strict readers of YAML and JSON that tell every mistake with its
//! line. Used by the readers of settings, agents, packs, personas, rules and `mcp.json`.

pub mod json;
pub mod presence;
pub mod yaml;
