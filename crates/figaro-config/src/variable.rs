//! A variable with default and meaning.

use std::borrow::Cow;

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
