//! Files written by an owner: checks for presence, and strict readers of YAML and JSON that report mistakes with their
//! line. Used by the readers of settings, agents, packs, personas, rules and `mcp.json`.

pub mod json;
pub mod presence;
pub mod yaml;
