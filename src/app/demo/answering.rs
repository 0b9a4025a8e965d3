//! Choice of the demo's model, and its description for the page and the terminal: stand-ins and data that leaves the
//! machine.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use figaro_base::system::in_words;
use figaro_offline::Runtime;
use figaro_offline::model::{DemoModel, OfflineModel};
use figaro_offline::tavily::{self, OfflineTavily};
use figaro_offline::telegram::DemoInfo;

use super::provider;
use super::setup::{free_listener, set};
use crate::app::failure::StartupError;
use crate::app::place::place;
use crate::app::providers::refusal;
use figaro_config::{ModelSettings, Settings, Variables};
use figaro_domain::provider_spec::ProviderSpec;
use figaro_prompts::fence;

/// Starts the offline model and search unless `values` chooses a model, and makes them the only ones. The model pauses before
/// each word. Returns `true` if they were started; the settings then need [`provider::DESCRIPTOR`].
///
/// # Errors
/// When they cannot be started.
pub(super) async fn stand_in(
    values: &mut HashMap<String, String>,
    variables: &Variables,
    runtime: &Runtime,
    word_pause: Duration,
) -> Result<bool, StartupError> {
    if !ModelSettings::chosen_by(values, variables).is_empty() {
        return Ok(false);
    }
    let refuse = |error: std::io::Error| StartupError(in_words(&error));
    let demo = DemoModel { unescape: fence::read, word_pause };
    let model = OfflineModel::start(free_listener().await?, Arc::new(demo), runtime);
    let model = model.map_err(refuse)?;
    let search = OfflineTavily::start(free_listener().await?, tavily::made_up, runtime).map_err(refuse)?;
    // Nothing leaves this machine: there is no other service as a fallback or for /model.
    for variable in variables.providers().iter().flat_map(|provider| provider.variables) {
        values.remove(variable.name);
    }
    values.remove("LLM_FALLBACK");
    set(values, "LLM_PROVIDER", provider::NAME);
    set(values, provider::BASE_URL_VARIABLE, model.url());
    set(values, provider::KEY_VARIABLE, "no-key-needed");
    set(values, provider::MODEL_VARIABLE, provider::MODEL);
    // The price is zero: a cap in dollars alone refuses models without a price.
    set(values, "LLM_PRICES", &format!("{}:{}=0/0", provider::NAME, provider::MODEL));
    // Visitors of the demo should see memories at once.
    set(values, "MEMORY_DELAY", "0");
    set(values, "TAVILY_API_KEY", tavily::KEY);
    set(values, "TAVILY_BASE_URL", search.url());
    Ok(true)
}

/// Reads the settings of the demo. `own` are the values that the visitor set.
///
/// # Errors
/// All faults at once. If the chosen model lacks values, they end with the way back to the offline model.
pub(super) fn settings(
    all: &HashMap<String, String>,
    own: &HashMap<String, String>,
    variables: &Variables,
) -> Result<Settings, StartupError> {
    Settings::read(all, variables).map_err(|faults| {
        let chosen = ModelSettings::chosen_by(own, variables);
        let Some(first) = chosen.first().filter(|_| faults.lack_values()) else {
            return refusal(&faults, &[]);
        };
        let (faults, all) = (faults.0.join("\n  - "), chosen.join(" and "));
        StartupError(format!(
            "the demo uses the model that {first} chooses, and something is missing for it:\n  - {faults}\nNext: set that, or unset \
             {all}: then the offline model answers, which needs nothing."
        ))
    })
}

/// Returns the names of configured services that the offline model and search leave unused.
pub(super) fn unused(values: &HashMap<String, String>, variables: &Variables) -> Vec<String> {
    let is_set = |name: &str| values.get(name).is_some_and(|value| !value.trim().is_empty());
    let others = variables.providers().iter().skip(1);
    let set_up = others.filter_map(|provider| Some((provider.name, provider.set_up_by()?.name)));
    let unused = set_up.filter(|(_, variable)| is_set(variable));
    unused
        .map(|(name, variable)| format!("{variable} is set and not used: LLM_PROVIDER={name} chooses it."))
        .collect()
}

/// Returns a hint how to use a real model instead of the offline one.
pub(super) fn hint(variables: &Variables) -> String {
    let default = variables.providers().first().and_then(ProviderSpec::set_up_by);
    let key = default.map(|variable| format!("{}, or ", variable.name)).unwrap_or_default();
    format!("For a real model set {key}LLM_PROVIDER and what it needs.")
}

/// Describes a demo with the offline model.
pub(super) fn offline() -> DemoInfo {
    DemoInfo {
        notice: "A small offline model answers; nothing leaves this machine.".to_owned(),
        real: "the bot, its store and its tools".to_owned(),
        stand_in: "Telegram (this page), the model (a few rules that know key words) and the web search (made-up pages)"
            .to_owned(),
    }
}

/// Describes a demo with the model of these settings.
pub(super) fn outside(settings: &Settings) -> DemoInfo {
    DemoInfo {
        notice: destinations(settings),
        real: format!("the bot, its store, its tools and the model {}", settings.model.default),
        stand_in: "Telegram (this page)".to_owned(),
    }
}

/// Describes the models of these settings and the destinations of messages.
fn destinations(settings: &Settings) -> String {
    let model = &settings.model;
    let first = model.default.provider;
    let mut words = format!("The model {} answers.", model.default);
    for provider in model.providers.iter().filter(|provider| provider.name == first) {
        words += &format!(" Your messages go to {} at {}", first, place(&provider.base_url));
    }
    for provider in model.providers.iter().filter(|provider| provider.name != first) {
        let is_fallback = model.fallback.iter().any(|choice| choice.provider == provider.name);
        let when = if is_fallback {
            "if it does not answer, or if chosen by /model,"
        } else {
            "if chosen by /model,"
        };
        words += &format!("; {when} to {} at {}", provider.name, place(&provider.base_url));
    }
    words.push('.');
    if settings.tavily.key.is_some() {
        words += &format!(
            " What it searches the web for may go to Tavily at {}.",
            place(&settings.tavily.base_url)
        );
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{self, Additions};

    fn words(pairs: &[(&str, &str)]) -> String {
        let token = ("TELEGRAM_BOT_TOKEN", "123:ABC_def-9");
        let pairs = pairs.iter().chain([&token]);
        let variables = pairs.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        destinations(&app::settings(&variables, &Additions::default()).unwrap())
    }

    #[test]
    fn every_place_that_messages_may_go_to_is_named() {
        let openai = ("OPENAI_API_KEY", "sk-test");
        let cases = [
            (
                vec![openai],
                "The model openai:gpt-4.1-mini answers. Your messages go to openai at api.openai.com.",
            ),
            (
                vec![
                    ("LLM_PROVIDER", "ollama"),
                    ("OLLAMA_MODEL", "qwen3:8b"),
                    ("TAVILY_API_KEY", "tvly-test"),
                ],
                "The model ollama:qwen3:8b answers. Your messages go to ollama at 127.0.0.1:11434 (on this machine). \
                 What it searches the web for may go to Tavily at api.tavily.com.",
            ),
            (
                vec![
                    openai,
                    ("OPENAI_BASE_URL", "http://ann:pass@[::1]:8080/v1"),
                    ("LLM_FALLBACK", "gemini:gemini-x"),
                    ("GEMINI_API_KEY", "g-test"),
                    ("COMPATIBLE_BASE_URL", "https://models.example/v1"),
                    ("COMPATIBLE_MODEL", "m"),
                ],
                "The model openai:gpt-4.1-mini answers. Your messages go to openai at [::1]:8080 (on this machine); \
                 if chosen by /model, to compatible at models.example; if it does not answer, or if chosen by /model, \
                 to gemini at generativelanguage.googleapis.com.",
            ),
        ];
        for (pairs, wanted) in cases {
            assert_eq!(words(&pairs), wanted, "{pairs:?}");
        }
    }

    #[test]
    fn what_is_set_up_and_not_used_is_told() {
        let set = [("GEMINI_API_KEY", "g"), ("OLLAMA_MODEL", " ")];
        let set = set.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let variables = app::variables(&Additions::default()).unwrap();
        assert_eq!(
            unused(&HashMap::from(set), &variables),
            ["GEMINI_API_KEY is set and not used: LLM_PROVIDER=gemini chooses it."]
        );
    }
}
