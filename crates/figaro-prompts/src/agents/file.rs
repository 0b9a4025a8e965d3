//! File of an agent as written. The published JSON Schema is generated from these types and their docs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use serde_saphyr::Spanned;

use figaro_domain::generation::Generation;

/// An agent of Figaro: its instructions, its tools and its model. Its name is that of the file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Agent")]
pub(super) struct AgentFile {
    /// Always `object`.
    #[schemars(with = "String", extend("const" = "object"))]
    pub(super) r#type: Spanned<String>,
    /// The instructions, in Markdown. They stand in the system prompt behind Figaro's own rules. People see the first sentence of
    /// them where they choose an agent.
    #[schemars(with = "String")]
    pub(super) description: Spanned<String>,
    /// Parts of the answer: a JSON Schema for each. It is binding with `structured_output: true`, else a note for
    /// readers.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    pub(super) properties: Option<Spanned<Map<String, Value>>>,
    /// The parts of the answer that are never missing.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) required: Vec<Spanned<String>>,
    /// `true` if a structured answer may have parts that `properties` does not name; `false` by default.
    #[serde(default, rename = "additionalProperties")]
    pub(super) additional_properties: Option<Value>,
    /// The part of the schema that makes it an agent.
    pub(super) json_schema_extra: Extra,
}

/// The part of the schema that makes it an agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Extra {
    /// Always `agent`.
    #[schemars(with = "String", extend("const" = "agent"))]
    pub(super) kind: Spanned<String>,
    /// The name of the agent, and of its file without `.yaml`: lower-case letters, digits, `_` and `-`.
    #[schemars(with = "String", regex(pattern = r"^[a-z0-9_-]{1,40}$"))]
    pub(super) name: Spanned<String>,
    /// Version of the file, in your own words, such as `"1"`.
    #[schemars(with = "String", extend("type" = ["string", "number"]))]
    pub(super) version: String,
    /// The tools that it has. No tools listed, no tools given. The name `*` stands for all that come with Figaro.
    #[serde(default)]
    pub(super) tools: Vec<ToolReference>,
    /// The agents that it may ask or hand over to. None listed, none may be asked.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) agents: Vec<Spanned<String>>,
    /// `true` if people see what it writes while another agent asks it.
    #[serde(default)]
    pub(super) speaks: bool,
    /// Reactions to its answers that are messages to it: an emoji, and the words of the message.
    #[serde(default)]
    pub(super) reactions: BTreeMap<String, String>,
    /// `true` if its answer is an object that matches `properties`.
    #[serde(default)]
    #[schemars(with = "bool")]
    pub(super) structured_output: Option<Spanned<bool>>,
    /// The model that it is meant for, as `provider:model`. Without it that of the chat answers.
    #[schemars(with = "Option<String>", regex(pattern = r"^[^:]+:.+$"))]
    pub(super) model: Option<Spanned<String>>,
    /// How it writes, where neither the request nor the chat nor its persona says it.
    #[serde(default)]
    pub(super) settings: Generation,
}

/// A tool by its name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct ToolReference {
    /// The name of the tool: with `server`, its name there, or `*` for all of that server.
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
    /// The other MCP server that has it, by its name in `mcp.json`. Left out for what comes with Figaro.
    #[schemars(with = "Option<String>")]
    pub(super) server: Option<Spanned<String>>,
}

/// Places of the parts of a file that are parsed without them.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Places {
    /// Parts of the answer, by name.
    #[serde(default)]
    pub(super) properties: Option<BTreeMap<String, Spanned<IgnoredAny>>>,
    /// Places in `json_schema_extra`.
    #[serde(default)]
    pub(super) json_schema_extra: ExtraPlaces,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ExtraPlaces {
    /// Place of each setting, by name.
    #[serde(default)]
    pub(super) settings: BTreeMap<String, Spanned<IgnoredAny>>,
}
