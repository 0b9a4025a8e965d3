//! Services that run models, and the order in which they are asked. The providers and their variables are data:
//! `providers`.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::time::Duration;

use figaro_mcp::proxy::Proxies;
use url::{Host, Url};

use super::abilities::Abilities;
use super::faults::SettingsFaults;
use super::of_model::OfModel;
use super::reader::VariableReader;
use super::variables::Variables;
use figaro_base::secret::{ExposeSecret, SecretString};
use figaro_domain::provider_spec::{KnownService, ProviderSpec, ProviderVariable, VariableRole};

/// A model and its provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChoice {
    /// Name of the provider, as in `LLM_PROVIDER`.
    pub provider: &'static str,
    /// Name of the model at the provider.
    pub model: String,
}

impl fmt::Display for ModelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider, self.model)
    }
}

/// Settings of one provider.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    /// Name of the provider, as in `LLM_PROVIDER`.
    pub name: &'static str,
    /// Base URL, without a trailing slash.
    pub base_url: String,
    /// API key; empty for a self-hosted service that needs none.
    pub key: SecretString,
    /// Default model of the provider.
    pub model: String,
    /// Values of its [`VariableRole::Time`] variables, by variable name.
    pub times: BTreeMap<&'static str, Duration>,
}

impl ProviderSettings {
    /// Returns the API key; `None` if empty.
    #[must_use]
    pub fn given_key(&self) -> Option<SecretString> {
        (!self.key.expose_secret().is_empty()).then(|| self.key.clone())
    }

    /// Returns the value of a [`VariableRole::Time`] variable; zero if the provider's spec does not list it.
    #[must_use]
    pub fn time(&self, variable: &str) -> Duration {
        self.times.get(variable).copied().unwrap_or_default()
    }
}

/// Models and the services that run them.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    /// All configured providers, not only the one that answers.
    pub providers: Vec<ProviderSettings>,
    /// Model that answers unless a chat or agent has another.
    pub default: ModelChoice,
    /// Models to ask in order when the default one does not answer.
    pub fallback: Vec<ModelChoice>,
    /// Model that answers in place of any other while a limit on spending is nearly used up.
    pub over_budget: Option<ModelChoice>,
    /// Proxies to all providers and to the web search.
    pub proxies: Proxies,
    /// Timeout of a stream that sends nothing.
    pub idle_timeout: Duration,
    /// Number of concurrent requests to a self-hosted server ([`Self::own_servers`]).
    pub slots: usize,
    /// Capabilities of models that override the built-in list.
    pub abilities: Vec<OfModel<Abilities>>,
}

impl ModelSettings {
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Self {
        let named = read_first(reader);
        let fallback = read_choices(reader, "LLM_FALLBACK");
        let over_budget = read_choices(reader, "MODEL_OVER_BUDGET").into_iter().next();
        // If the provider's name is misspelt, nothing is reported missing, not even for the default provider.
        let is_wanted = |name: &str| {
            named == Some(name) || fallback.iter().chain(&over_budget).any(|choice| choice.provider == name)
        };
        let first = named.or(reader.providers().first().map(|spec| spec.name)).unwrap_or_default();
        let specs = reader.providers().iter();
        // A fallback names its model, so its provider needs no default one.
        let model_of = |name: &str| {
            let choice =
                fallback.iter().chain(&over_budget).find(|choice| choice.provider == name && name != first);
            choice.map(|choice| choice.model.as_str())
        };
        let providers: Vec<ProviderSettings> = specs
            .filter_map(|spec| read_provider(reader, spec, is_wanted(spec.name), model_of(spec.name)))
            .collect();
        let model =
            providers.iter().find(|provider| provider.name == first).map(|provider| provider.model.clone());
        Self {
            providers,
            default: ModelChoice { provider: first, model: model.unwrap_or_default() },
            fallback,
            over_budget,
            proxies: reader.proxies("LLM_PROXY"),
            idle_timeout: read_idle_timeout(reader),
            slots: read_slots(reader),
            abilities: Abilities::read(reader),
        }
    }

    /// Reads the settings of one provider before a model is chosen, to list its models. Faults elsewhere are ignored.
    ///
    /// # Errors
    /// Missing values and faults in the provider's variables and in those common to all providers.
    pub fn of_service(
        values: &HashMap<String, String>,
        variables: &Variables,
        spec: &ProviderSpec,
    ) -> Result<Self, SettingsFaults> {
        let mut reader = VariableReader::new(values, variables);
        let settings = Self {
            providers: vec![read_service(&mut reader, spec)],
            default: ModelChoice { provider: spec.name, model: String::new() },
            fallback: Vec::new(),
            over_budget: None,
            proxies: reader.proxies("LLM_PROXY"),
            idle_timeout: read_idle_timeout(&mut reader),
            slots: read_slots(&mut reader),
            abilities: Abilities::read(&mut reader),
        };
        reader.finish_part(settings)
    }

    /// Returns the variables whose values choose a provider, even an incomplete one; none if they leave the default
    /// provider without key and address.
    #[must_use]
    pub fn chosen_by(values: &HashMap<String, String>, variables: &Variables) -> Vec<&'static str> {
        let mut reader = VariableReader::new(values, variables);
        let Some(default) = reader.providers().first() else { return Vec::new() };
        let named = reader.get("LLM_PROVIDER");
        let other = named.is_some_and(|name| !default.name.eq_ignore_ascii_case(&name));
        let address = default.variable(VariableRole::BaseUrl);
        let address = address.filter(|url| reader.url(url.name) != url.default);
        let key = default.variable(VariableRole::Key).filter(|key| reader.get(key.name).is_some());
        let of_default = key.into_iter().chain(address).map(|variable| variable.name);
        other.then_some("LLM_PROVIDER").into_iter().chain(of_default).collect()
    }

    /// Returns the names of self-hosted providers: those at an address of this machine or a private network.
    pub fn own_servers(&self) -> impl Iterator<Item = &'static str> {
        let own = self.providers.iter().filter(|provider| is_own(&provider.base_url));
        own.map(|provider| provider.name)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &SecretString> {
        self.providers.iter().map(|provider| &provider.key)
    }
}

/// Returns the name of the provider that answers; `None` if the named one is unknown.
fn read_first(reader: &mut VariableReader<'_>) -> Option<&'static str> {
    let names: Vec<&'static str> = reader.providers().iter().map(|spec| spec.name).collect();
    if let Some(hint) = reader.get("LLM_PROVIDER").and_then(|named| of_known_service(reader, &named)) {
        reader.complain("LLM_PROVIDER", &hint);
        return None;
    }
    let place = reader.word_of("LLM_PROVIDER", &names)?;
    names.get(place).copied()
}

/// Returns the settings of a well-known service that is named like a provider, by its name or that of its company.
fn of_known_service(reader: &VariableReader<'_>, named: &str) -> Option<String> {
    let is_named = |service: &KnownService| {
        let host = Url::parse(service.address).ok().and_then(|url| Some(url.host_str()?.to_owned()));
        let company = host.as_deref().and_then(|host| host.rsplit('.').nth(1));
        [Some(service.name), company].into_iter().flatten().any(|name| name.eq_ignore_ascii_case(named))
    };
    reader.providers().iter().find_map(|spec| {
        let service = spec.services.iter().find(|service| is_named(service))?;
        let (address, url) = (service.address, spec.variable(VariableRole::BaseUrl)?.name);
        Some(format!(
            "is the service `{}`, which is set up by LLM_PROVIDER={} with {url}={address}: `figaro init` writes both",
            service.name, spec.name
        ))
    })
}

/// Reads one provider, whose model is `model` if none is set. Missing values are faults only if it is `wanted`; invalid times
/// always are.
fn read_provider(
    reader: &mut VariableReader<'_>,
    spec: &ProviderSpec,
    wanted: bool,
    model: Option<&str>,
) -> Option<ProviderSettings> {
    let is_set_up = spec.set_up_by().is_some_and(|variable| reader.get(variable.name).is_some());
    if !wanted && (!is_set_up || is_for_other_work_alone(reader, spec)) {
        drop(read_times(reader, spec));
        return None;
    }
    let service = read_service(reader, spec);
    let at_default = is_default(spec, &service.base_url);
    let model = spec.variable(VariableRole::Model).map(|variable| {
        let is_unset = variable.default.is_empty() && reader.get(variable.name).is_none();
        match model.filter(|_| is_unset) {
            Some(model) => model.to_owned(),
            None => read_value(reader, variable, at_default),
        }
    });
    Some(ProviderSettings { model: model.unwrap_or_default(), ..service })
}

/// Returns `true` if a provider is configured for other work, such as transcription, and has no model to talk with.
fn is_for_other_work_alone(reader: &VariableReader<'_>, spec: &ProviderSpec) -> bool {
    let is_named = |setting: &&str| {
        let name = reader.text(setting);
        name.split_once(':').is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case(spec.name))
    };
    let model = spec.variable(VariableRole::Model);
    ["EMBEDDER", "TRANSCRIBER", "SPEAKER", "PAINTER"].iter().any(is_named)
        && model.is_some_and(|model| model.default.is_empty() && reader.get(model.name).is_none())
}

/// Reads one provider without a model.
pub(super) fn read_service(reader: &mut VariableReader<'_>, spec: &ProviderSpec) -> ProviderSettings {
    let times = read_times(reader, spec);
    let base_url =
        spec.variable(VariableRole::BaseUrl).map(|url| read_address(reader, url)).unwrap_or_default();
    let at_default = is_default(spec, &base_url);
    let key = spec.variable(VariableRole::Key).map(|key| read_value(reader, key, at_default));
    let key = key.unwrap_or_default().into();
    ProviderSettings { name: spec.name, base_url, key, model: String::new(), times }
}

fn is_default(spec: &ProviderSpec, base_url: &str) -> bool {
    spec.variable(VariableRole::BaseUrl).is_none_or(|url| base_url == url.default)
}

pub(super) fn read_idle_timeout(reader: &mut VariableReader<'_>) -> Duration {
    Duration::from_secs(reader.number("LLM_IDLE_TIMEOUT", 1..=600))
}

fn read_slots(reader: &mut VariableReader<'_>) -> usize {
    reader.number("LLM_SLOTS", 1..=1_000).try_into().unwrap_or(1)
}

/// Suffixes of host names in private networks.
const PRIVATE: [&str; 5] = [".local", ".lan", ".internal", ".home.arpa", ".localhost"];

/// Returns `true` for an address of this machine or a private network. A name without a dot belongs to a container
/// network.
fn is_own(base_url: &str) -> bool {
    let Ok(url) = Url::parse(base_url) else { return false };
    match url.host() {
        Some(Host::Ipv4(number)) => {
            let is_local = number.is_loopback() || number.is_link_local() || number.is_unspecified();
            is_local || number.is_private()
        }
        Some(Host::Ipv6(number)) => {
            let is_local = number.is_loopback() || number.is_unicast_link_local() || number.is_unspecified();
            is_local || number.is_unique_local()
        }
        Some(Host::Domain(name)) => !name.contains('.') || PRIVATE.iter().any(|end| name.ends_with(end)),
        None => false,
    }
}

/// Reads the base URL. Without a value and a default it is reported as missing.
fn read_address(reader: &mut VariableReader<'_>, variable: &ProviderVariable) -> String {
    if variable.default.is_empty() && reader.get(variable.name).is_none() {
        return read_value(reader, variable, true);
    }
    reader.url(variable.name)
}

/// Reads a key or a model, or its default.
fn read_value(reader: &mut VariableReader<'_>, variable: &ProviderVariable, at_default: bool) -> String {
    let value = match variable.need(at_default) {
        Some(hint) => reader.required(variable.name, hint),
        None => Some(reader.text(variable.name)),
    };
    value.unwrap_or_default()
}

fn read_times(reader: &mut VariableReader<'_>, spec: &ProviderSpec) -> BTreeMap<&'static str, Duration> {
    let times = spec.variables.iter().filter_map(|variable| match variable.role {
        VariableRole::Time { min, max } => {
            let bounds = Duration::from_secs(min)..=Duration::from_secs(max);
            Some((variable.name, reader.duration(variable.name, bounds)))
        }
        VariableRole::Key | VariableRole::BaseUrl | VariableRole::Model => None,
    });
    times.collect()
}

/// Parses `openai:gpt-4.1-mini, ollama:qwen3:8b`, in order.
fn read_choices(reader: &mut VariableReader<'_>, variable: &'static str) -> Vec<ModelChoice> {
    let text = reader.text(variable);
    let specs = reader.providers();
    let known = |name: &str| specs.iter().find(|spec| spec.name.eq_ignore_ascii_case(name));
    let mut choices = Vec::new();
    for (number, word) in (1..).zip(text.split(',').map(str::trim).filter(|word| !word.is_empty())) {
        let parts = word.split_once(':').filter(|(_, model)| !model.is_empty());
        match parts.and_then(|(provider, model)| Some((known(provider)?.name, model))) {
            Some((provider, model)) => choices.push(ModelChoice { provider, model: model.to_owned() }),
            None => reader.fault_of_word(
                variable,
                number,
                word,
                "is not of the form provider:model, such as openai:gpt-4.1-mini",
            ),
        }
    }
    choices
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<ModelSettings, Vec<String>> {
        let variables: HashMap<String, String> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let known = Variables::builtin();
        let mut reader = VariableReader::new(&variables, &known);
        let settings = ModelSettings::read(&mut reader);
        reader.finish(settings).map_err(|faults| faults.0)
    }

    fn set_up(pairs: &[(&str, &str)]) -> String {
        let settings = read(pairs).unwrap();
        let others = settings.fallback.iter().map(|choice| format!(" > {choice}")).collect::<String>();
        let providers = settings.providers.iter().map(|provider| {
            let key = provider.key.expose_secret();
            format!(" [{} {} {key}]", provider.name, provider.base_url)
        });
        format!("{}{others}{}", settings.default, providers.collect::<String>())
    }

    #[test]
    fn a_service_is_there_once_it_has_what_it_cannot_do_without() {
        let openai = ("OPENAI_API_KEY", "sk");
        let ollama = [("LLM_PROVIDER", "ollama"), ("OLLAMA_MODEL", "qwen3:8b")];
        let compatible = [
            ("LLM_PROVIDER", "Compatible"),
            ("COMPATIBLE_BASE_URL", "http://x/v1/"),
            ("COMPATIBLE_MODEL", "m"),
        ];
        let cases = [
            (vec![openai], "openai:gpt-4.1-mini [openai https://api.openai.com/v1 sk]"),
            (ollama.to_vec(), "ollama:qwen3:8b [ollama http://127.0.0.1:11434 ]"),
            (compatible.to_vec(), "compatible:m [compatible http://x/v1 ]"),
            (
                vec![openai, ("EMBEDDER", "compatible:bge-m3"), compatible[1]],
                "openai:gpt-4.1-mini [openai https://api.openai.com/v1 sk]",
            ),
            (
                vec![("LLM_PROVIDER", "gemini"), ("GEMINI_API_KEY", "g")],
                "gemini:gemini-3.5-flash [gemini https://generativelanguage.googleapis.com/v1beta g]",
            ),
            (
                [&[openai, ("LLM_FALLBACK", "ollama:a:b, openai:gpt-4o")], &ollama[1..]].concat(),
                "openai:gpt-4.1-mini > ollama:a:b > openai:gpt-4o [openai https://api.openai.com/v1 sk] \
                 [ollama http://127.0.0.1:11434 ]",
            ),
        ];
        for (pairs, wanted) in cases {
            assert_eq!(set_up(&pairs), wanted, "{pairs:?}");
        }
    }

    #[test]
    fn a_service_is_chosen_by_its_name_or_by_what_openai_needs() {
        let cases = [
            (vec![], false),
            (vec![("LLM_PROVIDER", " OpenAI "), ("OPENAI_API_KEY", " "), ("OPENAI_MODEL", "x")], false),
            (vec![("OPENAI_BASE_URL", "https://api.openai.com/v1/")], false),
            (vec![("GEMINI_API_KEY", "g"), ("OLLAMA_MODEL", "m")], false),
            (vec![("OPENAI_API_KEY", "sk")], true),
            (vec![("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1")], true),
            (vec![("LLM_PROVIDER", "gemini")], true),
            (vec![("LLM_PROVIDER", "skynet")], true),
        ];
        for (pairs, wanted) in cases {
            let variables = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            assert_eq!(
                !ModelSettings::chosen_by(&variables.collect(), &Variables::builtin()).is_empty(),
                wanted,
                "{pairs:?}"
            );
        }
    }

    #[test]
    fn what_a_wanted_service_lacks_is_told_with_all_else() {
        let cases = [
            (vec![], vec!["OPENAI_API_KEY is missing"]),
            (vec![("LLM_PROVIDER", "skynet")], vec!["LLM_PROVIDER (`skynet`) is not known here"]),
            (
                vec![("LLM_PROVIDER", "compatible")],
                vec!["COMPATIBLE_BASE_URL is missing", "COMPATIBLE_MODEL is missing"],
            ),
            (vec![("LLM_PROVIDER", "ollama")], vec!["OLLAMA_MODEL is missing"]),
            (vec![("LLM_PROVIDER", "gemini")], vec!["GEMINI_API_KEY is missing"]),
            (
                vec![("OPENAI_API_KEY", "sk"), ("LLM_FALLBACK", "gemini:x, nobody:y, ollama:")],
                vec![
                    "LLM_FALLBACK (word 2, `nobody:y`)",
                    "LLM_FALLBACK (word 3, `ollama:`)",
                    "GEMINI_API_KEY is missing",
                ],
            ),
        ];
        for (pairs, wanted) in cases {
            let faults = read(&pairs).map(|_| ()).unwrap_err();
            assert_eq!(faults.len(), wanted.len(), "{faults:?}");
            for (fault, wanted) in faults.iter().zip(wanted) {
                assert!(fault.starts_with(wanted), "{fault}");
            }
        }
        for (named, service, address) in [
            ("Claude", "claude", "https://api.anthropic.com/v1"),
            ("anthropic", "claude", "https://api.anthropic.com/v1"),
            ("openrouter", "openrouter", "https://openrouter.ai/api/v1"),
        ] {
            let faults = read(&[("LLM_PROVIDER", named)]).map(|_| ()).unwrap_err();
            let wanted = format!(
                "LLM_PROVIDER (`{named}`) is the service `{service}`, which is set up by LLM_PROVIDER=compatible with \
                 COMPATIBLE_BASE_URL={address}: `figaro init` writes both"
            );
            assert_eq!(faults, [wanted]);
        }
        let faults = read(&[("LLM_PROVIDER", "olama")]).map(|_| ()).unwrap_err();
        assert!(faults.len() == 1 && faults[0].ends_with(": did you mean ollama?"), "{faults:?}");
    }

    #[test]
    fn a_fallback_needs_no_default_model_of_its_provider() {
        let pairs = [("OPENAI_API_KEY", "sk"), ("LLM_FALLBACK", "ollama:qwen3:8b, ollama:llama3.2")];
        let model = |pairs: &[(&'static str, &'static str)]| {
            let settings = read(pairs).unwrap();
            settings.providers.into_iter().find(|provider| provider.name == "ollama").unwrap().model
        };
        assert_eq!(model(&pairs), "qwen3:8b");
        assert_eq!(model(&[&pairs[..], &[("OLLAMA_MODEL", "gemma3")]].concat()), "gemma3");
    }

    #[test]
    fn servers_of_this_machine_and_of_private_networks_are_ones_own() {
        for (address, own) in [
            ("http://127.0.0.1:11434", true),
            ("http://[::1]:8080/v1", true),
            ("http://192.168.1.20:8080/v1", true),
            ("http://[fd00::5]/v1", true),
            ("http://llama:8080/v1", true),
            ("http://box.local/v1", true),
            ("http://host.docker.internal:11434", true),
            ("http://0.0.0.0:11434", true),
            ("https://api.openai.com/v1", false),
            ("https://8.8.8.8/v1", false),
            ("", false),
        ] {
            assert_eq!(is_own(address), own, "{address}");
        }
    }
}
