//! The name of a model, as settings, commands and records write it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A model and who runs it, written `provider:model`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelName {
    /// The name of its provider, as `LLM_PROVIDER` takes it.
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

/// So many names stand in a sentence.
const MAX_NAMED: usize = 8;

/// Names for a sentence: the first of them, and that there are more.
pub fn list<'a>(models: impl IntoIterator<Item = &'a ModelName>) -> String {
    let mut names: Vec<String> = models.into_iter().take(MAX_NAMED + 1).map(ToString::to_string).collect();
    if names.len() > MAX_NAMED {
        names.truncate(MAX_NAMED);
        names.push("…".to_owned());
    }
    names.join(", ")
}
