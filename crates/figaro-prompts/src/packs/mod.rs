//! Context packs as files: one YAML file each in `prompts/packs/`. A pack declares kinds of records, when they bear on a question and
//! how a model is told of them. Read at the start and, by [`PackFiles`], again whenever a file has changed.

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
