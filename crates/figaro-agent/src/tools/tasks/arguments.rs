//! Arguments of the tools. The docs of the fields become descriptions in the schemas for the model; types have no docs,
//! since these would be sent too. `null` equals a missing field, and the schemas spend no words on it.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::typed::present;
use figaro_domain::task::IfMissed;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateTaskArguments {
    /// What is to be done then: an instruction to yourself that can be carried out without this conversation. Say all it
    /// needs, for whom it is and in which language: "Remind Ann, in English, to take the medicine." Not when.
    pub(super) prompt: String,
    /// In their words.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) title: Option<String>,
    /// If recurring, cron: 5 fields (minute hour day-of-month month day-of-week), 6 with seconds first, or @hourly, @daily,
    /// @weekly, @monthly, @yearly. If not, ISO 8601, local unless it ends in an offset ("2026-11-23T09:00"), or a
    /// duration from now ("in 20m").
    pub(super) schedule: String,
    /// true: again and again; false: once.
    pub(super) recurring: bool,
    /// IANA; only if they named a place other than this chat's.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) timezone: Option<String>,
    /// Who does it, if they named an agent.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) agent: Option<String>,
    // Only in the schema of chats with records.
    #[serde(default)]
    #[schemars(skip)]
    pub(super) record_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    pub(super) task_id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeTaskArguments {
    /// As listed.
    pub(super) task_id: String,
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) title: Option<String>,
    /// In full, as for schedule_task.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) prompt: Option<String>,
    /// As for schedule_task.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) schedule: Option<String>,
    #[serde(default)]
    #[schemars(with = "bool")]
    pub(super) recurring: Option<bool>,
    /// IANA; clock times stay.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) timezone: Option<String>,
    /// As provider:model; null for the chat's own.
    #[serde(default, deserialize_with = "present")]
    pub(super) model: Option<Option<String>>,
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) agent: Option<String>,
    #[serde(default)]
    pub(super) if_missed: Option<IfMissed>,
    #[serde(default)]
    #[schemars(with = "bool")]
    pub(super) paused: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoTaskArguments {}
