//! Which services run models, and in which order they are asked. A service counts as set up when the variable that it
//! cannot do without is there.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use figaro_mcp::proxy::Proxies;

use super::reader::Reader;
use super::variables::default_of;
use crate::secret::SecretString;

/// A kind of service, by its wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderKind {
    /// OpenAI's Responses API.
    OpenAi,
    /// The Chat Completions dialect.
    Compatible,
    /// Ollama's own API.
    Ollama,
    /// Google's Gemini API.
    Gemini,
}

impl ProviderKind {
    /// All kinds of providers.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Compatible, Self::Ollama, Self::Gemini];

    /// Its name in `provider:model` and in `LLM_PROVIDER`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Compatible => "compatible",
            Self::Ollama => "ollama",
            Self::Gemini => "gemini",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// The prefix of its variables.
    const fn prefix(self) -> &'static str {
        match self {
            Self::OpenAi => "OPENAI",
            Self::Compatible => "COMPATIBLE",
            Self::Ollama => "OLLAMA",
            Self::Gemini => "GEMINI",
        }
    }
}

/// A model and the service that runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChoice {
    /// The kind of the provider.
    pub provider: ProviderKind,
    /// The model's name there.
    pub model: String,
}

impl fmt::Display for ModelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider.name(), self.model)
    }
}

/// A service that runs models.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    /// The kind of the provider, which decides the wire format.
    pub kind: ProviderKind,
    /// Its address, without a trailing slash.
    pub base_url: String,
    /// The key; empty for a service of one's own that takes none.
    pub key: SecretString,
    /// The model that is meant when none is named.
    pub model: String,
}

/// The models and the services that run them.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    /// Every service that is set up.
    pub providers: Vec<ProviderSettings>,
    /// The model that answers.
    pub default: ModelChoice,
    /// Models that are asked in turn when it does not.
    pub fallback: Vec<ModelChoice>,
    /// The proxies on the way to all of them, and to the web search.
    pub proxies: Proxies,
    /// A stream that says nothing for so long has failed.
    pub idle_timeout: Duration,
    /// An Ollama that has not begun to answer for so long has failed: until then it may be loading the model.
    pub load_timeout: Duration,
}

impl ModelSettings {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let choices = ProviderKind::ALL.map(|kind| (kind.name(), kind));
        let first = reader.choice("LLM_PROVIDER", &choices);
        let fallback = read_fallback(reader);
        let is_wanted =
            |kind: ProviderKind| kind == first || fallback.iter().any(|choice| choice.provider == kind);
        let providers: Vec<ProviderSettings> = ProviderKind::ALL
            .into_iter()
            .filter_map(|kind| read_provider(reader, kind, is_wanted(kind)))
            .collect();
        let model =
            providers.iter().find(|provider| provider.kind == first).map(|provider| provider.model.clone());
        Self {
            providers,
            default: ModelChoice { provider: first, model: model.unwrap_or_default() },
            fallback,
            proxies: reader.proxies("LLM_PROXY"),
            idle_timeout: Duration::from_secs(reader.number("LLM_IDLE_TIMEOUT", 1..=600)),
            load_timeout: Duration::from_secs(reader.number("OLLAMA_LOAD_TIMEOUT", 1..=3600)),
        }
    }

    /// Whether these variables choose a service, also one that lacks something; `false` where they leave it at OpenAI and
    /// give it neither a key nor an address.
    #[must_use]
    pub fn is_any_chosen(variables: &HashMap<String, String>) -> bool {
        let mut reader = Reader::new(variables);
        let other = reader
            .get("LLM_PROVIDER")
            .is_some_and(|name| ProviderKind::named(&name) != Some(ProviderKind::OpenAi));
        let own = reader.url("OPENAI_BASE_URL") != default_of("OPENAI_BASE_URL");
        other || own || reader.get("OPENAI_API_KEY").is_some()
    }

    /// The keys of all services.
    pub(super) fn keys(&self) -> impl Iterator<Item = &SecretString> {
        self.providers.iter().map(|provider| &provider.key)
    }
}

/// One service; what it lacks is a mistake only if it is wanted.
fn read_provider(reader: &mut Reader<'_>, kind: ProviderKind, wanted: bool) -> Option<ProviderSettings> {
    let name = |what: &str| format!("{}_{what}", kind.prefix());
    let (key_name, url_name, model_name) = (name("API_KEY"), name("BASE_URL"), name("MODEL"));
    let is_set_up = match kind {
        ProviderKind::OpenAi | ProviderKind::Gemini => reader.get(&key_name).is_some(),
        ProviderKind::Compatible => reader.get(&url_name).is_some(),
        ProviderKind::Ollama => reader.get(&model_name).is_some(),
    };
    if !wanted && !is_set_up {
        return None;
    }
    let base_url = if kind == ProviderKind::Compatible && !is_set_up {
        reader
            .required(&url_name, "the address of the service, like http://127.0.0.1:8080/v1")
            .unwrap_or_default()
    } else {
        reader.url(&url_name)
    };
    let is_its_own = base_url == default_of(&url_name);
    let key = match kind {
        ProviderKind::OpenAi if is_its_own => {
            reader.required(&key_name, "https://platform.openai.com/api-keys gives one")
        }
        ProviderKind::Gemini if is_its_own => {
            reader.required(&key_name, "https://aistudio.google.com/apikey gives one")
        }
        _ => reader.get(&key_name),
    };
    let model = match kind {
        ProviderKind::Compatible | ProviderKind::Ollama => {
            reader.required(&model_name, "the name of a model that it serves").unwrap_or_default()
        }
        ProviderKind::OpenAi | ProviderKind::Gemini => reader.text(&model_name),
    };
    Some(ProviderSettings { kind, base_url, key: key.unwrap_or_default().into(), model })
}

/// `openai:gpt-4.1-mini, ollama:qwen3:8b` in order.
fn read_fallback(reader: &mut Reader<'_>) -> Vec<ModelChoice> {
    let text = reader.text("LLM_FALLBACK");
    let mut choices = Vec::new();
    for (number, word) in (1..).zip(text.split(',').map(str::trim).filter(|word| !word.is_empty())) {
        let parts = word.split_once(':').filter(|(_, model)| !model.is_empty());
        match parts.and_then(|(provider, model)| Some((ProviderKind::named(provider)?, model))) {
            Some((provider, model)) => choices.push(ModelChoice { provider, model: model.to_owned() }),
            None => reader.fault_of_word(
                "LLM_FALLBACK",
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
    use crate::secret::ExposeSecret;

    fn read(pairs: &[(&str, &str)]) -> Result<ModelSettings, Vec<String>> {
        let variables: HashMap<String, String> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut reader = Reader::new(&variables);
        let settings = ModelSettings::read(&mut reader);
        reader.finish(settings).map_err(|faults| faults.0)
    }

    fn set_up(pairs: &[(&str, &str)]) -> String {
        let settings = read(pairs).unwrap();
        let others = settings.fallback.iter().map(|choice| format!(" > {choice}")).collect::<String>();
        let providers = settings.providers.iter().map(|provider| {
            let key = provider.key.expose_secret();
            format!(" [{} {} {key}]", provider.kind.name(), provider.base_url)
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
            assert_eq!(ModelSettings::is_any_chosen(&variables.collect()), wanted, "{pairs:?}");
        }
    }

    #[test]
    fn what_a_wanted_service_lacks_is_told_with_all_else() {
        let cases = [
            (vec![], vec!["OPENAI_API_KEY is missing"]),
            (
                vec![("LLM_PROVIDER", "skynet")],
                vec!["LLM_PROVIDER (`skynet`) is not known", "OPENAI_API_KEY is missing"],
            ),
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
    }
}
