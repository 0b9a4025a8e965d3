//! Name of a model in settings, commands and records.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A model and its provider, written `provider:model`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelName {
    /// Name of the provider, as in `LLM_PROVIDER`.
    pub provider: String,
    /// Provider's name of the model; may contain colons.
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

/// Maximum number of names in a list for people.
const MAX_NAMED: usize = 8;

/// Joins the names for a sentence. Ends with `…` if there are more than fit.
pub fn list<'a>(models: impl IntoIterator<Item = &'a ModelName>) -> String {
    let mut names: Vec<String> = models.into_iter().take(MAX_NAMED + 1).map(ToString::to_string).collect();
    if names.len() > MAX_NAMED {
        names.truncate(MAX_NAMED);
        names.push("…".to_owned());
    }
    names.join(", ")
}
