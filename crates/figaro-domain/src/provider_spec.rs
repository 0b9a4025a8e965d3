//! What the settings must know of a provider of models: its name and its variables, as data. Each provider describes
//! itself with it, and the settings are read by it.

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

/// A variable of one provider, made by [`Self::key`], [`Self::base_url`], [`Self::model`] or [`Self::time`].
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
    need: Need,
    /// The provider is set up once this one is given.
    sets_up: bool,
    /// Names that are no misspelling of this one.
    pub unlike: &'static [&'static str],
    path: Option<&'static str>,
    if_none_served: &'static str,
}

/// What is read from a provider's variable. A provider has at most one of each but of [`Role::Time`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The key of the service; a secret.
    Key,
    /// The http or https address of the service; it may hold a secret.
    BaseUrl,
    /// The model that is meant when none is named.
    Model,
    /// A time, within bounds: a whole number of seconds, or such as `5m`.
    Time {
        /// The smallest value it takes, in seconds.
        min: u64,
        /// The largest value it takes, in seconds.
        max: u64,
    },
}

/// Whether a provider that is set up, or chosen, may do without a variable. The words say where to get the value.
#[derive(Debug, Clone, Copy)]
enum Need {
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

    /// A time from `min` to `max` seconds, and the one that holds when none is set.
    #[must_use]
    pub const fn time(
        name: &'static str,
        min: u64,
        max: u64,
        default: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { default, ..Self::new(Role::Time { min, max }, name, meaning) }
    }

    const fn new(role: Role, name: &'static str, meaning: &'static str) -> Self {
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

    /// The same, of which it is known that these names are no misspelling: they mean something to another program.
    #[must_use]
    pub const fn unlike(self, names: &'static [&'static str]) -> Self {
        Self { unlike: names, ..self }
    }

    /// The same for an address of which it is known how its path ends, such as `/v1`. Else it ends as that of the default.
    #[must_use]
    pub const fn with_path(self, path: &'static str) -> Self {
        Self { path: Some(path), ..self }
    }

    /// The same for a model, with words on how to get one where the service has none.
    #[must_use]
    pub const fn if_none_served(self, words: &'static str) -> Self {
        Self { if_none_served: words, ..self }
    }

    /// How to get a model where the service has none; empty where nothing is known of that.
    #[must_use]
    pub const fn how_to_get_one(&self) -> &'static str {
        self.if_none_served
    }

    /// Where to get a value that the provider cannot do without; `None` if it can. `at_default` is whether its address is the
    /// default one.
    #[must_use]
    pub const fn need(&self, at_default: bool) -> Option<&'static str> {
        match self.need {
            Need::Always(hint) => Some(hint),
            Need::AtDefaultAddress(hint) if at_default => Some(hint),
            Need::AtDefaultAddress(_) | Need::Optional => None,
        }
    }

    /// How the path of the address ends, as the service documents it, without a trailing slash; `None` where that is not known.
    #[must_use]
    pub fn path(&self) -> Option<String> {
        let of_default = || {
            let (_, behind) = self.default.split_once("://")?;
            Some(behind.find('/').map_or("", |path| behind[path..].trim_end_matches('/')))
        };
        self.path.or_else(of_default).map(str::to_owned)
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
