//! Context packs as files: one YAML file each in `prompts/packs/`. A pack declares kinds of records, when they are
//! relevant to a question, and how they are shown to a model. Read at the start and, by [`PackFiles`], again whenever a
//! file has changed.

mod faults;
mod field;
mod file;
mod ordered;
mod plain;
mod read;
mod render;
mod schema;
mod set;
mod template;
#[cfg(test)]
mod tests;

pub use self::schema::schema;
pub use self::set::{PACKS_FOLDER, PackFiles, PackSet};
