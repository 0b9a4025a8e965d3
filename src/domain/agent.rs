//! An agent: what a turn is told to be, and the tools it is given. Read from `prompts/agents/` by `prompts`.

use super::generation::Generation;
use super::model::ModelName;

/// Instructions with the tools, the model and the settings that go with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// Lower-case letters, digits, `_` and `-`, 40 at most: the name of its file.
    pub name: String,
    /// What its author calls this state of it.
    pub version: String,
    /// Markdown; stands in the system prompt after the base rules.
    pub instructions: String,
    /// The names of the tools it has; no other is offered or called.
    pub tools: Vec<String>,
    /// The model it is meant for, where neither the request nor the chat names one.
    pub model: Option<ModelName>,
    /// How it writes, where neither the request nor the chat says it.
    pub settings: Generation,
}
