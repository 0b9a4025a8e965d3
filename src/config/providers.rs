//! What the settings must know of a provider of models: its name and its variables, as data. Each provider describes
//! itself with it; `models` reads by it.

/// The plain part of a provider's descriptor.
#[derive(Debug, Clone, Copy)]
pub struct ProviderSpec {
    /// Its name in `provider:model` and in `LLM_PROVIDER`: 1 to 32 small letters, digits, `-` and `_`.
    pub name: &'static str,
    /// What stands in brackets behind its name where `LLM_PROVIDER` is explained; empty where the name says it all.
    pub description: &'static str,
    /// Its variables, in the order a newcomer needs them.
    pub variables: &'static [ProviderVariable],
}

/// A variable of one provider, made by [`Self::key`], [`Self::base_url`], [`Self::model`] or [`Self::seconds`].
#[derive(Debug, Clone, Copy)]
pub struct ProviderVariable {
    /// The name of the environment variable.
    pub name: &'static str,
    /// What holds when it is not set; empty for none.
    pub default: &'static str,
    /// What it means, in a sentence or two.
    pub meaning: &'static str,
    /// What is read from it.
    pub role: Role,
    pub(super) need: Need,
    /// The provider is set up once this one is given.
    pub(super) sets_up: bool,
}

/// What is read from a provider's variable. A provider has at most one of each but of [`Role::Seconds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The key of the service; a secret.
    Key,
    /// The http or https address of the service; it may hold a secret.
    BaseUrl,
    /// The model that is meant when none is named.
    Model,
    /// A whole number of seconds, within bounds.
    Seconds {
        /// The smallest value it takes, in seconds.
        min: u64,
        /// The largest value it takes, in seconds.
        max: u64,
    },
}

/// Whether a provider that is set up, or chosen, may do without a variable. The words say where to get the value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Need {
    Optional,
    Always(&'static str),
    AtDefaultAddress(&'static str),
}

impl ProviderVariable {
    /// The key of the service.
    #[must_use]
    pub const fn key(name: &'static str, meaning: &'static str) -> Self {
        Self::new(Role::Key, name, meaning)
    }

    /// The address of the service.
    #[must_use]
    pub const fn base_url(name: &'static str, meaning: &'static str) -> Self {
        Self::new(Role::BaseUrl, name, meaning)
    }

    /// The model that is meant when none is named.
    #[must_use]
    pub const fn model(name: &'static str, meaning: &'static str) -> Self {
        Self::new(Role::Model, name, meaning)
    }

    /// A whole number of seconds from `min` to `max`, and the one that holds when none is set.
    #[must_use]
    pub const fn seconds(
        name: &'static str,
        min: u64,
        max: u64,
        default: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { default, ..Self::new(Role::Seconds { min, max }, name, meaning) }
    }

    const fn new(role: Role, name: &'static str, meaning: &'static str) -> Self {
        Self { name, default: "", meaning, role, need: Need::Optional, sets_up: false }
    }

    /// The same with a value that holds when none is set.
    #[must_use]
    pub const fn with_default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    /// The same, required of a provider that is set up or chosen. `hint` says where to get a value; a complaint ends with
    /// it.
    #[must_use]
    pub const fn required(self, hint: &'static str) -> Self {
        Self { need: Need::Always(hint), ..self }
    }

    /// As [`ProviderVariable::required`], but only where the address is the default one: a server of the owner's own may
    /// do without.
    #[must_use]
    pub const fn required_at_default_address(self, hint: &'static str) -> Self {
        Self { need: Need::AtDefaultAddress(hint), ..self }
    }

    /// The same as the variable by which the provider counts as set up: `/model` and `LLM_FALLBACK` can then choose it. A
    /// provider without such a variable is there only where it is chosen.
    #[must_use]
    pub const fn sets_up(self) -> Self {
        Self { sets_up: true, ..self }
    }

    /// Its value is a secret, or an address that may hold one, and is shown nowhere.
    #[must_use]
    pub const fn is_secret(&self) -> bool {
        matches!(self.role, Role::Key | Role::BaseUrl)
    }
}

impl ProviderSpec {
    /// Its variable of this role.
    #[must_use]
    pub fn variable(&self, role: Role) -> Option<&'static ProviderVariable> {
        self.variables.iter().find(|variable| variable.role == role)
    }

    /// The variable by which it counts as set up.
    #[must_use]
    pub fn set_up_by(&self) -> Option<&'static ProviderVariable> {
        self.variables.iter().find(|variable| variable.sets_up)
    }
}
