//! The published JSON Schema of a pack's file, by which editors check it and complete its words.

use serde_json::Value;

use super::file::File;

/// The schema of a pack's file.
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(File).to_value()
}
