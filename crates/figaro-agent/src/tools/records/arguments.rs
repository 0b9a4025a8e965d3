//! Arguments of the tools. The docs of the fields become descriptions in the schemas for the model.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Save {
    pub(super) kind: String,
    /// By name, only those that were stated; null clears one.
    pub(super) fields: Map<String, Value>,
    /// Only to change a ! field of a record: its id.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) record_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListRecordsArguments {
    /// Only this kind.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) kind: Option<String>,
    /// Only records with this word, such as a name.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) about: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoveRecordArguments {
    /// From list_records or save_record.
    pub(super) record_id: String,
}
