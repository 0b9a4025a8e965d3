//! The names of models that clients have built in, and what answers to them: `HTTP_MODELS`.

use std::collections::BTreeMap;

use super::super::reader::Reader;

/// Stands for every name that is none here.
const ANY: &str = "*";

/// The agents that answer to names of models which Figaro has not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelAliases(BTreeMap<String, String>);

impl ModelAliases {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
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

    /// The agent that answers to this name; `None` if none is meant by it.
    #[must_use]
    pub fn meant(&self, name: &str) -> Option<&str> {
        self.0.get(name).or_else(|| self.0.get(ANY)).map(String::as_str)
    }

    /// Each name with the agent that answers to it, that for all others too.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, model)| (name.as_str(), model.as_str()))
    }

    /// The names, without that for all others.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str).filter(|name| *name != ANY)
    }
}
