//! What a model is asked.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::conversation::PrivatePart;
use crate::domain::tool::Call;

/// A model and who runs it, written `provider:model`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelName {
    /// The provider's name.
    pub provider: String,
    /// The model's name as the provider knows it; it may hold colons of its own.
    pub model: String,
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider, self.model)
    }
}

impl FromStr for ModelName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
                Ok(Self { provider: provider.to_owned(), model: model.to_owned() })
            }
            _ => Err(format!("`{text}` is not of the form provider:model, such as openai:gpt-4.1-mini")),
        }
    }
}

/// One pass of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The model, as its provider knows it.
    pub model: String,
    /// The system prompt: the same from pass to pass, so that caches hit.
    pub instructions: String,
    /// The conversation, oldest first.
    pub items: Vec<Item>,
    /// The tools it may call; none for a pass that must answer.
    pub tools: Vec<ToolSpec>,
}

/// A piece of conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Item {
    /// What people said, and what Figaro tells the model beside it.
    User {
        /// The words.
        text: String,
    },
    /// What the model said in one pass.
    Assistant {
        /// Its words.
        text: String,
        /// Its calls.
        calls: Vec<Call>,
        /// What its provider wants back.
        private: Vec<PrivatePart>,
    },
    /// What a call gave.
    ToolResult {
        /// The call.
        call_id: String,
        /// The tool.
        name: String,
        /// JSON text.
        output: String,
    },
}

/// A function tool as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name; letters, digits, `_` and `-`, 64 at most: what all providers take.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments, an object.
    pub parameters: Value,
}
