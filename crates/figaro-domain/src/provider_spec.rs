//! Data about a model provider that the settings need: its name and its variables. Each provider describes itself with this
//! data.

/// Data part of a provider's descriptor.
#[derive(Debug, Clone, Copy)]
pub struct ProviderSpec {
    /// Name in `provider:model` and in `LLM_PROVIDER`: 1 to 32 lower-case letters, digits, `-` and `_`.
    pub name: &'static str,
    /// Text in brackets after the name in the description of `LLM_PROVIDER`; empty if not needed.
    pub description: &'static str,
    /// Variables of the provider, in the order in which a new user needs them.
    pub variables: &'static [ProviderVariable],
    /// Well-known services at other addresses than the default, which `figaro init` offers by name.
    pub services: &'static [KnownService],
}

/// Well-known service that a provider reaches by its address.
#[derive(Debug, Clone, Copy)]
pub struct KnownService {
    /// Name, such as `openrouter`; unlike the name of any provider.
    pub name: &'static str,
    /// Description after the name.
    pub description: &'static str,
    /// Address of the service, in the form of the variable with the address.
    pub address: &'static str,
    /// Page where its users make a key.
    pub key_page: &'static str,
    /// Models to offer, if the service does not list them to this provider; empty if it lists them.
    pub models: &'static [&'static str],
}

/// Variable of a provider, made by [`Self::key`], [`Self::base_url`], [`Self::model`] or [`Self::time`].
#[derive(Debug, Clone, Copy)]
pub struct ProviderVariable {
    /// Name of the environment variable.
    pub name: &'static str,
    /// Default value; empty for none.
    pub default: &'static str,
    /// Description, in a sentence or two.
    pub meaning: &'static str,
    /// Kind of the value.
    pub role: VariableRole,
    need: Need,
    /// `true` if setting this variable sets up the provider.
    sets_up: bool,
    /// Names that are not misspellings of this one.
    pub unlike: &'static [&'static str],
    path: Option<&'static str>,
    if_none_served: &'static str,
}

/// Kind of a provider variable's value. A provider has at most one variable of each kind, except [`VariableRole::Time`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableRole {
    /// Key of the service; a secret.
    Key,
    /// HTTP or HTTPS address of the service; may contain a secret.
    BaseUrl,
    /// Default model.
    Model,
    /// Duration within bounds: a whole number of seconds, or a text such as `5m`.
    Time {
        /// Smallest value, in seconds.
        min: u64,
        /// Largest value, in seconds.
        max: u64,
    },
}

/// Condition under which a provider that is set up or chosen needs the variable. The text says where to get the value.
#[derive(Debug, Clone, Copy)]
enum Need {
    Optional,
    Always(&'static str),
    AtDefaultAddress(&'static str),
}

impl ProviderVariable {
    /// Creates the variable for the key of the service.
    #[must_use]
    pub const fn key(name: &'static str, meaning: &'static str) -> Self {
        Self::new(VariableRole::Key, name, meaning)
    }

    /// Creates the variable for the address of the service.
    #[must_use]
    pub const fn base_url(name: &'static str, meaning: &'static str) -> Self {
        Self::new(VariableRole::BaseUrl, name, meaning)
    }

    /// Creates the variable for the default model.
    #[must_use]
    pub const fn model(name: &'static str, meaning: &'static str) -> Self {
        Self::new(VariableRole::Model, name, meaning)
    }

    /// Creates a variable for a duration from `min` to `max` seconds, with its default.
    #[must_use]
    pub const fn time(
        name: &'static str,
        min: u64,
        max: u64,
        default: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { default, ..Self::new(VariableRole::Time { min, max }, name, meaning) }
    }

    const fn new(role: VariableRole, name: &'static str, meaning: &'static str) -> Self {
        let need = Need::Optional;
        Self {
            name,
            default: "",
            meaning,
            role,
            need,
            sets_up: false,
            unlike: &[],
            path: None,
            if_none_served: "",
        }
    }

    /// Sets the default value.
    #[must_use]
    pub const fn with_default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    /// Makes the variable required if the provider is set up or chosen. `hint` says where to get a value; it ends the error
    /// message.
    #[must_use]
    pub const fn required(self, hint: &'static str) -> Self {
        Self { need: Need::Always(hint), ..self }
    }

    /// Makes the variable required as [`ProviderVariable::required`] does, but only at the default address. The owner's own
    /// server may not need it.
    #[must_use]
    pub const fn required_at_default_address(self, hint: &'static str) -> Self {
        Self { need: Need::AtDefaultAddress(hint), ..self }
    }

    /// Marks the variable that sets up the provider, so that `/model` and `LLM_FALLBACK` can choose it. A provider without
    /// such a variable is available only if chosen.
    #[must_use]
    pub const fn sets_up(self) -> Self {
        Self { sets_up: true, ..self }
    }

    /// Sets names that are not misspellings, because another program uses them.
    #[must_use]
    pub const fn unlike(self, names: &'static [&'static str]) -> Self {
        Self { unlike: names, ..self }
    }

    /// Sets the end of an address's path, such as `/v1`. Without it, the path of the default is used.
    #[must_use]
    pub const fn with_path(self, path: &'static str) -> Self {
        Self { path: Some(path), ..self }
    }

    /// Sets the text that explains how to get a model if the service has none.
    #[must_use]
    pub const fn if_none_served(self, words: &'static str) -> Self {
        Self { if_none_served: words, ..self }
    }

    /// Returns the text that explains how to get a model if the service has none; empty if unknown.
    #[must_use]
    pub const fn how_to_get_one(&self) -> &'static str {
        self.if_none_served
    }

    /// Returns where to get a required value; `None` if the variable is not required. `at_default` is `true` if the
    /// provider's address is the default one.
    #[must_use]
    pub const fn need(&self, at_default: bool) -> Option<&'static str> {
        match self.need {
            Need::Always(hint) => Some(hint),
            Need::AtDefaultAddress(hint) if at_default => Some(hint),
            Need::AtDefaultAddress(_) | Need::Optional => None,
        }
    }

    /// Returns the documented path of the address, without a trailing slash; `None` if unknown.
    #[must_use]
    pub fn path(&self) -> Option<String> {
        let of_default = || {
            let (_, behind) = self.default.split_once("://")?;
            Some(behind.find('/').map_or("", |path| behind[path..].trim_end_matches('/')))
        };
        self.path.or_else(of_default).map(str::to_owned)
    }

    /// Returns `true` if the value is a secret, or an address that may contain one. Such a value is never shown.
    #[must_use]
    pub const fn is_secret(&self) -> bool {
        matches!(self.role, VariableRole::Key | VariableRole::BaseUrl)
    }
}

impl ProviderSpec {
    /// Returns the provider's variable of this kind.
    #[must_use]
    pub fn variable(&self, role: VariableRole) -> Option<&'static ProviderVariable> {
        self.variables.iter().find(|variable| variable.role == role)
    }

    /// Returns the variable that sets up the provider.
    #[must_use]
    pub fn set_up_by(&self) -> Option<&'static ProviderVariable> {
        self.variables.iter().find(|variable| variable.sets_up)
    }
}
