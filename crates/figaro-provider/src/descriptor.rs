//! Description of a provider, and the table in which every provider is registered. The composition root fills the
//! table, reads the settings by it, and builds the providers that they name.

use std::sync::Arc;
use std::time::Duration;

use super::Provider;
use super::embed::Embedder;
use super::paint::Painter;
use super::speech::SpeechModel;
use super::transcribe::Transcriber;
use figaro_config::{ProviderSettings, Variables};
use figaro_domain::provider_spec::{ProviderSpec, ProviderVariable, VariableRole};

/// Maximum length of a name, in bytes. Buttons show it and have little room.
const MAX_NAME: usize = 32;

/// Provider without its settings.
#[derive(Debug, Clone, Copy)]
pub struct Descriptor {
    /// Name of the provider and its variables.
    pub spec: ProviderSpec,
    /// Builds the provider from its settings. Its [`Provider::name`] is that of the spec. The client limits the time
    /// to connect, but no call as a whole. A stream that is silent for `idle_limit` has stalled.
    pub build:
        fn(settings: &ProviderSettings, http: reqwest::Client, idle_limit: Duration) -> Arc<dyn Provider>,
    /// Builds an embedding model of the provider; `None` if it has none. Its [`Embedder::name`] begins with that of the spec.
    pub embedder: Option<Make<dyn Embedder>>,
    /// Builds a model of the provider that turns speech into text; `None` if it has none.
    pub transcriber: Option<Make<dyn Transcriber>>,
    /// Builds a model of the provider that speaks; `None` if it has none.
    pub speech: Option<Make<dyn SpeechModel>>,
    /// Builds a model of the provider that draws; `None` if it has none.
    pub painter: Option<Make<dyn Painter>>,
}

/// Builds the model of this name. A call that is silent for `idle_limit` has failed.
pub type Make<M> =
    fn(settings: &ProviderSettings, model: &str, http: reqwest::Client, idle_limit: Duration) -> Arc<M>;

/// All available providers, configured or not.
#[derive(Debug, Clone, Default)]
pub struct Providers(Vec<Descriptor>);

/// Reason why a provider cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// Another provider has this name or this variable.
    #[error("two providers claim `{0}`")]
    Taken(&'static str),
    /// Several of its own variables have the same meaning.
    #[error("the provider `{0}` has two variables of one name, or two for its key, its address or its model")]
    Twice(&'static str),
    /// The name does not fit into `provider:model`, or is too long for a button.
    #[error("`{0}` is no name for a provider: it takes up to {MAX_NAME} of a-z, 0-9, - and _")]
    Name(&'static str),
}

impl Providers {
    /// Adds a provider to the end of the table. The first one is the default of `LLM_PROVIDER`.
    ///
    /// # Errors
    /// `RegisterError::Name` for a name that cannot be written in settings and commands; `RegisterError::Taken` if
    /// another provider has the name or one of the variables; `RegisterError::Twice` if two of its variables mean the
    /// same.
    pub fn register(&mut self, provider: Descriptor) -> Result<(), RegisterError> {
        let name = provider.spec.name;
        let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_plain) {
            return Err(RegisterError::Name(name));
        }
        if self.find(name).is_some() {
            return Err(RegisterError::Taken(name));
        }
        let variables = self.variables();
        let is_known = |name: &str| variables.iter().any(|known| known.name == name);
        if let Some(taken) = provider.spec.variables.iter().find(|variable| is_known(variable.name)) {
            return Err(RegisterError::Taken(taken.name));
        }
        let own = provider.spec.variables;
        let is_again = |(at, variable): (usize, &ProviderVariable)| {
            let is_one = |other: &&ProviderVariable| matches!(other.role, VariableRole::Time { .. });
            let before = own.iter().take(at);
            before.clone().any(|other| other.name == variable.name)
                || (!is_one(&variable) && before.clone().any(|other| other.role == variable.role))
        };
        if own.iter().enumerate().any(is_again) {
            return Err(RegisterError::Twice(name));
        }
        self.0.push(provider);
        Ok(())
    }

    /// Returns the provider of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Descriptor> {
        self.0.iter().find(|provider| provider.spec.name == name)
    }

    /// Returns the names of all providers, configured or not.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|provider| provider.spec.name)
    }

    /// Returns the variables of the settings, including those of these providers.
    #[must_use]
    pub fn variables(&self) -> Variables {
        Variables::new(self.0.iter().map(|provider| provider.spec).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BUILTIN;

    #[test]
    fn a_provider_has_a_name_and_variables_of_its_own() {
        let first = BUILTIN[0];
        let with = |name, variables| Descriptor {
            spec: ProviderSpec { name, variables, description: "", services: &[] },
            ..first
        };
        const OWN: &[ProviderVariable] = &[ProviderVariable::key("OWN_API_KEY", "A key.")];
        const PROXY: &[ProviderVariable] = &[ProviderVariable::base_url("LLM_PROXY", "An address.")];
        const SAME: &[ProviderVariable] = &[OWN[0], ProviderVariable::model("OWN_API_KEY", "A model.")];
        const KEYS: &[ProviderVariable] = &[OWN[0], ProviderVariable::key("OTHER_API_KEY", "Another key.")];
        const TIMES: &[ProviderVariable] = &[
            ProviderVariable::time("OWN_WAIT", 1, 9, "2", "A time."),
            ProviderVariable::time("OWN_LOAD", 1, 9, "2", "Another time."),
        ];
        let theirs = first.spec.variables;
        let cases = [
            (with("own", OWN), Ok(())),
            (with("own", TIMES), Ok(())),
            (with("own", SAME), Err(RegisterError::Twice("own"))),
            (with("own", KEYS), Err(RegisterError::Twice("own"))),
            (with(first.spec.name, OWN), Err(RegisterError::Taken(first.spec.name))),
            (with("own", theirs), Err(RegisterError::Taken(theirs[0].name))),
            (with("own", PROXY), Err(RegisterError::Taken("LLM_PROXY"))),
            (with("", OWN), Err(RegisterError::Name(""))),
            (with("Own", OWN), Err(RegisterError::Name("Own"))),
            (with("own:x", OWN), Err(RegisterError::Name("own:x"))),
        ];
        for (provider, wanted) in cases {
            let mut providers = Providers::default();
            providers.register(first).unwrap();
            assert_eq!(providers.register(provider), wanted, "{:?}", provider.spec);
        }
    }
}
