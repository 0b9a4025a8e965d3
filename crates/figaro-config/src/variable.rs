//! A variable with default and meaning.

use std::borrow::Cow;
use std::collections::HashMap;

use figaro_domain::provider_spec::ProviderVariable;

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

/// A variable with its value in effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownVariable {
    /// Name of the environment variable.
    pub name: &'static str,
    /// Value in effect; `None` for a secret that is set.
    pub value: Option<String>,
    /// `true` if the owner has set it, `false` if it is the default.
    pub is_set: bool,
    /// Meaning for the owner, in a sentence or two.
    pub meaning: String,
}

impl Variable {
    /// Returns the variable with its value among these.
    pub(super) fn shown(&self, values: &HashMap<String, String>) -> ShownVariable {
        let set = values.get(self.name).map(|value| value.trim()).filter(|value| !value.is_empty());
        let value = set.unwrap_or(self.default);
        ShownVariable {
            name: self.name,
            value: (set.is_none() || !self.is_secret).then(|| value.to_owned()),
            is_set: set.is_some(),
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
