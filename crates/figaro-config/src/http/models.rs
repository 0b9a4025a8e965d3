//! Model names that clients have built in, and the agents behind them: `HTTP_MODELS`.

use std::collections::BTreeMap;

use super::super::reader::VariableReader;

/// Placeholder for all unknown names.
const ANY: &str = "*";

/// Agents behind model names that Figaro itself does not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelAliases(BTreeMap<String, String>);

impl ModelAliases {
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Self {
        let text = reader.get("HTTP_MODELS").unwrap_or_default();
        let mut aliases = BTreeMap::new();
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let (name, model) = entry.split_once('=').unwrap_or_default();
            let (name, model) = (name.trim().to_owned(), model.trim().to_owned());
            let is_wrong = name.is_empty() || model.is_empty() || model.contains('=');
            if is_wrong || aliases.insert(name, model).is_some() {
                reader.fault(
                    "HTTP_MODELS",
                    "has entries that are not of the form NAME=MODEL, each name once, such as gpt-4o=figaro,*=figaro",
                );
                break;
            }
        }
        Self(aliases)
    }

    /// Returns the agent behind a model name; `None` if there is neither an entry nor a `*` entry.
    #[must_use]
    pub fn meant(&self, name: &str) -> Option<&str> {
        self.0.get(name).or_else(|| self.0.get(ANY)).map(String::as_str)
    }

    /// Returns all names with their agents, `*` included.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, model)| (name.as_str(), model.as_str()))
    }

    /// Returns all names, without `*`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str).filter(|name| *name != ANY)
    }
}
