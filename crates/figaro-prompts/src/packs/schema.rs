//! Published JSON Schema of a pack's file, for checks and completion in editors.

use serde_json::Value;

use super::file::PackFile;

/// Returns the schema of a pack's file.
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(PackFile).to_value()
}
