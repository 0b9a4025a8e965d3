//! A variable with default and meaning.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use super::store::StoreUrl;
use figaro_domain::provider_spec::ProviderVariable;

/// Variable with the place of the store.
const STORE: &str = "STORE_URL";

/// An environment variable for the owner.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Name of the environment variable.
    pub name: &'static str,
    /// Default value; empty for none.
    pub(crate) default: &'static str,
    /// Meaning for the owner, in a sentence or two.
    pub meaning: Cow<'static, str>,
    /// `true` if the value is a secret or an address that may hold one. It is never shown.
    pub is_secret: bool,
    /// Similar names that mean something else to another program.
    pub(crate) unlike: &'static [&'static str],
}

/// Place that the value of a variable comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingSource {
    /// The program: nobody has set the variable.
    Default,
    /// The environment of the process.
    Environment,
    /// The file `.env` in the folder where the process started.
    EnvFile,
    /// The entry of the bot in the file of bots.
    BotsFile,
}

/// A variable with its value in effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownVariable {
    /// Name of the environment variable.
    pub name: &'static str,
    /// Value in effect; `None` for a secret that is set.
    pub value: Option<String>,
    /// Place that the value comes from.
    pub source: SettingSource,
    /// Meaning for the owner, in a sentence or two.
    pub meaning: String,
}

impl Variable {
    /// Returns the variable with its value among these, of which those with `names` are from `.env`.
    pub(super) fn shown(&self, values: &HashMap<String, String>, names: &BTreeSet<String>) -> ShownVariable {
        let set = values.get(self.name).map(|value| value.trim()).filter(|value| !value.is_empty());
        let value = set.unwrap_or(self.default);
        // The address of a database may have a password, which its words leave out.
        let as_store = (self.name == STORE).then(|| value.parse::<StoreUrl>().ok()).flatten();
        let value = as_store.map_or_else(|| value.to_owned(), |url| url.to_string());
        let source = match set {
            None => SettingSource::Default,
            Some(_) if names.contains(self.name) => SettingSource::EnvFile,
            Some(_) => SettingSource::Environment,
        };
        ShownVariable {
            name: self.name,
            value: (set.is_none() || !self.is_secret).then_some(value),
            source,
            meaning: self.meaning.clone().into_owned(),
        }
    }
}

pub(super) const fn variable(name: &'static str, default: &'static str, meaning: &'static str) -> Variable {
    Variable { name, default, meaning: Cow::Borrowed(meaning), is_secret: false, unlike: &[] }
}

pub(super) const fn secret(name: &'static str, default: &'static str, meaning: &'static str) -> Variable {
    Variable { name, default, meaning: Cow::Borrowed(meaning), is_secret: true, unlike: &[] }
}

impl From<&ProviderVariable> for Variable {
    fn from(variable: &ProviderVariable) -> Self {
        let ProviderVariable { name, default, meaning, .. } = *variable;
        let is_secret = variable.is_secret();
        Self { name, default, meaning: Cow::Borrowed(meaning), is_secret, unlike: variable.unlike }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_read_has_no_secrets() {
        let shown = |variable: Variable, value: &str| {
            let values = [(variable.name.to_owned(), value.to_owned())].into();
            variable.shown(&values, &BTreeSet::from(["API_KEYS".to_owned()]))
        };
        let store = variable(STORE, "redb:./data", "");
        for url in [
            "postgres://ann:hunter2@db.example/figaro",
            "postgres://db.example/figaro?user=ann&password=hunter2",
        ] {
            let value = shown(store.clone(), url).value.unwrap();
            assert!(value.contains("db.example") && !value.contains("hunter2"), "{value}");
        }
        let key = shown(secret("API_KEYS", "", ""), "app:hunter2");
        assert_eq!((key.value, key.source), (None, SettingSource::EnvFile));
        let unset = shown(secret("API_KEYS", "", ""), " ");
        assert_eq!((unset.value.as_deref(), unset.source), (Some(""), SettingSource::Default));
        assert_eq!(shown(store, "").value.as_deref(), Some("redb:./data"));
    }
}
