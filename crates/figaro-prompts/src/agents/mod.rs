//! Agents as files: one YAML file each in `prompts/agents/`, in the form of a JSON Schema whose description is the
//! instructions. Read at the start and, by [`AgentFiles`], again whenever a file has changed.

mod advice;
mod answer;
mod file;
mod names;
mod plain;
mod read;
mod schema;
mod set;
#[cfg(test)]
mod tests;

pub use self::names::AgentFileNames;
pub use self::schema::schema;
pub use self::set::{AgentFiles, AgentSet};
